#include "stoker/observe/http/http_answer.h"

#include <utility>

#include "stoker/observe/http/served_texts.h"

namespace stoker::observe {
namespace {

HttpAnswer refusal(unsigned status, std::string_view why) {
  return {.status = status, .body = std::make_shared<const std::string>(why)};
}

}  // namespace

HttpAnswers::HttpAnswers(HttpAddress address, std::string machine_name,
                         std::function<FiguresPtr()> latest)
    : address_(std::move(address)),
      machine_name_(std::move(machine_name)),
      latest_(std::move(latest)) {}

std::shared_ptr<const std::string> HttpAnswers::rendered(
    Rendered& kept, std::string (*render)(const LiveFigures&)) {
  FiguresPtr now = latest_();
  if (now != kept.of) kept = {now, std::make_shared<const std::string>(render(*now))};
  return kept.text;
}

HttpAnswer HttpAnswers::answer(const HttpRequest& request) {
  if (request.num_hosts != 1) return refusal(400, "400: expected one Host\n");
  if (!is_host_allowed(request.host, address_, machine_name_))
    return refusal(421, "421: this endpoint has another name; use its address\n");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer answer = refusal(405, "405: GET and HEAD alone\n");
    answer.says_methods = true;
    return answer;
  }
  if (request.path == "/metrics")
    return {.content_type = kPrometheusType, .body = rendered(metrics_, prometheus_text)};
  if (request.path == "/")
    return {.content_type = "text/html; charset=utf-8", .body = rendered(page_, live_page)};
  if (request.path == "/healthz") return refusal(200, "ok\n");
  return refusal(404, "404: there are /, /metrics and /healthz\n");
}

}  // namespace stoker::observe
