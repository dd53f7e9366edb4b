#include "stoker/cache/format/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormatName = "stoker-cache";

std::string json_text(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string digest_line(std::string_view before) {
  return fmt::format("{{\"digest\":\"{}\"}}\n", digest_of(before).hex());
}

std::string encode_head(const Manifest& manifest) {
  return fmt::format(
      "{{\"format\":\"{}\",\"version\":{},\"generation\":{},\"path\":{},\"features\":\"{}\","
      "\"text\":\"{}\"}}\n",
      kFormatName, kFormatVersion, manifest.generation(), json_text(manifest.path),
      manifest.features.hex(), manifest.text.hex());
}

std::string encode_line(const Setting& setting) {
  return fmt::format("{{\"setting\":{},\"group\":{},\"value\":{}}}\n", json_text(setting.name),
                     json_text(setting.group), json_text(setting.value));
}

std::string encode_line(const LeftOut& row) {
  return fmt::format("{{\"left_out\":{},\"kind\":\"{}\",\"code\":{},\"source\":\"{}\"}}\n",
                     json_text(row.id), kind_name(row.kind), json_text(row.code), row.source.hex());
}

std::string encode_line(const ShardLine& shard) {
  return fmt::format(
      "{{\"shard\":\"{}\",\"kind\":\"{}\",\"array\":{},\"records\":{},\"bytes\":{},"
      "\"settings\":\"{}\",\"digest\":\"{}\"}}\n",
      shard_file_name(shard.number), kind_name(shard.kind), json_text(shard.array),
      shard.num_records, shard.size_bytes, shard.settings.hex(), shard.digest.hex());
}

// Fields of one line; a missing or mistyped one makes the line bad.
class LineFields {
 public:
  explicit LineFields(std::string_view line)
      : json_(Json::parse(line, nullptr, /*allow_exceptions=*/false)) {}

  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  bool ok() const noexcept { return ok_ && json_.is_object(); }

  std::string text(const char* key) {
    if (!has(key) || !json_[key].is_string()) return fail<std::string>();
    return json_[key].get<std::string>();
  }
  std::uint64_t number(const char* key) {
    if (!has(key) || !json_[key].is_number_unsigned()) return fail<std::uint64_t>();
    return json_[key].get<std::uint64_t>();
  }
  std::uint32_t number32(const char* key) {
    const std::uint64_t value = number(key);
    return std::in_range<std::uint32_t>(value) ? static_cast<std::uint32_t>(value)
                                               : fail<std::uint32_t>();
  }
  Digest128 digest(const char* key) {
    const std::optional<Digest128> value = digest_from_hex(text(key));
    return value ? *value : fail<Digest128>();
  }
  RecordKind kind() {
    const std::optional<RecordKind> value = kind_from_name(text("kind"));
    return value ? *value : fail<RecordKind>();
  }

 private:
  template <class T>
  T fail() {
    ok_ = false;
    return {};
  }
  Json json_;
  bool ok_ = true;
};

bool decode_line(LineFields& fields, Manifest& out) {
  if (fields.has("setting")) {
    out.settings.push_back({fields.text("group"), fields.text("setting"), fields.text("value")});
  } else if (fields.has("left_out")) {
    out.left_out.push_back(
        {fields.kind(), fields.text("left_out"), fields.text("code"), fields.digest("source")});
  } else if (fields.has("shard")) {
    const std::optional<std::uint32_t> number = shard_number_of(fields.text("shard"));
    if (!number) return false;
    ShardLine shard;
    shard.number = *number;
    shard.kind = fields.kind();
    shard.array = fields.text("array");
    shard.num_records = fields.number32("records");
    shard.size_bytes = fields.number("bytes");
    shard.settings = fields.digest("settings");
    shard.digest = fields.digest("digest");
    out.shards.push_back(std::move(shard));
  } else {
    return false;
  }
  return fields.ok();
}

Error manifest_error(const std::string& file, std::uint64_t line, std::string promised,
                     std::string found) {
  Error error;
  error.code = &kManifest;
  error.place.file = file;
  if (line > 0) error.place.line = line;
  error.promised = std::move(promised);
  error.found = std::move(found);
  return error;
}

Result<void> check_head(const std::string& file, LineFields& head) {
  if (!head.ok() || head.text("format") != kFormatName)
    return manifest_error(file, 1, "a stoker cache manifest", "another file");
  const std::uint64_t version = head.number("version");
  if (version == kFormatVersion) return {};
  Error error = manifest_error(file, 1, fmt::format("format version {}", kFormatVersion),
                               fmt::format("version {}", version));
  error.code = &kCacheVersion;
  return error;
}

}  // namespace

const ShardLine* Manifest::find_shard(std::uint32_t number) const noexcept {
  for (const ShardLine& shard : shards)
    if (shard.number == number) return &shard;
  return nullptr;
}

std::string encode_manifest(Manifest manifest) {
  std::sort(manifest.settings.begin(), manifest.settings.end());
  std::sort(
      manifest.left_out.begin(), manifest.left_out.end(), [](const LeftOut& a, const LeftOut& b) {
        return std::tie(a.kind, a.id, a.source, a.code) < std::tie(b.kind, b.id, b.source, b.code);
      });
  std::sort(manifest.shards.begin(), manifest.shards.end(),
            [](const ShardLine& a, const ShardLine& b) { return a.number < b.number; });
  std::string text = encode_head(manifest);
  for (const Setting& setting : manifest.settings) text += encode_line(setting);
  for (const LeftOut& row : manifest.left_out) text += encode_line(row);
  for (const ShardLine& shard : manifest.shards) text += encode_line(shard);
  return text + digest_line(text);
}

Result<Manifest> decode_manifest(const std::string& file, std::span<const std::byte> bytes) {
  const std::string_view text = view_text(bytes);
  const std::size_t digest_bytes = digest_line({}).size();
  if (text.size() <= digest_bytes)
    return manifest_error(file, 0, "a head and a digest line",
                          fmt::format("{} bytes", text.size()));
  const std::string_view body = text.substr(0, text.size() - digest_bytes);
  const std::string_view last = text.substr(body.size());
  if (body.back() != '\n' || last != digest_line(body))
    return manifest_error(file, 0, "a last line with the digest of all before it",
                          digest_of(body).hex());
  Manifest manifest;
  std::size_t line_start = 0;
  for (std::uint64_t line = 1; line_start < body.size(); ++line) {
    const std::size_t line_end = body.find('\n', line_start);
    LineFields fields(body.substr(line_start, line_end - line_start));
    line_start = line_end + 1;
    if (line > 1 && !decode_line(fields, manifest))
      return manifest_error(file, line, "a setting, left_out or shard line", "something else");
    if (line > 1) continue;
    if (Result<void> head = check_head(file, fields); !head) return head.error();
    manifest.path = fields.text("path");
    manifest.features = fields.digest("features");
    manifest.text = fields.digest("text");
    if (!fields.ok()) return manifest_error(file, 1, "path and digests", "a head without them");
  }
  if (encode_manifest(manifest) != text)
    return manifest_error(file, 0, "lines as they are written", "the same lines in another form");
  return manifest;
}

Result<Manifest> load_manifest(const File& folder) {
  const std::string name(kManifestName);
  FileInfo info;
  const SysResult found = folder.io().info_at(folder.handle(), name, info);
  if (found.error_number == ENOENT) {
    Error error;
    error.code = &kNoCache;
    error.place.file = folder.path();
    error.promised = "a manifest.json";
    error.found = "none in the folder";
    return error;
  }
  Result<File> file = open_beneath(folder, name, OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxManifestBytes);
  if (!bytes) return std::move(bytes).error();
  return decode_manifest(file->path(), *bytes);
}

std::optional<Digest128> digest_from_hex(std::string_view hex) noexcept {
  if (hex.size() != 32) return std::nullopt;
  Digest128 digest;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && !(c >= 'a' && c <= 'f')) return std::nullopt;
    const auto nibble = static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
    std::uint64_t& half = i < 16 ? digest.high : digest.low;
    half = half << 4U | nibble;
  }
  return digest;
}

}  // namespace stoker::cache
