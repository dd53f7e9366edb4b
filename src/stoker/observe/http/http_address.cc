#include "stoker/observe/http/http_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/observe/errors.h"

namespace stoker::observe {
namespace {

constexpr int kWaitingConnections = 64;

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // empty: none
};

// Splits at the colon that is not of an IPv6 address; nothing where brackets do not close.
std::optional<HostAndPort> split(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return std::nullopt;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    return HostAndPort{text.substr(1, end - 1), rest.empty() ? rest : rest.substr(1)};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return HostAndPort{text, {}};
  return HostAndPort{text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return is_whole ? std::optional(port) : std::nullopt;
}

bool is_ipv4(const std::string& text, in_addr& out) {
  return ::inet_pton(AF_INET, text.c_str(), &out) == 1;
}
bool is_ipv6(const std::string& text, in6_addr& out) {
  return ::inet_pton(AF_INET6, text.c_str(), &out) == 1;
}

bool is_loopback(const in_addr& address) {
  constexpr std::uint32_t kNet = 127;
  return ntohl(address.s_addr) >> 24U == kNet;
}

bool equal_names(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

Error bad_address(std::string_view text) {
  return {.code = &kHttpAddress,
          .promised = "HOST:PORT with an IP address of this machine",
          .found = fmt::format("\"{}\"", text)};
}

Error listen_error(const HttpAddress& address, int error_number) {
  const ErrorCode* code = &kHttpServer;
  if (error_number == EADDRINUSE || error_number == EACCES) code = &kHttpPort;
  if (error_number == EADDRNOTAVAIL || error_number == EAFNOSUPPORT) code = &kHttpAddress;
  return {.code = code,
          .promised = "to listen at " + address.text(),
          .found = std::generic_category().message(error_number)};
}

// Closes itself where listening fails.
class Socket {
 public:
  explicit Socket(int handle) : handle_(handle) {}
  ~Socket() {
    if (handle_ >= 0) ::close(handle_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return handle_; }
  int release() { return std::exchange(handle_, -1); }

 private:
  int handle_;
};

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size_bytes = 0;
};

SocketAddress socket_address(const HttpAddress& address) {
  SocketAddress out;
  if (address.is_ipv6) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    is_ipv6(address.host, six.sin6_addr);
    out.size_bytes = sizeof six;
    std::memcpy(&out.bytes, &six, sizeof six);
    return out;
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(address.port);
  is_ipv4(address.host, four.sin_addr);
  out.size_bytes = sizeof four;
  std::memcpy(&out.bytes, &four, sizeof four);
  return out;
}

}  // namespace

std::string HttpAddress::text() const {
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<HttpAddress> parse_http_address(std::string_view text) {
  HttpAddress out;
  if (const std::optional<std::uint16_t> port = port_of(text)) {
    out.port = *port;
    return out;
  }
  const std::optional<HostAndPort> parts = split(text);
  const std::optional<std::uint16_t> port = parts ? port_of(parts->port) : std::nullopt;
  if (!port) return bad_address(text);
  out.port = *port;
  if (!equal_names(parts->host, "localhost")) out.host = std::string(parts->host);
  in_addr four{};
  in6_addr six{};
  if (is_ipv4(out.host, four)) {
    out.is_loopback = is_loopback(four);
  } else if (is_ipv6(out.host, six)) {
    out.is_ipv6 = true;
    out.is_loopback = IN6_IS_ADDR_LOOPBACK(&six);
  } else {
    return bad_address(text);
  }
  return out;
}

bool is_host_allowed(std::string_view host_header, const HttpAddress& address,
                     std::string_view machine_name) {
  const std::optional<HostAndPort> parts = split(host_header);
  if (!parts || (!parts->port.empty() && !port_of(parts->port))) return false;
  if (equal_names(parts->host, "localhost") || parts->host == address.host) return true;
  const std::string host(parts->host);
  in_addr four{};
  in6_addr six{};
  const bool is_four = is_ipv4(host, four), is_six = !is_four && is_ipv6(host, six);
  if ((is_four && is_loopback(four)) || (is_six && IN6_IS_ADDR_LOOPBACK(&six))) return true;
  if (address.is_loopback) return false;
  return is_four || is_six || (!machine_name.empty() && equal_names(host, machine_name));
}

Result<int> open_listener(HttpAddress& address) {
  const int family = address.is_ipv6 ? AF_INET6 : AF_INET;
  Socket listener(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) return listen_error(address, errno);
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.is_ipv6) ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  SocketAddress where = socket_address(address);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&where.bytes), where.size_bytes) !=
          0 ||
      ::listen(listener.get(), kWaitingConnections) != 0)
    return listen_error(address, errno);
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where.bytes), &where.size_bytes) ==
      0) {
    // The port is at the same place in both kinds of addresses.
    sockaddr_in four{};
    std::memcpy(&four, &where.bytes, sizeof four);
    address.port = ntohs(four.sin_port);
  }
  return listener.release();
}

}  // namespace stoker::observe
