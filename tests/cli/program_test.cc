#include "stoker/cli/program.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "stoker/cli/batch_file.h"
#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ProgramTest, HelpListsTheCommandsAndLeavesWithZero) {
  const ProgramRun run = run_program("--help");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("config"));
  EXPECT_THAT(run.out, HasSubstr("--set"));
  EXPECT_EQ(run.err, "");
}

TEST(ProgramTest, VersionNamesCompilerCudaLibtorchAndSimd) {
  const ProgramRun run = run_program("--version --json");
  EXPECT_EQ(run.exit_code, 0);
  const json object = json::parse(run.out);
  for (const char* key : {"version", "commit", "compiler", "cuda", "libtorch", "simd"})
    EXPECT_TRUE(object.contains(key)) << key;
}

TEST(ProgramTest, UnknownCommandNamesTheNearestOne) {
  const ProgramRun run = run_program("confgi show");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("error[E-USAGE]"));
  EXPECT_THAT(run.err, HasSubstr("did you mean config?"));
}

TEST(ProgramTest, UnknownOptionNamesTheNearestOne) {
  const ProgramRun run = run_program("config show --jsno");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("did you mean --json?"));
}

TEST(ProgramTest, MissingCommandListsTheChoices) {
  const ProgramRun run = run_program("config");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("show"));
}

TEST(ProgramTest, WhatIsMissingComesWithTheLineToType) {
  struct Row {
    const char* arguments;
    const char* help;
  };
  for (const Row& row : {Row{"features", "type stoker features <files>; stoker features --help"},
                         Row{"data make --out x", "type stoker data make --out TEXT --clips UINT"},
                         Row{"cache explain", "type stoker cache explain <id>"},
                         Row{"precompute", "--data FOLDER"}, Row{"data check", "FOLDER"},
                         Row{"config explain NOPE", "stoker config --help lists its commands"}}) {
    const ProgramRun run = run_program(row.arguments);
    EXPECT_EQ(run.exit_code, 2) << row.arguments;
    EXPECT_THAT(run.err, HasSubstr(row.help)) << row.arguments;
  }
}

TEST(ProgramTest, ValueOutsideItsRuleIsNamedWithTheRule) {
  const ProgramRun run = run_program("stream --batches 0");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--batches: takes a number above 0, found \"0\"\n"));
}

TEST(ProgramTest, LinesOfBothStreamsKeepTheirOrderInOneFile) {
  const std::string folder = fresh_folder();
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += "row" + std::to_string(i) + "|no such file\n";
  write_text(folder + "/metadata.csv", rows);
  const std::string log = run_program("data check " + folder + " 2>&1").out;
  EXPECT_THAT(log, HasSubstr("\nerror[E-DATA-REJECTS]"));
  EXPECT_LT(log.find("rows "), log.find("error[E-DATA-REJECTS]"));
  EXPECT_THAT(log.substr(log.find("error[E-DATA-REJECTS]")), testing::Not(HasSubstr("rejects  ")));
}

TEST(ProgramTest, JsonErrorIsOneObjectOnStdout) {
  const ProgramRun run = run_program("config shwo --json");
  EXPECT_EQ(run.exit_code, 2);
  const json object = json::parse(run.out);
  EXPECT_EQ(object["ok"], false);
  EXPECT_EQ(object["error"]["code"], "E-USAGE");
}

TEST(ProgramTest, PipesGetNoColour) {
  const ProgramRun run = run_program("nothing");
  EXPECT_THAT(run.err, testing::Not(HasSubstr("\x1b[")));
}

TEST(ProgramTest, FullOutputIsAStorageError) {
  const ProgramRun run = run_program("config show --json >/dev/full");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, HasSubstr("E-OUTPUT"));
}

void add_broken_command(const Command& app, CommandContext& context) {
  context.on(app.add_command("break", "Fails as no command should"),
             []() -> ExitCode { throw std::logic_error("an index past the end"); });
}

TEST(ProgramTest, AnUnexpectedExceptionIsABugToReport) {
  constexpr std::array<CommandGroup, 1> kBroken{&add_broken_command};
  std::string name = "stoker";
  std::string command = "break";
  std::array<char*, 3> arguments{name.data(), command.data(), nullptr};
  testing::internal::CaptureStderr();
  const int exit_code = Program(kBroken).run(2, arguments.data());
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(exit_code, 134);
  EXPECT_EQ(err,
            "error[E-BUG]: an index past the end\n"
            "help: please report this line with the command that led to it\n");
}

TEST(BatchFileTest, AnArrayThatNoZipFileHoldsIsRefused) {
  const std::size_t num_bytes = std::size_t{5} << 30U;
  void* const pages = mmap(nullptr, num_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ZipStore file;
  try {
    add_batch_array(file, "mel", {static_cast<const std::byte*>(pages), num_bytes});
    ADD_FAILURE() << "taken";
  } catch (const MemoryError& failure) {
    EXPECT_EQ(failure.error().code->name, "E-SAVE-SIZE");
    EXPECT_THAT(failure.error().found, HasSubstr("mel of 5,368,709,120 bytes"));
    EXPECT_THAT(help_line(failure.error()), HasSubstr("data.batch_size"));
  }
  munmap(pages, num_bytes);
}

}  // namespace
}  // namespace stoker::cli
