// A log sink that keeps what it is given, for tests that look at messages.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "stoker/base/log.h"

namespace stoker {

// Thread-safe.
class LogLines final : public LogSink {
 public:
  explicit LogLines(LogFormat format = LogFormat::kText) : format_(format) {}

  void write(const LogRecord& record) noexcept override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(render_log(record, format_));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  LogFormat format_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace stoker
