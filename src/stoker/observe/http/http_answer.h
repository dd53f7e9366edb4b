// What an endpoint answers to a request, apart from the library that brings it: a pure function, so
// that every refusal can be tried without a socket.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/observe/http/http_address.h"
#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

// The parts of a request that matter; views of the connection's memory.
struct HttpRequest {
  std::string_view method;
  std::string_view path;  // as it was sent, without the query
  unsigned num_hosts = 0;
  std::string_view host{};
};

struct HttpAnswer {
  unsigned status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body{};
  bool says_methods = false;  // Allow: GET, HEAD
};

// Answers from the newest figures, and renders each of them once however often it is asked for. One
// thread at a time.
class HttpAnswers {
 public:
  HttpAnswers(HttpAddress address, std::string machine_name, std::function<FiguresPtr()> latest);

  // Paths are compared, never opened: there is nothing else to get. Bodies are not looked at.
  HttpAnswer answer(const HttpRequest& request);

 private:
  struct Rendered {
    FiguresPtr of{};
    std::shared_ptr<const std::string> text{};
  };
  std::shared_ptr<const std::string> rendered(Rendered& kept,
                                              std::string (*render)(const LiveFigures&));

  const HttpAddress address_;
  const std::string machine_name_;
  const std::function<FiguresPtr()> latest_;
  Rendered metrics_, page_;
};

}  // namespace stoker::observe
