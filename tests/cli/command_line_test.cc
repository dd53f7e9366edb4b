#include "stoker/cli/command_line.h"

#include <gmock/gmock.h>

namespace stoker::cli {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Outcome = CommandLine::Outcome;

struct Line {
  CommandLine line{"prog", "Does things"};
  Command run = line.root().add_command("run", "Runs");

  Outcome outcome(const std::string& text) { return line.parse(text).outcome; }
};

TEST(CommandLineTest, ValuesReachTheirVariables) {
  Line program;
  std::string text;
  std::vector<std::string> list;
  std::optional<double> share;
  std::optional<unsigned> threads;
  std::uint64_t count = 0;
  bool is_quick = false;
  program.run.add_option("file", text, "File");
  program.run.add_option("--list", list, "List").split_at(',');
  program.run.add_option("--share", share, "Share");
  program.run.add_option("--threads", threads, "Threads");
  program.run.add_option("--count", count, "Count");
  program.run.add_flag("--quick", is_quick, "Quick");
  ASSERT_EQ(program.outcome("run f --list a,b --share 0.5 --count 7 --quick"), Outcome::kTaken);
  EXPECT_EQ(text, "f");
  EXPECT_THAT(list, ElementsAre("a", "b"));
  EXPECT_EQ(share, 0.5);
  EXPECT_FALSE(threads.has_value());
  EXPECT_EQ(count, 7U);
  EXPECT_TRUE(is_quick);
}

TEST(CommandLineTest, ValuesOutsideTheRulesAreRefused) {
  for (const char* text :
       {"run", "run --need x --size 0", "run --need x --size 11", "run --need x --kind c",
        "run --need x --left 0", "run --need x --right -1", "run --need x --left 1 --right 1"}) {
    Line program;
    std::string need;
    std::string kind;
    int size = 1;
    double left = 0;
    double right = 0;
    program.run.add_option("--need", need, "").required();
    program.run.add_option("--size", size, "").in_range(1, 10);
    program.run.add_option("--kind", kind, "").one_of({"a", "b"});
    program.run.add_option("--left", left, "").positive();
    program.run.add_option("--right", right, "").not_negative().excludes("--left");
    const CommandLine::Parsed parsed = program.line.parse(text);
    EXPECT_EQ(parsed.outcome, Outcome::kRefused) << text;
    EXPECT_NE(parsed.refusal, "") << text;
  }
}

TEST(CommandLineTest, ListTakesOneValueEachTimeWhereThatIsAsked) {
  Line program;
  std::vector<std::string> set;
  std::string file;
  program.run.add_option("--set", set, "").one_value_each_time();
  program.run.add_option("file", file, "");
  ASSERT_EQ(program.outcome("run --set a=1 f --set b=2"), Outcome::kTaken);
  EXPECT_THAT(set, ElementsAre("a=1", "b=2"));
  EXPECT_EQ(file, "f");
}

TEST(CommandLineTest, HelpShowsDefaultsAndLeavesHiddenOptionsOut) {
  Line program;
  unsigned count = 3;
  program.run.add_option("--count", count, "How many").show_default();
  program.run.on_values("--old", [](const std::vector<std::string>&) {}).hidden();
  ASSERT_EQ(program.outcome("run --help"), Outcome::kHelpAsked);
  EXPECT_THAT(program.line.help(), ContainsRegex("--count UINT *[=[]3"));
  EXPECT_THAT(program.line.help(), Not(HasSubstr("--old")));
  EXPECT_TRUE(program.run.has_option("--old"));
}

TEST(CommandLineTest, OnlyTheChosenCommandPreparesAndRuns) {
  Line program;
  std::string log;
  const Command other = program.line.root().add_command("other", "Other");
  for (const Command& command : {program.run, other}) {
    command.before_arguments([&log, command] {
      log += "before " + command.name() + ";";
      command.on_option(
          "--late", [&log](const std::string& text) { log += text + ";"; }, "");
    });
    command.after_arguments([&log, command] { log += "after " + command.name() + ";"; });
  }
  ASSERT_EQ(program.outcome("run --late x"), Outcome::kTaken);
  EXPECT_EQ(log, "before run;x;after run;");
  EXPECT_EQ(program.line.chosen().name(), "run");
}

TEST(CommandLineTest, GroupIsMadeOnceAndPathsNameIt) {
  const CommandLine line("prog", "");
  line.root().group("data", "Data").add_command("make", "Make");
  line.root().group("data", "Data").add_command("check", "Check");
  ASSERT_EQ(line.root().commands().size(), 1U);
  const std::vector<Command> members = line.root().commands().front().commands();
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].path(), "data make");
  EXPECT_EQ(members[1].parent()->path(), "data");
  EXPECT_EQ(line.root().path(), "");
}

TEST(CommandLineTest, WordsThatNothingTakesAreNamed) {
  Line program;
  ASSERT_EQ(program.outcome("run --nonsense"), Outcome::kRefused);
  EXPECT_THAT(program.line.unknown(), ElementsAre("--nonsense"));
}

}  // namespace
}  // namespace stoker::cli
