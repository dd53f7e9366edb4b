// Fuzz target: bytes as the parts of a request that the endpoint looks at, and as an address to
// serve at. Whatever comes, the answer is one of seven, and only three paths with a host of this
// machine get figures.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/invariant.h"
#include "stoker/observe/http/http_answer.h"
#include "stoker/observe/http/served_texts.h"
#include "stoker/observe/live/screen_line.h"

namespace stoker::observe {
namespace {

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

void check_answer(const HttpRequest& request) {
  static const FiguresPtr figures = std::make_shared<const LiveFigures>();
  static HttpAnswers answers(HttpAddress{}, "machine", [] { return figures; });
  const HttpAnswer answer = answers.answer(request);
  constexpr std::array<unsigned, 5> kKnown{200, 400, 404, 405, 421};
  check_invariant(std::find(kKnown.begin(), kKnown.end(), answer.status) != kKnown.end(),
                  "an unknown status");
  check_invariant(answer.body != nullptr && !answer.body->empty(), "an answer without a body");
  if (answer.status != 200) return;
  const bool is_known =
      request.path == "/" || request.path == "/metrics" || request.path == "/healthz";
  check_invariant(is_known && request.num_hosts == 1, "figures for a request that is none");
}

void check_address(std::string_view text) {
  const Result<HttpAddress> address = parse_http_address(text);
  if (!address) return;
  const Result<HttpAddress> again = parse_http_address(address->text());
  check_invariant(again && again->text() == address->text(), "an address that reads as another");
  check_invariant(is_host_allowed(address->text(), *address, "machine"), "its own address refused");
}

// Names from anywhere: neither the terminal nor Prometheus may be led astray by them.
void check_texts(std::string_view text) {
  check_invariant(label_value(text).find('\n') == std::string::npos, "a label of two lines");
  for (const bool shows_unicode : {false, true}) {
    const std::string safe = safe_text(text, shows_unicode);
    check_invariant(std::none_of(safe.begin(), safe.end(),
                                 [](char c) { return c >= 0 && (c < 0x20 || c == 0x7F); }),
                    "a control character on the terminal");
    ScreenLine line({.shows_unicode = shows_unicode, .shows_colour = false}, 10);
    line.add(text);
    check_invariant(columns_of(line.text()) <= 10, "a line too wide");
  }
}

}  // namespace
}  // namespace stoker::observe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  using namespace stoker::observe;
  std::string_view rest(reinterpret_cast<const char*>(data), size_bytes);
  check_texts(rest);
  check_address(rest.substr(0, rest.find('\n')));
  HttpRequest request{.method = take_line(rest), .path = take_line(rest)};
  request.host = take_line(rest);
  request.num_hosts = rest.empty() ? 1 : static_cast<unsigned char>(rest.front()) % 3;
  check_answer(request);
  return 0;
}
