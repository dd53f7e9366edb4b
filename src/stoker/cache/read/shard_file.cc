#include "stoker/cache/read/shard_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/sigbus_guard.h"

namespace stoker::cache {
namespace {

Error short_file(const std::string& path, std::string promised, std::string found) {
  Error error;
  error.code = &kShardSize;
  error.place.file = path;
  error.promised = std::move(promised);
  error.found = std::move(found);
  return error;
}

Error cut_short(const std::string& path, std::uint64_t promised_bytes) {
  Error error = short_file(path, fmt::format("{} bytes, as when opened", grouped(promised_bytes)),
                           "a file that became shorter while it was mapped");
  error.code = &kMapTruncated;
  return error;
}

// Reads exactly `size_bytes` or says what is missing.
Result<std::vector<std::byte>> read_exactly(const File& file, std::uint64_t at_bytes,
                                            std::uint64_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  Result<std::size_t> got = file.read_at(bytes, at_bytes);
  if (!got) return std::move(got).error();
  if (*got != size_bytes)
    return short_file(file.path(), fmt::format("{} bytes at {}", size_bytes, at_bytes),
                      fmt::format("{}", *got));
  return bytes;
}

Result<ShardView> open_mapped_view(const std::string& path, std::span<const std::byte> bytes) {
  // The index is copied out under the guard into a plain buffer: parsing owns memory, so it
  // must not be abandoned halfway.
  std::vector<std::byte> tail;
  std::vector<std::byte> head(kShardHeaderBytes);
  auto copy_last = [&] {
    std::copy_n(bytes.end() - kFooterBytes, kFooterBytes, tail.data());
    std::copy_n(bytes.begin(), kShardHeaderBytes, head.data());
  };
  tail.resize(kFooterBytes);
  if (!guarded(bytes, copy_last)) return cut_short(path, bytes.size());
  Result<Footer> footer = read_footer(path, bytes.size(), tail);
  if (!footer) return std::move(footer).error();
  const std::span<const std::byte> end = bytes.subspan(footer->index_at_bytes);
  tail.resize(end.size());
  auto copy_tail = [&] { std::copy(end.begin(), end.end(), tail.begin()); };
  if (!guarded(bytes, copy_tail)) return cut_short(path, bytes.size());
  return ShardView::open({.file = path, .file_bytes = bytes.size(), .head = head, .tail = tail});
}

Result<ShardView> open_read_view(const File& file, std::uint64_t size_bytes) {
  Result<std::vector<std::byte>> head = read_exactly(file, 0, kShardHeaderBytes);
  if (!head) return std::move(head).error();
  Result<std::vector<std::byte>> last = read_exactly(file, size_bytes - kFooterBytes, kFooterBytes);
  if (!last) return std::move(last).error();
  Result<Footer> footer = read_footer(file.path(), size_bytes, *last);
  if (!footer) return std::move(footer).error();
  Result<std::vector<std::byte>> tail =
      read_exactly(file, footer->index_at_bytes, size_bytes - footer->index_at_bytes);
  if (!tail) return std::move(tail).error();
  return ShardView::open(
      {.file = file.path(), .file_bytes = size_bytes, .head = *head, .tail = *tail});
}

// A builder publishes a manifest a few times a second at most; more rounds than this are a fault.
constexpr int kMaxRounds = 16;

Result<std::vector<ShardFile>> open_all(const File& folder, const Manifest& manifest,
                                        ReadMode access) {
  std::vector<ShardFile> shards;
  shards.reserve(manifest.shards.size());
  for (const ShardLine& line : manifest.shards) {
    Result<ShardFile> shard = open_listed_shard(folder, line, access);
    if (!shard) return std::move(shard).error();
    shards.push_back(std::move(shard).value());
  }
  return shards;
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : io_(std::exchange(other.io_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(io_, other.io_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (io_ != nullptr) io_->unmap(bytes_.data(), bytes_.size());
}

Result<Mapping> map_file(const File& file, std::uint64_t size_bytes) {
  const std::byte* at = nullptr;
  const SysResult mapped = file.io().map(file.handle(), size_bytes, at);
  if (!mapped.ok()) return io_error("map", file.path(), mapped.error_number);
  return Mapping(file.io(), {at, size_bytes});
}

Result<ShardFile> ShardFile::open(const File& folder, const std::string& name, ReadMode access) {
  Result<File> file = open_beneath(folder, name, OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<FileInfo> info = file->info();
  if (!info) return std::move(info).error();
  if (info->kind != FileKind::kRegular)
    return io_error("read", file->path(), info->kind == FileKind::kFolder ? EISDIR : ENXIO);
  if (info->size_bytes < kShardHeaderBytes + kFooterBytes)
    return short_file(file->path(), "a header and a footer",
                      fmt::format("{} bytes", info->size_bytes));
  ShardFile shard;
  Result<ShardView> view = Error{};
  if (access == ReadMode::kMap) {
    Result<Mapping> mapping = map_file(*file, info->size_bytes);
    if (!mapping) return std::move(mapping).error();
    shard.mapping_ = std::move(mapping).value();
    view = open_mapped_view(file->path(), shard.mapping_.bytes());
    if (!view && view.error().code == &kMapTruncated) {
      // A page that the device could not give ends in the same signal as one past the end.
      Result<FileInfo> now = file->info();
      if (!now || now->size_bytes == info->size_bytes) return io_error("read", file->path(), EIO);
    }
  } else {
    view = open_read_view(*file, info->size_bytes);
    shard.file_ = std::move(file).value();
  }
  if (!view) return std::move(view).error();
  shard.view_ = std::move(view).value();
  if (shard_file_name(shard.view_.header().number) != name) {
    Error error = short_file(shard.view_.file(), "the shard that its name says",
                             shard_file_name(shard.view_.header().number));
    error.code = &kShardForeign;
    return error;
  }
  return shard;
}

Result<std::span<const std::byte>> ShardFile::record_bytes(std::size_t index,
                                                           std::vector<std::byte>& scratch) const {
  const RecordEntry entry = view_[index];
  const std::uint64_t size_bytes = entry.end_bytes() - entry.at.at_bytes;
  if (mapping_.is_mapped()) return mapping_.bytes().subspan(entry.at.at_bytes, size_bytes);
  if (scratch.size() < size_bytes) scratch.resize(size_bytes);
  const std::span<std::byte> into = std::span(scratch).first(size_bytes);
  Result<std::size_t> got = file_.read_at(into, entry.at.at_bytes);
  if (!got) return std::move(got).error();
  if (*got != size_bytes) return truncated_error(index);
  return std::span<const std::byte>(into);
}

Result<RecordHeader> ShardFile::check_record(std::size_t index,
                                             std::vector<std::byte>& scratch) const {
  Result<std::span<const std::byte>> record = record_bytes(index, scratch);
  if (!record) return std::move(record).error();
  if (!mapping_.is_mapped()) return view_.check_record(index, *record);
  // A fault abandons the check while it reads; it allocates only afterwards, to describe a flaw.
  Result<RecordHeader> header = Error{};
  bool done = false;
  auto check = [&] {
    header = view_.check_record(index, *record);
    done = true;
  };
  if (!guarded(mapping_.bytes(), check) || !done) return truncated_error(index);
  return header;
}

Error ShardFile::truncated_error(std::size_t index) const {
  Error error = cut_short(view_.file(), size_bytes());
  error.place.byte = view_[index].at.at_bytes;
  error.promised = fmt::format("{} (record \"{}\")", error.promised, view_[index].id);
  return error;
}

Result<ShardFile> open_listed_shard(const File& folder, const ShardLine& line, ReadMode access) {
  Result<ShardFile> shard = ShardFile::open(folder, shard_file_name(line.number), access);
  if (!shard) return shard;
  const ShardView& view = shard->view();
  const bool fits = view.digest() == line.digest && view.header().kind == line.kind &&
                    view.header().settings == line.settings && view.size() == line.num_records &&
                    shard->size_bytes() == line.size_bytes &&
                    view.header().array_name_hash == (line.array.empty() ? 0 : hash64(line.array));
  if (fits) return shard;
  Error error;
  error.code = &kShardForeign;
  error.place.file = view.file();
  error.promised = fmt::format("digest {} by the manifest", line.digest.hex());
  error.found = view.digest().hex();
  return error;
}

Result<OpenGeneration> open_generation(const File& folder, ReadMode access) {
  Result<Manifest> manifest = load_manifest(folder);
  for (int round = 0;; ++round) {
    if (!manifest) return std::move(manifest).error();
    Result<std::vector<ShardFile>> shards = open_all(folder, *manifest, access);
    if (shards) return OpenGeneration{std::move(manifest).value(), std::move(shards).value()};
    Result<Manifest> again = load_manifest(folder);
    const bool changed = again.ok() && !(*again == *manifest);
    if (!changed || round == kMaxRounds) return std::move(shards).error();
    manifest = std::move(again);
  }
}

}  // namespace stoker::cache
