// The endpoint of a live view: Prometheus text, one page for browsers and a sign of life, for
// whoever may open a connection to this machine's loopback.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

struct MetricsServerOptions {
  std::string address = "127.0.0.1:9109";  // HOST:PORT; port 0 takes a free one
  bool allows_remote = false;              // addresses that other machines can reach
  unsigned max_connections = 32;
  std::chrono::nanoseconds connection_time = std::chrono::seconds(5);  // in all
  double requests_per_s = 100;                                         // others wait
  const Clock* clock = &system_clock();
};

// Serves from construction to destruction on a thread of its own, which answers from what `latest`
// gives (any thread, never null, without waiting) and so never touches a feed. Opens no file, reads
// no body. Throws E-HTTP-ADDRESS, E-HTTP-REMOTE, E-HTTP-PORT, E-HTTP-SERVER, and E-HTTP-LIBRARY
// where the build has no libmicrohttpd.
class MetricsServer {
 public:
  MetricsServer(const MetricsServerOptions& options, std::function<FiguresPtr()> latest);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  static bool is_built_in();
  std::string url() const;  // "http://127.0.0.1:9109/"
  bool is_remote() const;   // whether other machines can reach it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::observe
