// Tensors in a file that other programs open: the safetensors format, read strictly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::train {

enum class TensorType { kF32, kF16, kBf16, kF64, kI32, kI64, kU8 };
std::string_view name_of(TensorType type);  // "F32", as in the file
std::size_t bytes_of(TensorType type);

struct StoredTensor {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::vector<std::byte> values;    // row-major, little-endian

  bool operator==(const StoredTensor&) const = default;
};

struct TensorSet {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;  // names differ; written in this order

  const StoredTensor* find(std::string_view name) const;
  bool operator==(const TensorSet&) const = default;
};

// Eight bytes of header length, JSON padded to a multiple of eight, then the values without gaps.
std::vector<std::byte> encode_tensors(const TensorSet& set);
// Everything is checked before anything is allocated by it: header of at most 100 MB, offsets in
// order and without gaps or overlap, sizes that fit shape and type, no name twice. E-CHECKPOINT-BAD
// names `file`, the byte and what was expected.
Result<TensorSet> decode_tensors(std::span<const std::byte> bytes, const std::string& file);

// What a file holds, short enough to compare.
struct FileSeal {
  std::uint64_t size_bytes = 0;
  std::string xxh3;  // XXH3-128 of all bytes, 32 hexadecimal digits

  bool operator==(const FileSeal&) const = default;
};
struct SealedTensors {
  TensorSet tensors;
  FileSeal seal;
};

// The same bytes and checks, straight between a file and the tensors: nothing is copied. Neither
// syncs. Not for files that someone changes meanwhile.
Result<FileSeal> write_tensors(const File& file, const TensorSet& set);
Result<SealedTensors> read_tensors(const File& file);
// Reads all of it in pieces.
Result<FileSeal> seal_of(const File& file);

}  // namespace stoker::train
