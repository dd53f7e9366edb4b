// Damaged checkpoints: any changed, missing or added byte is found, and an older one is taken.
#include <fmt/format.h>

#include "stoker/base/digest/digest.h"
#include "stoker/train/errors.h"
#include "tests/doubles/write_list_io.h"
#include "tests/train/checkpoint/small_checkpoint.h"

namespace stoker::train {
namespace {

const std::string kFolder = "/run/checkpoints/step-00000020";

class CheckpointDamageTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        open_and_save(disk, "/run", {small_checkpoint(10, 0.5), small_checkpoint(20, 0.9)}).ok());
  }

  std::string content(const std::string& name) const {
    return disk.content_of(kFolder + "/" + name).value();
  }

  // Refused alone, passed over among others.
  void expect_refused(const std::string& name, const std::string& damaged, const std::string& how) {
    disk.put_file(kFolder + "/" + name, damaged);
    const Result<FoundCheckpoint> alone = load_checkpoint(disk, kFolder);
    ASSERT_FALSE(alone.ok()) << how;
    ASSERT_EQ(alone.error().code->name, "E-CHECKPOINT-BAD") << how;
    ASSERT_EQ(alone.error().place.file, kFolder + "/" + name) << how;
    const Result<FoundCheckpoint> older = load_checkpoint(disk, "/run");
    ASSERT_TRUE(older.ok()) << how;
    ASSERT_EQ(older->checkpoint.step, 10U) << how;
    ASSERT_EQ(older->passed_over.size(), 1U) << how;
    ASSERT_NE(older->passed_over.front().find(name), std::string::npos) << how;
  }

  WriteListIo disk;
};

const std::vector<std::string> kFiles{"model.safetensors", "ema.safetensors",
                                      "optimizer.safetensors", "state.json"};

TEST_F(CheckpointDamageTest, EveryFlippedBitIsFound) {
  std::uint64_t num_flips = 0;
  for (const std::string& name : kFiles) {
    const std::string whole = content(name);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit, ++num_flips) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_NO_FATAL_FAILURE(expect_refused(name, damaged, fmt::format("bit {}", bit)));
    }
    disk.put_file(kFolder + "/" + name, whole);
  }
  RecordProperty("flips", std::to_string(num_flips));
  EXPECT_GT(num_flips, 8000U);
}

TEST_F(CheckpointDamageTest, EveryOtherLengthIsFound) {
  std::uint64_t num_lengths = 0;
  for (const std::string& name : kFiles) {
    const std::string whole = content(name);
    for (std::size_t size = 0; size < whole.size(); ++size, ++num_lengths)
      ASSERT_NO_FATAL_FAILURE(
          expect_refused(name, whole.substr(0, size), fmt::format("{} bytes", size)));
    for (const char added : {'\0', ' ', '\n', '}'})
      ASSERT_NO_FATAL_FAILURE(expect_refused(name, whole + added, "a byte more"));
    disk.put_file(kFolder + "/" + name, whole);
  }
  RecordProperty("lengths", std::to_string(num_lengths));
}

TEST_F(CheckpointDamageTest, FilesThatAreAbsentOrOfAnotherCheckpointAreFound) {
  for (const std::string& name : kFiles) {
    const std::string whole = content(name);
    disk.unlink_at(-100, kFolder + "/" + name, false);
    EXPECT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 10U);
    EXPECT_EQ(load_checkpoint(disk, kFolder).error().code->name, "E-IO-MISSING");
    disk.put_file(kFolder + "/" + name, whole);
  }
  for (const std::string& name : kFiles) {
    const std::string whole = content(name);
    disk.put_file(kFolder + "/" + name,
                  disk.content_of("/run/checkpoints/step-00000010/" + name).value());
    const Result<FoundCheckpoint> found = load_checkpoint(disk, "/run");
    EXPECT_EQ(found->checkpoint.step, 10U);
    EXPECT_EQ(found->passed_over.size(), 1U);
    disk.put_file(kFolder + "/" + name, whole);
  }
  disk.put_file(kFolder + "/model.safetensors", content("ema.safetensors"));
  EXPECT_EQ(load_checkpoint(disk, kFolder).error().code, &kCheckpointBad);
}

TEST_F(CheckpointDamageTest, AWholeCheckpointUnderAnotherStepsNameIsPassedOver) {
  disk.rename_at(-100, kFolder, "/run/checkpoints/step-00000099");
  const Result<FoundCheckpoint> found = load_checkpoint(disk, "/run");
  EXPECT_EQ(found->checkpoint.step, 10U);
  EXPECT_EQ(found->passed_over.size(), 1U);
}

TEST_F(CheckpointDamageTest, WhereNoneIsWholeTheNewestIsNamed) {
  for (const char* step : {"step-00000010", "step-00000020"})
    disk.put_file(fmt::format("/run/checkpoints/{}/state.json", step), "");
  const Result<FoundCheckpoint> found = load_checkpoint(disk, "/run");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code->name, "E-CHECKPOINT-MISSING");
  EXPECT_NE(found.error().found.find("step-00000020"), std::string::npos);
}

TEST_F(CheckpointDamageTest, AStateThatIsHostileButSealedIsRefused) {
  const std::string begin = R"(","version":1,"byte_order":"little",)";
  const std::string seal = R"({"bytes":1,"xxh3":"00000000000000000000000000000000"})";
  const std::string files = fmt::format(
      R"("files":{{"model.safetensors":{0},"ema.safetensors":{0},"optimizer.safetensors":{0}}})",
      seal);
  const std::string end = files + R"(,"state":{}})";
  std::string many = R"("x":{)";
  for (int i = 0; i < 20'000; ++i) many += fmt::format(R"("{}":1,)", i);
  for (const std::string& rest : std::vector<std::string>{
           "", "\"}", R"(","version":-1})", R"(","version":0})", R"(","version":"1"})",
           R"(","version":1e0})", begin + R"("step":-1,"figure":1,"evaluated":true,)" + end,
           begin + R"("step":20.5,"figure":1,"evaluated":true,)" + end,
           begin + R"("step":99999999999999999999,"figure":1,"evaluated":true,)" + end,
           begin + R"("step":20,"figure":NaN,"evaluated":true,)" + end,
           begin + R"("step":20,"figure":"1","evaluated":true,)" + end,
           begin + R"("step":20,"figure":1,"evaluated":1,)" + end,
           begin + R"("step":20,"figure":1,"evaluated":true,"files":{},"state":{}})",
           begin + R"("step":20,"figure":1,"evaluated":true,"files":[],"state":{}})",
           begin + R"("step":20,"figure":1,"evaluated":true,)" + files + "}",
           begin + R"("x":)" + std::string(200'000, '['),
           begin + R"("x":)" + std::string(100, '[') + std::string(100, ']') + "}",
           begin + many + R"("z":1}})"})
    ASSERT_NO_FATAL_FAILURE(expect_refused(
        "state.json", R"({"digest":")" + digest_of(rest).hex() + rest, rest.substr(0, 80)));
}

TEST_F(CheckpointDamageTest, AStateOfManyMegabytesIsNotRead) {
  disk.put_file(kFolder + "/state.json", std::string(kMaxStateBytes + 1, ' '));
  EXPECT_EQ(load_checkpoint(disk, kFolder).error().code->name, "E-IO-TOOBIG");
  EXPECT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 10U);
}

}  // namespace
}  // namespace stoker::train
