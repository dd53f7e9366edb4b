// Fuzz target: bytes as a tensor file, and as the state of a checkpoint behind a right digest.
// Whatever is accepted is read back from its own writing.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/invariant.h"
#include "stoker/train/checkpoint/checkpoint_state.h"
#include "stoker/train/checkpoint/tensor_file.h"
#include "stoker/train/errors.h"

using namespace stoker;
using namespace stoker::train;

namespace {

void check_error(const Error& error) {
  check_invariant(error.code == &kCheckpointBad || error.code == &kCheckpointVersion,
                  "another error");
  check_invariant(!error.promised.empty() && !error.found.empty(), "promised and found");
}

void look_at_tensors(std::span<const std::byte> bytes) {
  const Result<TensorSet> set = decode_tensors(bytes, "fuzz.safetensors");
  if (!set) return check_error(set.error());
  std::size_t size_bytes = 0;
  for (const StoredTensor& tensor : set->tensors) size_bytes += tensor.values.size();
  check_invariant(size_bytes < bytes.size(), "more values than the file has bytes");
  const Result<TensorSet> again = decode_tensors(encode_tensors(*set), "again.safetensors");
  check_invariant(again.ok() && *again == *set, "written and read back");
}

void look_at_state(std::string_view text) {
  const Result<CheckpointState> state = parse_state(text, "state.json");
  if (!state) return check_error(state.error());
  const Result<CheckpointState> again = parse_state(render_state(*state), "again.json");
  check_invariant(again.ok() && again->step == state->step && again->files == state->files,
                  "written and read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  look_at_tensors(bytes);
  // Past the length and past the digest, which random bytes rarely meet.
  std::string headed;
  for (unsigned i = 0; i < 8; ++i) headed += static_cast<char>(size >> (8 * i));
  headed += view_text(bytes);
  look_at_tensors(view_bytes(headed));
  look_at_state(view_text(bytes));
  const std::string rest = "\"," + std::string(view_text(bytes));
  look_at_state(R"({"digest":")" + digest_of(rest).hex() + rest);
  return 0;
}
