#include "stoker/cache/build/source_hints.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/checked.h"
#include "stoker/base/digest/crc32c.h"

namespace stoker::cache {
namespace {

constexpr std::string_view kMagic = "STOKERSR";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kBlockBytes = 64;
constexpr std::uint64_t kMaxTableBytes = std::uint64_t{4} << 30U;

void put_row(std::byte* out, const Digest128& key, const SourceHint& hint) {
  store_le(out, key.high);
  store_le(out + 8, key.low);
  store_le(out + 16, hint.stamp.size_bytes);
  store_le(out + 24, hint.stamp.mtime_ns);
  store_le(out + 32, hint.stamp.ctime_ns);
  store_le(out + 40, hint.stamp.inode);
  store_le(out + 48, hint.digest.high);
  store_le(out + 56, hint.digest.low);
}

std::pair<Digest128, SourceHint> take_row(const std::byte* in) {
  const auto number = [in](std::size_t at) { return load_le<std::uint64_t>(in + at); };
  SourceHint hint;
  hint.stamp = {number(16), load_le<std::int64_t>(in + 24), load_le<std::int64_t>(in + 32),
                number(40)};
  hint.digest = {number(48), number(56)};
  return {Digest128{number(0), number(8)}, hint};
}

}  // namespace

std::string source_key(const RecordMaker& maker, std::size_t row) {
  const RecordKind kind = maker.kind() == RecordKind::kPcm ? RecordKind::kMel : maker.kind();
  std::string key(kind_name(kind));
  if (!maker.array().empty()) key.append(" ").append(maker.array());
  key.append(" ").append(maker.id(row));
  // An id holds no line feed, so no id looks like an id with a part.
  const std::string part = maker.source_part(row);
  return part.empty() ? key : key.append("\n").append(part);
}

const SourceHint* SourceHints::find(const std::string& key) const {
  const auto at = rows_.find(digest_of(key));
  return at == rows_.end() ? nullptr : &at->second;
}

std::vector<std::byte> SourceHints::encode() const {
  std::vector<std::byte> out((rows_.size() + 2) * kBlockBytes);
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  store_le(out.data() + 8, kVersion);
  store_le(out.data() + 12, static_cast<std::uint32_t>(rows_.size()));
  store_le(out.data() + 60, crc32c(std::span(out).first(60)));
  std::size_t at = kBlockBytes;
  for (const auto& [key, hint] : rows_) {
    put_row(out.data() + at, key, hint);
    at += kBlockBytes;
  }
  store_le(out.data() + at, crc32c(std::span(out).subspan(kBlockBytes, at - kBlockBytes)));
  return out;
}

std::optional<SourceHints> SourceHints::decode(std::span<const std::byte> bytes) {
  if (bytes.size() < 2 * kBlockBytes || bytes.size() % kBlockBytes != 0) return std::nullopt;
  const bool head_ok = view_text(bytes.first(8)) == kMagic &&
                       load_le<std::uint32_t>(bytes.data() + 8) == kVersion &&
                       load_le<std::uint32_t>(bytes.data() + 60) == crc32c(bytes.first(60));
  const std::size_t num_rows = bytes.size() / kBlockBytes - 2;
  if (!head_ok || load_le<std::uint32_t>(bytes.data() + 12) != num_rows) return std::nullopt;
  const std::span<const std::byte> rows = bytes.subspan(kBlockBytes, num_rows * kBlockBytes);
  const std::span<const std::byte> end = bytes.last(kBlockBytes);
  if (load_le<std::uint32_t>(end.data()) != crc32c(rows)) return std::nullopt;
  const bool is_filled =
      std::all_of(end.begin() + 4, end.end(), [](std::byte b) { return b == std::byte{0}; });
  if (!is_filled) return std::nullopt;
  SourceHints hints;
  for (std::size_t i = 0; i < num_rows; ++i)
    hints.rows_.insert(hints.rows_.end(), take_row(rows.data() + i * kBlockBytes));
  return hints;
}

SourceHints load_source_hints(const File& folder) {
  Result<File> file = open_beneath(folder, std::string(kSourceHintsName), OpenFor::kRead);
  if (!file) return {};
  Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxTableBytes);
  if (!bytes) return {};
  return SourceHints::decode(*bytes).value_or(SourceHints());
}

Result<Digest128> current_source(const RecordMaker& maker, std::size_t row,
                                 const SourceHints& hints, std::optional<SourceHint>& seen) {
  Result<std::optional<SourceStamp>> stamp = maker.stamp(row);
  if (!stamp) return std::move(stamp).error();
  if (!stamp->has_value()) return maker.source_digest(row);
  const SourceHint* hint = hints.find(source_key(maker, row));
  if (hint != nullptr && hint->stamp == **stamp) {
    seen = *hint;
    return hint->digest;
  }
  Result<Digest128> digest = maker.source_digest(row);
  if (digest) seen = SourceHint{**stamp, *digest};
  return digest;
}

}  // namespace stoker::cache
