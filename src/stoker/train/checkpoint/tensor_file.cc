#include "stoker/train/checkpoint/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/digest.h"
#include "stoker/train/checkpoint/tensor_header.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

Error bad_file(const std::string& file, std::uint64_t byte, std::string promised,
               std::string found) {
  return {.code = &kCheckpointBad,
          .place = {.file = file, .byte = byte},
          .promised = std::move(promised),
          .found = std::move(found)};
}

// The length of the JSON, which fits the file. `head`: its first bytes, eight where it has them.
Result<std::uint64_t> json_bytes(std::span<const std::byte> head, std::uint64_t file_bytes,
                                 const std::string& file) {
  if (head.size() < kLengthBytes)
    return bad_file(file, 0, fmt::format("{} bytes of header length", kLengthBytes),
                    fmt::format("{} bytes", head.size()));
  std::uint64_t length = 0;
  for (std::uint64_t i = kLengthBytes; i-- > 0;)
    length = (length << 8U) | std::to_integer<std::uint64_t>(head[i]);
  const std::uint64_t most = std::min(kMaxHeaderBytes, file_bytes - kLengthBytes);
  if (length > most)
    return bad_file(file, 0, fmt::format("a header of at most {} bytes", most),
                    fmt::format("{} bytes", length));
  return length;
}

// Reads or writes one file from its start, and digests what passes.
class Passage {
 public:
  explicit Passage(const File& file) : file_(file) {}

  Result<void> write(std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPieceBytes, bytes.size()))) {
      const std::span<const std::byte> piece = bytes.first(std::min(kPieceBytes, bytes.size()));
      if (Result<void> done = file_.write_at(piece, at_bytes_); !done) return done;
      pass(piece);
    }
    return {};
  }

  // As many as there are.
  Result<std::size_t> read_some(std::span<std::byte> into) {
    Result<std::size_t> got = file_.read_at(into, at_bytes_);
    if (got) pass(into.first(*got));
    return got;
  }

  Result<void> read(std::span<std::byte> into) {
    while (!into.empty()) {
      const std::span<std::byte> piece = into.first(std::min(kPieceBytes, into.size()));
      Result<std::size_t> got = read_some(piece);
      if (!got) return std::move(got).error();
      if (*got < piece.size())
        return bad_file(file_.path(), at_bytes_, fmt::format("{} bytes more", into.size()),
                        fmt::format("{}", *got));
      into = into.subspan(piece.size());
    }
    return {};
  }

  FileSeal seal() const { return {at_bytes_, digest_.finish().hex()}; }

 private:
  void pass(std::span<const std::byte> bytes) {
    digest_.add(bytes);
    at_bytes_ += bytes.size();
  }

  const File& file_;
  std::uint64_t at_bytes_ = 0;
  DigestStream digest_;
};

Result<std::uint64_t> size_of(const File& file) {
  Result<FileInfo> info = file.info();
  if (!info) return std::move(info).error();
  if (info->kind != FileKind::kRegular)
    return bad_file(file.path(), 0, "a file", "a folder, pipe, socket or device");
  return info->size_bytes;
}

}  // namespace

const StoredTensor* TensorSet::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::vector<std::byte> encode_tensors(const TensorSet& set) {
  const std::string header = tensor_header(set);
  const std::span<const std::byte> head = view_bytes(header);
  std::vector<std::byte> out(head.begin(), head.end());
  for (const StoredTensor& tensor : set.tensors)
    out.insert(out.end(), tensor.values.begin(), tensor.values.end());
  return out;
}

Result<TensorSet> decode_tensors(std::span<const std::byte> bytes, const std::string& file) {
  const std::size_t length_bytes = std::min<std::size_t>(kLengthBytes, bytes.size());
  Result<std::uint64_t> length = json_bytes(bytes.first(length_bytes), bytes.size(), file);
  if (!length) return std::move(length).error();
  const std::span<const std::byte> json = bytes.subspan(kLengthBytes, *length);
  std::span<const std::byte> data = bytes.subspan(kLengthBytes + *length);
  Result<TensorSet> set = parse_tensor_header(view_text(json), data.size(), file);
  if (!set) return set;
  for (StoredTensor& tensor : set->tensors) {
    const std::span<const std::byte> values = data.first(payload_bytes(tensor));
    tensor.values.assign(values.begin(), values.end());
    data = data.subspan(values.size());
  }
  return set;
}

Result<FileSeal> write_tensors(const File& file, const TensorSet& set) {
  const std::string header = tensor_header(set);
  std::uint64_t size_bytes = header.size();
  for (const StoredTensor& tensor : set.tensors) size_bytes += tensor.values.size();
  // A full disk is noticed here, before minutes of writing.
  if (Result<void> done = file.allocate(size_bytes); !done) return done.error();
  Passage passage(file);
  if (Result<void> done = passage.write(view_bytes(header)); !done) return done.error();
  for (const StoredTensor& tensor : set.tensors)
    if (Result<void> done = passage.write(tensor.values); !done) return done.error();
  return passage.seal();
}

Result<SealedTensors> read_tensors(const File& file) {
  Result<std::uint64_t> size_bytes = size_of(file);
  if (!size_bytes) return std::move(size_bytes).error();
  Passage passage(file);
  std::vector<std::byte> head(std::min(kLengthBytes, *size_bytes));
  if (Result<void> done = passage.read(head); !done) return done.error();
  Result<std::uint64_t> length = json_bytes(head, *size_bytes, file.path());
  if (!length) return std::move(length).error();
  std::vector<std::byte> json(*length);
  if (Result<void> done = passage.read(json); !done) return done.error();
  Result<TensorSet> set =
      parse_tensor_header(view_text(json), *size_bytes - kLengthBytes - *length, file.path());
  if (!set) return std::move(set).error();
  for (StoredTensor& tensor : set->tensors) {
    tensor.values.resize(payload_bytes(tensor));
    if (Result<void> done = passage.read(tensor.values); !done) return done.error();
  }
  return SealedTensors{std::move(set).value(), passage.seal()};
}

Result<FileSeal> seal_of(const File& file) {
  Result<std::uint64_t> size_bytes = size_of(file);
  if (!size_bytes) return std::move(size_bytes).error();
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, *size_bytes + 1));
  Passage passage(file);
  while (true) {
    Result<std::size_t> got = passage.read_some(piece);
    if (!got) return std::move(got).error();
    if (*got < piece.size()) return passage.seal();
  }
}

}  // namespace stoker::train
