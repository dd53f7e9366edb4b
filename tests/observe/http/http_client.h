// A client that sends whatever bytes a test wants and reads until the server closes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace stoker::observe {

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~HttpClient() {
    if (socket_ >= 0) ::close(socket_);
  }
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), is_open_(other.is_open_) {}
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool is_open() const { return is_open_; }
  bool send(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // All that comes until the server closes, or what came within the time.
  std::string read_all(int at_most_ms = 60'000) const {
    std::string all;
    char part[4096];
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, at_most_ms) > 0) {
      const ssize_t count = ::recv(socket_, part, sizeof part, 0);
      if (count <= 0) break;
      all.append(part, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int socket_;
  bool is_open_ = false;
};

inline std::string ask(std::uint16_t port, std::string_view bytes) {
  const HttpClient client(port);
  client.send(bytes);
  return client.read_all();
}

// "HTTP/1.1 200 OK…" -> 200; 0 where nothing came.
inline unsigned status_in(const std::string& answer) {
  return answer.size() > 12 && answer.starts_with("HTTP/1.")
             ? static_cast<unsigned>(std::stoul(answer.substr(9, 3)))
             : 0;
}

}  // namespace stoker::observe
