#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <cstdlib>

#include "stoker/base/log.h"

namespace stoker {
namespace {

// Colours as people expect them: on a terminal, unless NO_COLOR says otherwise.
bool wants_colour() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return ::isatty(STDERR_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

std::string_view colour_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "\x1b[2m";
    case LogLevel::kInfo:
      return "";
    case LogLevel::kWarning:
      return "\x1b[33m";
    case LogLevel::kError:
      return "\x1b[31m";
  }
  return "";
}

class StderrSink final : public LogSink {
 public:
  explicit StderrSink(LogFormat format)
      : format_(format),
        is_terminal_(::isatty(STDERR_FILENO) == 1),
        coloured_(format == LogFormat::kText && wants_colour()),
        logger_("stoker", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("%v");
    logger_.set_level(spdlog::level::trace);
    logger_.flush_on(spdlog::level::trace);
  }

  void write(const LogRecord& record) noexcept override {
    try {
      std::string line = render_log(record, format_);
      if (coloured_ && !colour_of(record.level).empty())
        line = std::string(colour_of(record.level)) + line + "\x1b[0m";
      // Return and erase: a progress bar may be on this line.
      if (is_terminal_) line.insert(0, "\r\x1b[K");
      logger_.log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
    } catch (const std::exception&) {
      // A message that cannot be written has nowhere else to go.
    }
  }

 private:
  LogFormat format_;
  bool is_terminal_;
  bool coloured_;
  spdlog::logger logger_;
};

}  // namespace

std::shared_ptr<LogSink> make_stderr_sink(LogFormat format) {
  return std::make_shared<StderrSink>(format);
}

}  // namespace stoker
