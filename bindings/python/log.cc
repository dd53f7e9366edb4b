// Messages of the library's threads, kept until a thread that holds the GIL passes them on to
// Python's logging: a worker never waits for the interpreter.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>

#include "crossing.h"
#include "stoker/base/log.h"
#include "stoker/base/thread/sync.h"

namespace stoker::python {
namespace {

constexpr std::size_t kMostKept = 1024;

class KeptLog final : public LogSink {
 public:
  void write(const LogRecord& record) noexcept override {
    try {
      std::string text =
          render_log({record.level, record.message, record.fields}, LogFormat::kText);
      const std::size_t colon = text.find(": ");
      const Lock lock(mutex_);
      if (lines_.size() == kMostKept) return;
      lines_.emplace_back(std::string(log_level_name(record.level)),
                          colon == text.npos ? text : text.substr(colon + 2));
      has_lines_.store(true, std::memory_order_release);
    } catch (...) {  // a message is worth no failure
    }
  }

  std::vector<std::pair<std::string, std::string>> take() {
    const Lock lock(mutex_);
    has_lines_.store(false, std::memory_order_relaxed);
    return std::exchange(lines_, {});
  }
  bool has_lines() const { return has_lines_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> has_lines_{false};
  Mutex mutex_;
  std::vector<std::pair<std::string, std::string>> lines_ STOKER_GUARDED_BY(mutex_);
};

const std::shared_ptr<KeptLog>& kept_log() {
  static const auto log = std::make_shared<KeptLog>();
  return log;
}

}  // namespace

void pass_on_log() {
  if (!kept_log()->has_lines()) return;
  const nb::object write = nb::module_::import_("stoker._log").attr("write");
  for (const auto& [level, text] : kept_log()->take()) write(level, text);
}

void bind_log(nb::module_& module) {
  set_log_sink(kept_log());
  module.def("pass_on_log", &pass_on_log, "Hands what the library said to Python's logging.");
}

}  // namespace stoker::python
