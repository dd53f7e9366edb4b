// The endpoint by libmicrohttpd: limits, deadlines and headers around answers made elsewhere.
#include <microhttpd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "stoker/observe/errors.h"
#include "stoker/observe/http/connection_limits.h"
#include "stoker/observe/http/http_answer.h"
#include "stoker/observe/http/metrics_server.h"

namespace stoker::observe {
namespace {

// Holds the head of a request and that of its answer; a longer one is refused with 431 or 414.
constexpr std::size_t kConnectionBytes = 8 * 1024;
constexpr double kBurst = 20;

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

HttpAddress checked_address(const MetricsServerOptions& options) {
  HttpAddress address = parse_http_address(options.address).take_or_raise();
  if (!address.is_loopback && !options.allows_remote) {
    raise({.code = &kHttpRemote,
           .promised = "an address of this machine alone",
           .found = address.text()});
  }
  return address;
}

// Whoever computes goes first. A kernel that refuses changes nothing.
void yield_to_others() {
  thread_local bool has_yielded = false;
  if (has_yielded) return;
  has_yielded = true;
  constexpr int kLowest = 19;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLowest);
}

MHD_Result count_hosts(void* count, MHD_ValueKind, const char* key, const char* value) {
  auto& request = *static_cast<HttpRequest*>(count);
  if (::strcasecmp(key, MHD_HTTP_HEADER_HOST) != 0) return MHD_YES;
  ++request.num_hosts;
  request.host = value != nullptr ? value : "";
  return MHD_YES;
}

MHD_Result queue(MHD_Connection* connection, const HttpAnswer& answer) {
  // The library does not write to what it copies.
  MHD_Response* const response = MHD_create_response_from_buffer(
      answer.body->size(), const_cast<char*>(answer.body->data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  const std::string type(answer.content_type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy",
                          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                          "frame-ancestors 'none'");
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  if (answer.says_methods) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

// Paths stay as they were sent: "%2e" is not ".".
std::size_t keep_as_sent(void*, MHD_Connection*, char* text) { return std::strlen(text); }

}  // namespace

struct MetricsServer::State {
  State(const MetricsServerOptions& options, std::function<FiguresPtr()> latest)
      : address(checked_address(options)),
        answers(address, machine_name(), std::move(latest)),
        pace(options.requests_per_s, kBurst, *options.clock),
        deadlines(options.connection_time, *options.clock),
        listener(open_listener(address).take_or_raise()) {
    constexpr auto kSeconds = 1'000'000'000;
    const auto timeout_s =
        static_cast<unsigned>((options.connection_time.count() + kSeconds - 1) / kSeconds);
    daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC |
            static_cast<unsigned>(address.is_ipv6 ? MHD_USE_IPv6 : MHD_NO_FLAG),
        0, nullptr, nullptr, &State::handle, this, MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, options.max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        kConnectionBytes, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, &keep_as_sent, nullptr, MHD_OPTION_NOTIFY_CONNECTION,
        &State::notice, this, MHD_OPTION_END);
    if (daemon != nullptr) return;
    ::close(listener);
    raise({.code = &kHttpServer,
           .promised = "an endpoint at " + address.text(),
           .found = "libmicrohttpd refused to start"});
  }
  ~State() {
    pace.stop();
    MHD_stop_daemon(daemon);  // closes the listener and every connection
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Answers at the first call, before any body is read: the library then reads none.
  // NOLINTNEXTLINE(readability-function-size): the library's parameters
  static MHD_Result handle(void* self, MHD_Connection* connection, const char* url,
                           const char* method, const char*, const char*, std::size_t*,
                           void**) noexcept {
    auto& state = *static_cast<State*>(self);
    try {
      state.pace.wait_turn();
      HttpRequest request{.method = method, .path = url};
      MHD_get_connection_values(connection, MHD_HEADER_KIND, &count_hosts, &request);
      return queue(connection, state.answers.answer(request));
    } catch (...) {
      return MHD_NO;  // no memory for the answer: the connection is closed
    }
  }

  static void notice(void* self, MHD_Connection* connection, void**,
                     MHD_ConnectionNotificationCode what) noexcept {
    auto& state = *static_cast<State*>(self);
    const MHD_ConnectionInfo* const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) return;
    yield_to_others();
    try {
      if (what == MHD_CONNECTION_NOTIFY_STARTED) state.deadlines.begin(info->connect_fd);
      if (what == MHD_CONNECTION_NOTIFY_CLOSED) state.deadlines.end(info->connect_fd);
    } catch (...) {
      return;  // no memory for the deadline: the library's own timeout is left
    }
  }

  HttpAddress address;
  HttpAnswers answers;
  RequestPace pace;
  ConnectionDeadlines deadlines;
  int listener;  // the daemon's, once there is one
  MHD_Daemon* daemon = nullptr;
};

MetricsServer::MetricsServer(const MetricsServerOptions& options,
                             std::function<FiguresPtr()> latest)
    : state_(std::make_unique<State>(options, std::move(latest))) {}
MetricsServer::~MetricsServer() = default;

bool MetricsServer::is_built_in() { return true; }
std::string MetricsServer::url() const { return "http://" + state_->address.text() + "/"; }
bool MetricsServer::is_remote() const { return !state_->address.is_loopback; }

}  // namespace stoker::observe
