// Fuzz target: bytes as a SentencePiece model; one that is taken cuts a text into ids of its own.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/invariant.h"
#include "stoker/text/sentencepiece/vocabulary.h"

namespace stoker::text {
namespace {

std::string memory_file(const std::uint8_t* data, std::size_t size_bytes) {
  static const int handle = ::memfd_create("model", MFD_CLOEXEC);
  check_invariant(::ftruncate(handle, 0) == 0, "a memory file");
  const auto written = ::pwrite(handle, data, size_bytes, 0);
  check_invariant(written == static_cast<ssize_t>(size_bytes), "a memory file");
  return "/proc/self/fd/" + std::to_string(handle);
}

void check_text(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<std::int32_t> ids;
  std::vector<UnknownSymbol> unknown;
  vocabulary.encode(text, ids, unknown);
  const auto num_ids = static_cast<std::int32_t>(vocabulary.size());
  bool has_unknown = false;
  for (const std::int32_t id : ids) {
    check_invariant(id == kNoId || (id >= kFirstNativeSymbol && id < num_ids),
                    "an id is outside the vocabulary");
    has_unknown |= id == kNoId;
  }
  check_invariant(has_unknown == !unknown.empty(), "unknown ids and symbols disagree");
}

}  // namespace
}  // namespace stoker::text

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  using namespace stoker;
  try {
    const auto vocabulary =
        text::sentencepiece::load_vocabulary(text::memory_file(data, size_bytes));
    text::check_text(*vocabulary,
                     "  Hello, hello the\tworld \xE2\x98\x83\xE2\x98\x83 \xFF\xC3\xA9 ");
    const std::size_t part = std::min<std::size_t>(size_bytes, 256);
    text::check_text(*vocabulary, {reinterpret_cast<const char*>(data), part});
  } catch (const Failure& refused) {
    check_invariant(error_line(refused.error()).find('\n') == std::string::npos,
                    "an error of two lines");
  }
  return 0;
}
