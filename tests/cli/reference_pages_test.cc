#include "stoker/cli/reference_pages.h"

#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>

#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/config/field_table.h"

namespace stoker::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ErrorCatalogueTest, CodesAreUniqueAndSayWhatTheyMean) {
  std::map<std::string_view, std::string_view> folders;
  for (const auto& [folder, code] : error_catalogue()) {
    EXPECT_TRUE(code->name.starts_with("E-")) << code->name;
    EXPECT_FALSE(code->meaning.empty()) << code->name;
    const auto [at, is_new] = folders.emplace(code->name, folder);
    EXPECT_TRUE(is_new) << code->name << " in " << folder << " and " << at->second;
  }
  EXPECT_GT(folders.size(), 30U);
}

// Oddities of a file that is used all the same; nothing needs to be done.
const std::set<std::string_view> kNothingToDo{"E-WAV-RIFFSIZE", "E-WAV-TRAILING",
                                              "E-WAV-BYTERATE", "E-WAV-SUFFIX",
                                              "E-DATA-MIXED",   "E-DATA-RESAMPLED"};

TEST(ErrorCatalogueTest, EveryCodeSaysWhatToDo) {
  for (const auto& [folder, code] : error_catalogue())
    EXPECT_EQ(code->cure.empty(), kNothingToDo.contains(code->name)) << code->name;
}

std::vector<std::smatch> matches_of(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

std::set<std::string> names_in(const Command& command) {
  std::set<std::string> names;
  for (const Command& sub : command.commands()) names.insert(sub.path());
  return names;
}

TEST(ErrorCatalogueTest, HelpNamesCommandsThatExist) {
  CommandLine line("stoker", "");
  CommandContext context;
  for (const auto add : kCommandGroups) add(line.root(), context);
  std::set<std::string> groups;
  std::set<std::string> commands;
  for (const Command& command : line.root().commands()) {
    (command.commands().empty() ? commands : groups).insert(command.name());
    commands.merge(names_in(command));
  }
  const std::regex pattern("stoker ([a-z]+)( [a-z]+)?");
  for (const auto& [folder, code] : error_catalogue()) {
    const std::string cure(code->cure);
    for (const std::smatch& found : matches_of(cure, pattern)) {
      const std::string name =
          groups.contains(found[1]) ? found[1].str() + found[2].str() : found[1].str();
      EXPECT_TRUE(commands.contains(name)) << code->name << ": stoker " << name;
    }
  }
}

TEST(ErrorCatalogueTest, HelpNamesSettingsWithTheirSection) {
  std::map<std::string, std::string> sections;
  for (const config::FieldInfo& field : config::all_fields())
    if (field.name.find('_') != field.name.npos)
      sections.emplace(std::string(field.name), std::string(field.section));
  const std::regex pattern("([a-z]+\\.)?[a-z]+(_[a-z]+)+");
  for (const auto& [folder, code] : error_catalogue()) {
    const std::string cure(code->cure);
    for (const std::smatch& found : matches_of(cure, pattern))
      EXPECT_FALSE(sections.contains(found[0]))
          << code->name << ": " << found[0] << " is " << sections[found[0]] << "." << found[0];
  }
}

TEST(CommandsPageTest, EveryCommandAndShownOptionHasALine) {
  CommandLine line("stoker", "Does things");
  line.set_help_flag("-h,--help", "Help", "Global options");
  const Command group = line.root().group("data", "Data sets");
  const Command make = group.add_command("make", "Make one");
  std::string out;
  bool is_quick = false;
  make.add_option("--out", out, "Folder | file").required();
  make.add_flag("--quick", is_quick, "Fast");
  make.on_values("--old", [](const std::vector<std::string>&) {}).hidden();
  const std::string page = commands_page(line.root());
  EXPECT_THAT(page, HasSubstr("\n## `stoker`\n\nDoes things\n"));
  EXPECT_THAT(page, HasSubstr("\n## `stoker data`\n\nData sets\n"));
  EXPECT_THAT(page, HasSubstr("\n## `stoker data make`\n\nMake one\n"));
  EXPECT_THAT(page, HasSubstr("| `--out TEXT` | Folder \\| file |\n| `--quick` | Fast |\n"));
  EXPECT_THAT(page, Not(HasSubstr("--old")));
  EXPECT_THAT(page, Not(HasSubstr("| `-h")));
}

}  // namespace
}  // namespace stoker::cli
