// The endpoint of a build without libmicrohttpd: there is none, and it says so.
#include "stoker/observe/errors.h"
#include "stoker/observe/http/metrics_server.h"

namespace stoker::observe {

struct MetricsServer::State {};

// NOLINTNEXTLINE(performance-unnecessary-value-param): as where there is an endpoint
MetricsServer::MetricsServer(const MetricsServerOptions& options, std::function<FiguresPtr()>) {
  raise({.code = &kHttpLibrary,
         .promised = "an endpoint at " + options.address,
         .found = "a build without libmicrohttpd"});
}
MetricsServer::~MetricsServer() = default;

bool MetricsServer::is_built_in() { return false; }
std::string MetricsServer::url() const { return {}; }
bool MetricsServer::is_remote() const { return false; }

}  // namespace stoker::observe
