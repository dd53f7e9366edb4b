#include "stoker/base/error_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stoker/base/invariant.h"

namespace stoker {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Error codes

Every failure is one line: the code, the place, what was promised, what was found, and what was done
about it; a second line says what helps. Scripts may rely on the code and on the exit code.

```text
error[E-WAV-TRUNC] wavs/a.wav @44: header promises 213,000 bytes, file holds 106,400; row rejected
help: copy the file again from its source
```

| exit | meaning |
|---|---|
| 0 | done |
| 1 | a check was made and did not hold |
| 2 | wrong usage or configuration |
| 3 | bad data |
| 4 | storage: disk, cache or permissions |
| 5 | no memory or no file handles left |
| 6 | no usable GPU |
| 7 | another process holds the lock |
| 128 + n | ended by signal n |

This page is generated from the source; do not edit it.

| code | exit | meaning | what helps |
|---|---|---|---|
)";

// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string error_reference_rows(std::span<const ErrorCode* const> codes) {
  std::vector<const ErrorCode*> sorted(codes.begin(), codes.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const ErrorCode* a, const ErrorCode* b) { return a->name < b->name; });
  std::string rows;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const ErrorCode& code = *sorted[i];
    check_invariant(i == 0 || sorted[i - 1]->name != code.name, "an error code declared twice");
    rows += fmt::format("| `{}` | {} | {} | {} |\n", code.name, static_cast<int>(code.exit),
                        cell(code.meaning), cell(code.cure));
  }
  return rows;
}

std::string error_reference_page(std::span<const ErrorCode* const> codes) {
  return std::string(kIntroduction) + error_reference_rows(codes);
}

}  // namespace stoker
