// Fuzz target: bytes as a saved state, as they are and behind a head whose checksum is right.
// Whatever is accepted is written again as the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/invariant.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/feed_state.h"

using namespace stoker;
using namespace stoker::feed;

namespace {

void look_at(std::string_view line) {
  try {
    const FeedState state = parse_state(line);
    if (line.ends_with('\n')) line.remove_suffix(1);
    check_invariant(state_line(state) == line, "a state has one form");
    check_invariant(state.position.epoch < kEndEpoch && state.position.batch < kEndBatch,
                    "a place within the limits");
  } catch (const Failure& failure) {
    check_invariant(failure.error().code == &kFeedState, "another error");
    check_invariant(!failure.error().promised.empty() && !failure.error().found.empty(),
                    "promised and found");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  look_at(text);
  // Past the checksum, which random bytes never meet.
  constexpr std::size_t kHeadBytes = 16;
  const std::string_view rest = text.substr(std::min(kHeadBytes, size));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string sum;
  const std::uint32_t crc = crc32c(view_bytes(rest));
  for (int shift = 28; shift >= 0; shift -= 4)
    sum += kDigits[(crc >> static_cast<unsigned>(shift)) & 15U];
  look_at(R"({"v":"3-)" + sum + std::string(rest));
  return 0;
}
