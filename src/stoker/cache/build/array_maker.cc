#include "stoker/cache/build/array_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

constexpr std::uint64_t kMaxNpyBytes = std::uint64_t{4} << 30U;
// What numpy writes fits the first; a header may be as long as the second.
constexpr std::size_t kUsualHeaderBytes = 1024;
constexpr std::size_t kLongestHeaderBytes = kMaxNpyHeaderBytes + 12;
constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kLeftoverSuffix = ".npy.tmp.npy";

SourceStamp stamp_of(const FileInfo& info) {
  return {info.size_bytes, info.mtime_ns, info.ctime_ns, info.inode};
}

std::optional<ArrayShape> load_shape(const File& file, std::uint64_t file_bytes) {
  std::vector<std::byte> front;
  for (const std::size_t size_bytes : {kUsualHeaderBytes, kLongestHeaderBytes}) {
    front.resize(std::min<std::uint64_t>(size_bytes, file_bytes));
    Result<std::size_t> got = file.read_at(front, 0);
    if (!got) return std::nullopt;
    front.resize(*got);
    Result<NpyHeader> header = decode_npy_header(file.path(), front, file_bytes);
    if (header) return header->shape;
  }
  return std::nullopt;
}

class ArrayWorker final : public RecordMaker::Worker {
 public:
  explicit ArrayWorker(const ArrayMaker& maker) : maker_(maker) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    Result<std::vector<std::byte>> bytes = maker_.load(row);
    if (!bytes) return std::move(bytes).error();
    out.source = digest_of(std::span<const std::byte>(*bytes));
    out.source_bytes = bytes->size();
    Result<NpyArray> array = decode_npy(maker_.path(row), *bytes);
    if (array) array = maker_.rule()(maker_.path(row), std::move(array).value());
    if (!array) {
      Error error = std::move(array).error();
      error.action = "row rejected";
      return error;
    }
    std::span<std::byte> payload = out.reset(array->shape);
    if (!payload.empty()) std::memcpy(payload.data(), array->values.data(), payload.size());
    return {};
  }

 private:
  const ArrayMaker& maker_;
};

// Ids hold a slash for each folder above: those of nested data sets and of several sources do.
// Symbolic links to folders are not followed, so the walk ends.
Result<void> list_into(const File& folder, const std::string& prefix, NpyFolder& found) {
  const Result<std::vector<FolderEntry>> entries = list_folder(folder);
  if (!entries) return entries.error();
  for (const FolderEntry& entry : *entries) {
    const std::string file = prefix + entry.name;
    if (entry.kind == FileKind::kFolder) {
      const Result<File> inner = open_beneath(folder, entry.name, OpenFor::kFolder);
      if (!inner) return inner.error();
      if (Result<void> read = list_into(*inner, file + "/", found); !read) return read;
    } else if (entry.name.ends_with(kLeftoverSuffix)) {
      ++found.num_leftovers;
    } else if (entry.name.ends_with(kSuffix) && entry.name.size() > kSuffix.size()) {
      found.rows.push_back({file.substr(0, file.size() - kSuffix.size()), file});
    } else {
      ++found.num_other;
    }
  }
  return {};
}

}  // namespace

Result<NpyFolder> list_npy_folder(const File& folder) {
  NpyFolder found;
  if (Result<void> listed = list_into(folder, "", found); !listed) return listed.error();
  std::sort(found.rows.begin(), found.rows.end(),
            [](const NpyFolder::Row& a, const NpyFolder::Row& b) { return a.id < b.id; });
  return found;
}

Result<NpyArray> accept_finite(const std::string& file, NpyArray array) {
  const std::size_t num_values = array.values.size() / element_bytes(array.shape.element);
  const std::size_t bad = find_nonfinite(array.shape, array.values);
  if (bad == num_values) return array;
  Error error;
  error.code = &kNpyValue;
  error.place.file = file;
  error.promised = "finite values";
  error.found = fmt::format("NaN or infinity at value {}", bad);
  return error;
}

bool is_same_kind(const ArrayShape& a, const ArrayShape& b) noexcept {
  return a.element == b.element && a.rank == b.rank &&
         std::equal(a.axes.begin() + 1, a.axes.end(), b.axes.begin() + 1);
}

Error mixed_arrays(const std::string& first_file, const ArrayShape& first, const std::string& file,
                   const ArrayShape& found) {
  Error error;
  error.code = &kNpyMixed;
  error.place.file = file;
  error.promised = fmt::format("{} with axes after the first as in {}, which holds {}",
                               element_name(first.element), first_file, first.text());
  error.found = found.text();
  return error;
}

ArrayMaker::ArrayMaker(File folder, std::vector<NpyFolder::Row> rows, Options options)
    : folder_(std::move(folder)), rows_(std::move(rows)), options_(std::move(options)) {
  if (options_.kind == RecordKind::kArray) read_headers();
}

void ArrayMaker::read_headers() {
  headers_.resize(rows_.size());
  std::optional<std::size_t> first;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const Result<File> file = open_beneath(folder_, rows_[row].file, OpenFor::kRead);
    if (!file) continue;
    const Result<FileInfo> info = file->info();
    if (!info || info->kind != FileKind::kRegular) continue;
    headers_[row] = {load_shape(*file, info->size_bytes), stamp_of(*info)};
    const std::optional<ArrayShape>& shape = headers_[row].shape;
    if (!shape) continue;
    if (!first) first = row;
    const ArrayShape& expected = *headers_[*first].shape;
    if (!is_same_kind(*shape, expected))
      raise(mixed_arrays(path(*first), expected, path(row), *shape));
  }
}

Result<std::vector<std::byte>> ArrayMaker::load(std::size_t row) const {
  Result<File> file = open_beneath(folder_, rows_[row].file, OpenFor::kRead);
  if (!file) return std::move(file).error();
  return read_whole(*file, kMaxNpyBytes);
}

std::uint64_t ArrayMaker::expected_bytes(std::size_t row) const {
  Result<std::optional<SourceStamp>> file = stamp(row);
  return file.ok() && file->has_value() ? (*file)->size_bytes : 0;
}

Result<std::optional<SourceStamp>> ArrayMaker::stamp(std::size_t row) const {
  Result<File> file = open_beneath(folder_, rows_[row].file, OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<FileInfo> info = file->info();
  if (!info) return std::move(info).error();
  return std::optional(stamp_of(*info));
}

Result<Digest128> ArrayMaker::source_digest(std::size_t row) const {
  Result<std::vector<std::byte>> bytes = load(row);
  if (!bytes) return std::move(bytes).error();
  return digest_of(std::span<const std::byte>(*bytes));
}

std::unique_ptr<RecordMaker::Worker> ArrayMaker::make_worker() const {
  return std::make_unique<ArrayWorker>(*this);
}

}  // namespace stoker::cache
