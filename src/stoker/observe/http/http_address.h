// Where an endpoint listens, and by which names it may be asked: loopback unless the user says
// otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/result.h"

namespace stoker::observe {

struct HttpAddress {
  std::string host = "127.0.0.1";  // an IP address
  std::uint16_t port = 9109;       // 0: a free one
  bool is_ipv6 = false;
  bool is_loopback = true;

  std::string text() const;  // "127.0.0.1:9109", "[::1]:9109"
};

// "127.0.0.1:9109", "[::1]:9109", "localhost:9109" or "9109". Names of other machines are not
// looked up. E-HTTP-ADDRESS.
Result<HttpAddress> parse_http_address(std::string_view text);

// Whether a request may name this host. A page of another site that a browser was led to (DNS
// rebinding) names that site's host, never an address.
bool is_host_allowed(std::string_view host_header, const HttpAddress& address,
                     std::string_view machine_name);

// A socket that listens; takes the port that the system gave into `address`. E-HTTP-PORT,
// E-HTTP-ADDRESS, E-HTTP-SERVER. The caller closes it.
Result<int> open_listener(HttpAddress& address);

}  // namespace stoker::observe
