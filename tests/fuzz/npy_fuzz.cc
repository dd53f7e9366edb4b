// Fuzz target: bytes as an .npy file. Whatever is accepted has the size its shape says, and is read
// back from its own writing.
#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/base/invariant.h"
#include "stoker/cache/format/npy.h"

using namespace stoker;
using namespace stoker::cache;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const Result<NpyArray> array = decode_npy("fuzz.npy", bytes);
  if (!array) {
    check_invariant(array.error().code != nullptr, "an error without a code");
    check_invariant(!array.error().promised.empty() && !array.error().found.empty(),
                    "promised and found");
    return 0;
  }
  check_invariant(array->shape.payload_bytes() == array->values.size(), "a size of its own");
  check_invariant(array->values.size() < size, "more values than the file has bytes");
  const Result<NpyArray> again = decode_npy("again.npy", encode_npy(array->shape, array->values));
  check_invariant(again.ok() && again->shape == array->shape && again->values == array->values,
                  "written and read back");
  find_nonfinite(array->shape, array->values);
  for (const ElementType to : {ElementType::kF16, ElementType::kI32})
    if (convert_npy("fuzz.npy", *array, to)) continue;
  return 0;
}
