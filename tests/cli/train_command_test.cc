// `stoker train` and `stoker synthesize` from outside, with a library that only answers in the
// place of the trainer.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stoker/train/errors.h"
#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kFake = "STOKER_TRAIN_LIBRARY=" STOKER_FAKE_LIBRARY;

TEST(TrainCommandTest, WithoutTheLibraryItSaysHowToGetIt) {
  for (const char* line :
       {"train --data d", "synthesize --checkpoint run --text a --out /tmp/none.wav"}) {
    const ProgramRun run = run_program(line, "STOKER_TRAIN_LIBRARY=/nowhere/lib.so");
    EXPECT_EQ(run.exit_code, 2) << line;
    EXPECT_THAT(run.err, HasSubstr("error[E-TRAIN-LIB]: expected libstoker_train.so, found none; "
                                   "tried /nowhere/lib.so: "));
    EXPECT_THAT(run.err, HasSubstr("help: build with libtorch"));
  }
}

TEST(TrainCommandTest, LibraryOfAnotherVersionIsRefused) {
  const ProgramRun run =
      run_program("train --data d --json", "STOKER_TRAIN_LIBRARY=" STOKER_FAKE_OLD_LIBRARY);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(json::parse(run.out)["error"]["code"], "E-TRAIN-DOOR");
}

TEST(TrainCommandTest, VersionNamesTheLibtorchThatIsLoaded) {
  EXPECT_THAT(run_program("--version --verbose", kFake).out, HasSubstr("libtorch  0.0-fake"));
  EXPECT_THAT(run_program("--version", kFake).out, HasSubstr("not loaded"));
}

TEST(TrainCommandTest, ResultIsOneJsonObjectAndTalkGoesToStderr) {
  const ProgramRun run = run_program("train --data d --json", kFake);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["command"], "train");
  EXPECT_EQ(report["steps"], 3);
  EXPECT_EQ(report["checkpoint"], "run/checkpoints/step-00000003");
  EXPECT_THAT(run.err, HasSubstr("hello\n"));
}

TEST(TrainCommandTest, PeopleGetASummary) {
  const ProgramRun run = run_program("train --data d --quiet", kFake);
  EXPECT_THAT(run.out, HasSubstr("steps      3, "));
  EXPECT_THAT(run.out, HasSubstr("checkpoint run/checkpoints/step-00000003"));
  EXPECT_THAT(run.err, Not(HasSubstr("hello")));
}

TEST(TrainCommandTest, ErrorOfTheLibraryEndsLikeOneOfTheProgram) {
  const ProgramRun run = run_program("train --data known-error --json", kFake);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("error[E-TRAIN-DATA] a.wav:7 @44: expected one clip, found none; "
                                 "row rejected\nhelp: add one\n"));
  EXPECT_EQ(json::parse(run.out)["error"]["line"], 7);
}

TEST(SynthesizeCommandTest, SeveralTextsGetNumberedFiles) {
  const std::string folder = fresh_folder();
  write_text(folder + "/texts", "\xEF\xBB\xBFsecond\r\n\n  \nthird");
  const ProgramRun run =
      run_program("synthesize --checkpoint run --text first --texts " + folder + "/texts --out " +
                      folder + "/o.wav --picture " + folder + "/p.svg --json",
                  kFake);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const json request = json::parse(run.out)["request"];
  EXPECT_EQ(request["texts"], json::parse(R"(["first", "second", "third"])"));
  EXPECT_EQ(request["out"][2], folder + "/o-3.wav");
  EXPECT_EQ(request["pictures"][0], folder + "/p-1.svg");
  EXPECT_EQ(request["save_mel"], json::array());
  EXPECT_TRUE(request["references"].empty());
}

struct BadLine {
  std::string arguments;
  std::string words;
};

TEST(SynthesizeCommandTest, BadLinesAreRefusedBeforeTheLibraryIsOpened) {
  const std::string folder = fresh_folder();
  write_text(folder + "/empty", "\n\n");
  const std::vector<BadLine> lines{
      {"--text a --out o.wav", "--checkpoint is required"},
      {"--checkpoint run --text a", "--out is required"},
      {"--checkpoint run --out o.wav", "neither --text nor --texts"},
      {"--checkpoint run --out o.wav --texts " + folder + "/empty", "without a line"},
      {"--checkpoint run --text a --out -", "standard output"},
      {"--checkpoint run --text a --out o.wav --steps 3", "--steps"},
      {"--checkpoint run --text a --out o.wav --steps 33", "--steps"},
      {"--checkpoint run --text a --out o.wav --speed 9", "--speed"},
      {"--checkpoint run --text a --out o.wav --picture p.gif", ".png or .svg"},
  };
  for (const BadLine& line : lines) {
    const ProgramRun run =
        run_program("synthesize " + line.arguments, "STOKER_TRAIN_LIBRARY=/nowhere/lib.so");
    EXPECT_EQ(run.exit_code, 2) << line.arguments;
    EXPECT_THAT(run.err, HasSubstr("error[E-USAGE]")) << line.arguments;
    EXPECT_THAT(run.err, HasSubstr(line.words)) << line.arguments;
  }
}

}  // namespace
}  // namespace stoker::cli
