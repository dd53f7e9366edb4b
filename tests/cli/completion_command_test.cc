#include <gmock/gmock.h>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using testing::HasSubstr;

TEST(CompletionTest, ScriptsNameEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const ProgramRun run = run_program(std::string("completion ") + shell);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.out, HasSubstr("config")) << shell;
    EXPECT_THAT(run.out, HasSubstr("completion")) << shell;
  }
}

TEST(CompletionTest, BashCompletesACommand) {
  const ProgramRun run =
      run_program("completion bash >/dev/null; bash -c 'source <(" STOKER_PROGRAM
                  " completion bash); COMP_WORDS=(stoker config s); COMP_CWORD=2; _stoker; "
                  "echo \"${COMPREPLY[*]}\"'");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("show"));
}

}  // namespace
}  // namespace stoker::cli
