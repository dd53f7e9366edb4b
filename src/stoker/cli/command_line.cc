#include "stoker/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace stoker::cli {
namespace {

constexpr std::size_t kHelpColumn = 34;

std::vector<CLI::App*> all_commands(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info{.names = option.get_name(false, true),
                  .long_names = {},
                  .value_name = option.get_type_name(),
                  .help = option.get_description(),
                  .takes_value = option.get_items_expected_max() > 0,
                  .is_shown = !option.get_group().empty(),
                  .is_required = option.get_required()};
  for (const std::string& name : option.get_lnames()) info.long_names.push_back("--" + name);
  return info;
}

// CLI11's own rules end their refusal with the largest number there is, in 309 digits.
CLI::Validator number_rule(const std::string& name, const std::string& wanted,
                           bool (*is_good)(double)) {
  const auto check = [wanted, is_good](const std::string& text) {
    double value = 0.0;
    const bool is_number = CLI::detail::lexical_cast(text, value);
    return is_number && is_good(value) ? std::string()
                                       : "takes " + wanted + ", found \"" + text + "\"";
  };
  return CLI::Validator(check, name);
}

template <class Read>
CommandLine::Parsed outcome_of(Read&& read) {
  try {
    read();
    return {};
  } catch (const CLI::CallForHelp&) {
    return {.outcome = CommandLine::Outcome::kHelpAsked, .refusal = {}};
  } catch (const CLI::ParseError& refused) {
    return {.outcome = CommandLine::Outcome::kRefused, .refusal = refused.what()};
  }
}

}  // namespace

Option Option::required() const { return Option(option_->required()); }
Option Option::show_default() const { return Option(option_->capture_default_str()); }
Option Option::one_of(std::initializer_list<const char*> choices) const {
  return Option(option_->check(CLI::IsMember(choices)));
}
Option Option::positive() const {
  return Option(option_->check(
      number_rule("POSITIVE", "a number above 0", [](double value) { return value > 0.0; })));
}
Option Option::not_negative() const {
  return Option(option_->check(number_rule("NONNEGATIVE", "0 or a number above it",
                                           [](double value) { return value >= 0.0; })));
}
Option Option::in_range(int low, int high) const {
  return Option(option_->check(CLI::Range(low, high)));
}
Option Option::in_range(double low, double high) const {
  return Option(option_->check(CLI::Range(low, high)));
}
Option Option::split_at(char delimiter) const { return Option(option_->delimiter(delimiter)); }
Option Option::excludes(const std::string& other) const {
  return Option(option_->excludes<CLI::App>(other));
}
Option Option::num_values(int count) const { return Option(option_->expected(count)); }
Option Option::num_values(int least, int most) const {
  return Option(option_->expected(least, most));
}
Option Option::one_value_each_time() const { return Option(option_->allow_extra_args(false)); }
Option Option::value_name(const std::string& name) const {
  return Option(option_->type_name(name));
}
Option Option::group(const std::string& heading) const { return Option(option_->group(heading)); }

Command Command::add_command(const std::string& name, const std::string& sentence) const {
  return Command(app_->add_subcommand(name, sentence));
}

Command Command::group(const std::string& name, const std::string& sentence) const {
  for (CLI::App* member : all_commands(*app_))
    if (member->get_name() == name) return Command(member);
  return add_command(name, sentence);
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_flag(names, value, help));
}
Option Command::add_option(const std::string& names, std::string& value,
                           const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, int& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, unsigned& value,
                           const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::uint64_t& value,
                           const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, double& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::optional<unsigned>& value,
                           const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& value,
                           const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::optional<double>& value,
                           const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::vector<std::string>& values,
                           const std::string& help) const {
  return Option(app_->add_option(names, values, help));
}

Option Command::on_flag(const std::string& names, std::function<void()> taken,
                        const std::string& help) const {
  return Option(app_->add_flag_callback(names, std::move(taken), help));
}
Option Command::on_option(const std::string& names,
                          const std::function<void(const std::string&)>& taken,
                          const std::string& help) const {
  return Option(app_->add_option_function<std::string>(names, taken, help));
}
Option Command::on_values(const std::string& names,
                          const std::function<void(const std::vector<std::string>&)>& taken,
                          const std::string& help) const {
  return Option(app_->add_option_function<std::vector<std::string>>(names, taken, help));
}

void Command::before_arguments(std::function<void()> prepare) const {
  app_->preparse_callback([run = std::move(prepare)](std::size_t) { run(); });
}
void Command::after_arguments(std::function<void()> chosen) const {
  app_->callback(std::move(chosen));
}

std::string Command::name() const { return app_->get_name(); }
std::string Command::sentence() const { return app_->get_description(); }

std::string Command::path() const {
  const std::optional<Command> above = parent();
  if (!above) return {};
  const std::string before = above->path();
  return before.empty() ? name() : before + " " + name();
}

std::vector<Command> Command::commands() const {
  std::vector<Command> all;
  for (CLI::App* sub : all_commands(*app_)) all.emplace_back(sub);
  return all;
}

std::vector<OptionInfo> Command::options() const {
  std::vector<OptionInfo> all;
  const CLI::App& app = *app_;
  for (const CLI::Option* option : app.get_options()) all.push_back(info_of(*option));
  return all;
}

bool Command::has_option(const std::string& flag) const {
  return app_->get_option_no_throw(flag) != nullptr;
}

std::optional<Command> Command::parent() const {
  CLI::App* const above = app_->get_parent();
  return above == nullptr ? std::nullopt : std::optional(Command(above));
}

CommandLine::CommandLine(const std::string& name, const std::string& sentence)
    : app_(std::make_unique<CLI::App>(sentence, name)) {
  app_->fallthrough();
  app_->get_formatter()->column_width(kHelpColumn);
}
CommandLine::~CommandLine() = default;

void CommandLine::set_help_flag(const std::string& names, const std::string& help,
                                const std::string& heading) {
  app_->set_help_flag(names, help)->group(heading);
}

void CommandLine::set_footer(const std::string& text) { app_->footer(text); }

CommandLine::Parsed CommandLine::parse(int argc, char** argv) {
  return outcome_of([&] { app_->parse(argc, argv); });
}

CommandLine::Parsed CommandLine::parse(const std::string& line) {
  return outcome_of([&] { app_->parse(line); });
}

std::string CommandLine::help() const { return app_->help(); }

Command CommandLine::chosen() const {
  CLI::App* command = app_.get();
  for (auto within = command->get_subcommands(); !within.empty();
       within = command->get_subcommands())
    command = within.back();
  return Command(command);
}

std::vector<std::string> CommandLine::unknown() const { return app_->remaining(true); }

}  // namespace stoker::cli
