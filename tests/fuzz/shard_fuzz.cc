// Fuzz target: bytes as a shard, as they are and with every checksum of the frame made right, so
// that hostile offsets reach the code behind the checksums.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/invariant.h"
#include "stoker/cache/format/shard_view.h"
#include "stoker/cache/read/damage.h"

using namespace stoker;
using namespace stoker::cache;

namespace {

void look_at(std::span<const std::byte> bytes) {
  for (const Error& fault : check_shard_bytes("fuzz.stk", bytes)) {
    check_invariant(fault.code != nullptr, "an error without a code");
    check_invariant(fault.place.byte.value_or(0) <= bytes.size(), "a place outside the file");
  }
  const Result<ShardView> view = ShardView::open_whole("fuzz.stk", bytes);
  if (!view) return;
  for (std::size_t i = 0; i < view->size(); ++i) {
    check_invariant((*view)[i].end_bytes() <= bytes.size(), "a record outside the file");
    check_invariant(view->find((*view)[i].id) == i, "a record that is not found");
  }
}

void seal(std::span<std::byte> part) {
  const std::size_t crc_at = part.size() - 4;
  store_le(part.data() + crc_at, crc32c(part.first(crc_at)));
}

// Makes header, footer, index and record headers pass their checksums.
void make_checksums_right(std::vector<std::byte>& bytes) {
  if (bytes.size() < kShardHeaderBytes + kFooterBytes) return;
  seal(std::span(bytes).first(kShardHeaderBytes));
  std::byte* footer = bytes.data() + bytes.size() - kFooterBytes;
  const auto index_at = load_le<std::uint64_t>(footer + 8);
  const std::size_t index_end = bytes.size() - kFooterBytes;
  if (index_at < index_end) {
    const auto number = load_le<std::uint32_t>(bytes.data() + 16);
    const std::span<const std::byte> index(bytes.data() + index_at, index_end - index_at);
    store_le(footer + 28, index_crc(number, index_at, index));
  }
  seal(std::span(bytes).last(kFooterBytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  look_at(bytes);
  std::vector<std::byte> right(bytes.begin(), bytes.end());
  make_checksums_right(right);
  look_at(right);
  return 0;
}
