#include "stoker/cli/reference_pages.h"

#include <gmock/gmock.h>

#include <map>

#include "stoker/cli/command_line.h"

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
