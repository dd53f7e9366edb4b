#include "stoker/cli/command_context.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "stoker/base/io/output_file.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/settings_options.h"
#include "stoker/cli/terminal.h"

namespace stoker::cli {
namespace {

constexpr std::string_view kStandardOutput = "-";

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    raise({.code = &kOutput, .found = "standard output refused the result"});
}

}  // namespace

void CommandContext::on(const Command& command, Body body) {
  command.after_arguments([this, command, run = std::move(body)] {
    chosen_ = Chosen{.name = command.path(), .body = run};
  });
}

const config::LoadedSettings& CommandContext::loaded() {
  if (loaded_) return *loaded_;
  loaded_ = config::load_settings({.file = options_.config_file,
                                   .environment = config::stoker_environment(),
                                   .command_line = given_,
                                   .set = options_.set});
  std::vector<std::string> lines = notes_;
  lines.insert(lines.end(), loaded_->notices.begin(), loaded_->notices.end());
  const config::CommandKind kind = command_kind(chosen_ ? chosen_->name : "");
  if (loaded_->settings.run.strict) config::refuse_no_effect(*loaded_, kind);
  const std::string no_effect = config::no_effect_line(*loaded_, kind);
  if (!no_effect.empty()) lines.push_back(no_effect);
  for (const std::string& line : lines) {
    say(fmt::format("{} {}", coloured("notice:", Colour::kDim, Stream::kErr),
                    escape_control(line)));
    report_["notices"].push_back(escape_control(line));
  }
  return *loaded_;
}

config::Settings CommandContext::settings_with(const std::vector<std::string>& further) const {
  std::vector<std::string> set = options_.set;
  set.insert(set.end(), further.begin(), further.end());
  return config::load_settings({.file = options_.config_file,
                                .environment = config::stoker_environment(),
                                .command_line = given_,
                                .set = std::move(set)})
      .settings;
}

void CommandContext::print(std::string_view line) {
  if (is_stdout_taken_) return say(line);
  if (!options_.json) write_out(fmt::format("{}\n", line));
}

void CommandContext::print_raw(std::string_view text) {
  if (!options_.json) write_out(text);
}

void CommandContext::write_result(std::string_view text, const std::string& path) {
  if (path.empty()) return print_raw(text);
  reserve_output(path);
  write_output(path, text);
  report()["out"] = path;
}

void CommandContext::reserve_output(const std::string& path) {
  if (path.empty()) return;
  if (path != kStandardOutput) return check_output(system_io(), path).take_or_raise();
  if (options_.json || is_stdout_taken_) {
    raise({.code = &kUsage,
           .promised = "one use of standard output (\"-\")",
           .found = options_.json ? "--json as well" : "two outputs named \"-\"",
           .cure = "name a file instead of \"-\""});
  }
  is_stdout_taken_ = true;
}

void CommandContext::write_output(const std::string& path, std::span<const std::byte> content) {
  if (path != kStandardOutput) return publish_output(system_io(), path, content).take_or_raise();
  write_out(view_text(content));
  std::fflush(stdout);
}

void CommandContext::write_output(const std::string& path, std::string_view content) {
  write_output(path, view_bytes(content));
}

void CommandContext::when_stopped(std::string text) {
  const Lock lock(stop_text_mutex_);
  stop_text_ = std::move(text);
}

std::string CommandContext::stop_text() const {
  const Lock lock(stop_text_mutex_);
  return stop_text_;
}

void CommandContext::say(std::string_view line) {
  if (!options_.quiet) write_line(line, Stream::kErr);
}

void CommandContext::warn(std::string_view line) {
  say(fmt::format("{} {}", coloured("warning:", Colour::kYellow, Stream::kErr),
                  escape_control(line)));
  report_["warnings"].push_back(escape_control(line));
}

void CommandContext::detail(std::string_view line) {
  if (options_.verbose) write_line(line, Stream::kErr);
}

}  // namespace stoker::cli
