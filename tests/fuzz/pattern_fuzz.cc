// Fuzz target: the first line is a regular expression, the rest the text it is looked for in.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/base/invariant.h"
#include "stoker/text/pattern/pattern.h"

namespace stoker::text {
namespace {

constexpr ErrorCode kRefusal{"E-FUZZ-PATTERN", ExitCode::kUsage, "A pattern was refused.", ""};

void run_one(std::string_view source, std::string_view text) {
  const Result<Pattern> pattern = Pattern::compile(source, kRefusal);
  if (!pattern) {
    check_invariant(pattern.error().code == &kRefusal, "a refusal with another code");
    check_invariant(!pattern.error().found.empty(), "a refusal without a reason");
    return;
  }
  const auto groups = pattern->find(text);
  if (!groups) return;
  check_invariant(groups->size() == pattern->num_groups() + 1, "a match without all its groups");
  check_invariant(groups->front().has_value(), "a match without its whole");
  for (const auto& group : *groups) {
    if (!group) continue;
    check_invariant(group->begin <= group->end && group->end <= text.size(),
                    "a group outside the text");
    check_invariant(group->begin >= groups->front()->begin, "a group before its match");
  }
}

}  // namespace
}  // namespace stoker::text

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
  const std::size_t end = std::min(input.find('\n'), input.size());
  stoker::text::run_one(input.substr(0, end), input.substr(std::min(end + 1, input.size())));
  return 0;
}
