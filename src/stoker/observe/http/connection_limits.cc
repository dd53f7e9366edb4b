#include "stoker/observe/http/connection_limits.h"

#include <sys/socket.h>

#include <algorithm>

namespace stoker::observe {

ConnectionDeadlines::ConnectionDeadlines(std::chrono::nanoseconds total, const Clock& clock)
    : total_(total), clock_(clock) {
  thread_ = Thread("http-deadlines", [this](const std::stop_token& stop) { watch(stop); });
}

ConnectionDeadlines::~ConnectionDeadlines() = default;

void ConnectionDeadlines::begin(int socket) {
  const Lock lock(mutex_);
  open_.push_back({socket, clock_.now() + total_});
  changed_.notify_all();
}

void ConnectionDeadlines::end(int socket) {
  const Lock lock(mutex_);
  std::erase_if(open_, [socket](const Open& each) { return each.socket == socket; });
}

// The lock is held over shutdown(), so that the number cannot belong to another socket by then:
// end() comes before the socket is closed.
void ConnectionDeadlines::watch(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    while (!open_.empty() && open_.front().until <= clock_.now()) {
      ::shutdown(open_.front().socket, SHUT_RDWR);
      open_.pop_front();
    }
    const WaitEnd end = open_.empty()
                            ? changed_.wait(lock, stop)
                            : changed_.wait_until(lock, stop, {&clock_, open_.front().until});
    if (end == WaitEnd::kStopped) return;
  }
}

RequestPace::RequestPace(double per_second, double burst, const Clock& clock)
    : per_second_(per_second), burst_(burst), clock_(clock), tokens_(burst), at_(clock.now()) {}

void RequestPace::wait_turn() {
  Lock lock(mutex_);
  const std::stop_token stop = stop_.get_token();
  while (!stop.stop_requested()) {
    const std::chrono::nanoseconds now = clock_.now();
    tokens_ =
        std::min(burst_, tokens_ + per_second_ * std::chrono::duration<double>(now - at_).count());
    at_ = now;
    if (tokens_ >= 1) {
      tokens_ -= 1;
      return;
    }
    const auto missing_ns = static_cast<std::int64_t>(1e9 * (1 - tokens_) / per_second_) + 1;
    static_cast<void>(
        never_.wait_until(lock, stop, {&clock_, now + std::chrono::nanoseconds(missing_ns)}));
  }
}

}  // namespace stoker::observe
