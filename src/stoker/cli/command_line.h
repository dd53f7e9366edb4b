// Commands and options as the command files declare them. CLI11 reads the command line, but only
// command_line.cc includes it: its templates cost seconds in every file that sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stoker::cli {

// A handle to one declared option or positional argument; every call refines it further.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  Option show_default() const;  // the variable's present value, in the help
  Option one_of(std::initializer_list<const char*> choices) const;
  Option positive() const;
  Option not_negative() const;
  Option in_range(int low, int high) const;
  Option in_range(double low, double high) const;
  Option split_at(char delimiter) const;  // "a,b" gives two values
  Option excludes(const std::string& other) const;
  Option num_values(int count) const;
  Option num_values(int least, int most) const;
  Option one_value_each_time() const;  // of a list: what follows the value is not a part of it
  Option value_name(const std::string& name) const;
  Option group(const std::string& heading) const;  // empty: taken, but not in the help
  Option hidden() const { return group({}); }

 private:
  CLI::Option* option_;
};

// What the reference page, the completion scripts and the help of an error say of an option.
struct OptionInfo {
  std::string names;                    // "-h,--help", or the name of a positional argument
  std::vector<std::string> long_names;  // "--help"
  std::string value_name;               // "TEXT"
  std::string help;
  bool takes_value = false;
  bool is_shown = true;
  bool is_required = false;
};

// A handle to a command, a group of commands or the program itself; copies mean the same one.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_command(const std::string& name, const std::string& sentence) const;
  // The command of that name, added where no file asked for it before: the members of a group have
  // files of their own.
  Command group(const std::string& name, const std::string& sentence) const;

  // The variables must outlive the parsing.
  Option add_flag(const std::string& names, bool& value, const std::string& help) const;
  Option add_option(const std::string& names, std::string& value, const std::string& help) const;
  Option add_option(const std::string& names, int& value, const std::string& help) const;
  Option add_option(const std::string& names, unsigned& value, const std::string& help) const;
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& help) const;
  Option add_option(const std::string& names, double& value, const std::string& help) const;
  Option add_option(const std::string& names, std::optional<unsigned>& value,
                    const std::string& help) const;
  Option add_option(const std::string& names, std::optional<std::uint64_t>& value,
                    const std::string& help) const;
  Option add_option(const std::string& names, std::optional<double>& value,
                    const std::string& help) const;
  Option add_option(const std::string& names, std::vector<std::string>& values,
                    const std::string& help) const;
  // The same with a call instead of a variable.
  Option on_flag(const std::string& names, std::function<void()> taken,
                 const std::string& help) const;
  Option on_option(const std::string& names, const std::function<void(const std::string&)>& taken,
                   const std::string& help) const;
  Option on_values(const std::string& names,
                   const std::function<void(const std::vector<std::string>&)>& taken,
                   const std::string& help = {}) const;

  // Called when this command was chosen, before its arguments are read.
  void before_arguments(std::function<void()> prepare) const;
  // Called when its arguments were read.
  void after_arguments(std::function<void()> chosen) const;

  std::string name() const;
  std::string sentence() const;
  std::string path() const;  // "data check"; empty for the program itself
  std::vector<Command> commands() const;
  std::vector<OptionInfo> options() const;  // its own, in the order of their declaration
  bool has_option(const std::string& flag) const;
  std::optional<Command> parent() const;

 private:
  CLI::App* app_;
};

// The program's command line. Options of the program are taken after a command as well.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& sentence);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command root() const { return Command(app_.get()); }
  void set_help_flag(const std::string& names, const std::string& help, const std::string& heading);
  void set_footer(const std::string& text);

  enum class Outcome { kTaken, kHelpAsked, kRefused };
  struct Parsed {
    Outcome outcome = Outcome::kTaken;
    std::string refusal;  // why, in CLI11's words
  };
  Parsed parse(int argc, char** argv);
  Parsed parse(const std::string& line);  // the same without the program's name

  std::string help() const;                  // of the command that was chosen
  Command chosen() const;                    // the innermost that the line names
  std::vector<std::string> unknown() const;  // words that nothing takes

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace stoker::cli
