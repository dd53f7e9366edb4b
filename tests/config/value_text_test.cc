#include <gmock/gmock.h>

#include "stoker/config/errors.h"
#include "stoker/config/value_text.h"
#include "tests/config/load_from_text.h"

namespace stoker::config {
namespace {

using testing::HasSubstr;

struct BadValue {
  std::string name;
  std::string yaml;
  std::string code;
  std::string key;    // named in the message
  std::string value;  // named in the message
};

class BadValueTest : public testing::TestWithParam<BadValue> {};

TEST_P(BadValueTest, NamesKeyValueAndWhatIsAllowed) {
  const BadValue& bad = GetParam();
  const Error error = load_error(bad.yaml);
  EXPECT_EQ(code_of(error), bad.code);
  const std::string message = error.promised + " " + error.found;
  EXPECT_THAT(message, HasSubstr(bad.key));
  EXPECT_THAT(message, HasSubstr(bad.value));
  EXPECT_TRUE(error.place.line.has_value()) << message;
}

constexpr const char* kValue = "E-CONFIG-VALUE";
constexpr const char* kRange = "E-CONFIG-RANGE";

INSTANTIATE_TEST_SUITE_P(
    RowD5, BadValueTest,
    testing::Values(
        BadValue{"Octal", "data: {batch_size: 010}", kValue, "data.batch_size", "010"},
        BadValue{"Yes", "data: {batch_size: yes}", kValue, "data.batch_size", "yes"},
        BadValue{"YesForSwitch", "data: {shuffle: yes}", kValue, "data.shuffle", "yes"},
        BadValue{"OneForSwitch", "data: {shuffle: 1}", kValue, "data.shuffle", "1"},
        BadValue{"CapitalTrue", "data: {shuffle: True}", kValue, "data.shuffle", "True"},
        BadValue{"Hex", "data: {batch_size: 0x10}", kValue, "data.batch_size", "0x10"},
        BadValue{"Underscore", "data: {batch_size: 1_000}", kValue, "data.batch_size", "1_000"},
        BadValue{"FloatForInt", "features: {sample_rate: 22050.0}", kValue, "features.sample_rate",
                 "22050.0"},
        BadValue{"ExponentForInt", "data: {batch_size: 1e3}", kValue, "data.batch_size", "1e3"},
        BadValue{"QuotedInt", "data: {batch_size: \"8\"}", kValue, "data.batch_size", "\"8\""},
        BadValue{"Plus", "data: {batch_size: +8}", kValue, "data.batch_size", "+8"},
        BadValue{"Overflow", "training: {learning_rate: 1e400}", kValue, "training.learning_rate",
                 "1e400"},
        BadValue{"NotANumber", "training: {learning_rate: .nan}", kValue, "training.learning_rate",
                 ".nan"},
        BadValue{"Infinity", "training: {learning_rate: .inf}", kValue, "training.learning_rate",
                 ".inf"},
        BadValue{"HugeInt", "data: {batch_size: 99999999999999999999}", kRange, "data.batch_size",
                 "99999999999999999999"},
        BadValue{"ListForInt", "data: {batch_size: [8]}", kValue, "data.batch_size", "a list"},
        BadValue{"MapForText", "data: {path: {a: b}}", kValue, "data.path", "a group"},
        BadValue{"Size", "data: {buffer_memory: 8GB}", kValue, "data.buffer_memory", "8GB"},
        BadValue{"HugeSize", "data: {buffer_memory: 99999999999TiB}", kRange, "data.buffer_memory",
                 "99999999999TiB"},
        BadValue{"Choice", "data: {bad_inputs: ignore}", kValue, "data.bad_inputs", "ignore"},
        BadValue{"Pair", "augment: {pitch_shift_range: [1]}", kValue, "augment.pitch_shift_range",
                 "a list"},
        BadValue{"PairReversed", "augment: {pitch_shift_range: [2, -2]}", kRange,
                 "augment.pitch_shift_range", "[2, -2]"},
        BadValue{"SourceKey", "data: {sources: [{dtaa: x}]}", kValue, "data.sources", "dtaa"},
        BadValue{"SourceWithoutData", "data: {sources: [{weight: 1}]}", kValue, "data.sources",
                 "a group"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    RowD6, BadValueTest,
    testing::Values(
        BadValue{"HopZero", "features: {hop_length: 0}", kRange, "features.hop_length", "0"},
        BadValue{"FftZero", "features: {n_fft: 0}", kRange, "features.n_fft", "64 and 8192"},
        BadValue{"WorkersNegative", "data: {num_workers: -1}", kRange, "data.num_workers", "-1"},
        BadValue{"WorkersMany", "data: {num_workers: 1000000000}", kRange, "data.num_workers",
                 "0 and 1024"},
        BadValue{"BatchZero", "data: {batch_size: 0}", kRange, "data.batch_size", "1 and 65536"},
        BadValue{"HopOverWin", "features: {hop_length: 2048}", "E-CONFIG-CONFLICT",
                 "features.hop_length", "2048"},
        BadValue{"WinOverFft", "features: {win_length: 2048}", "E-CONFIG-CONFLICT",
                 "features.win_length", "2048"},
        BadValue{"FminOverFmax", "features: {fmin: 9000}", "E-CONFIG-CONFLICT", "features.fmin",
                 "9000"},
        BadValue{"FmaxOverNyquist", "features: {fmax: 12000}", "E-CONFIG-CONFLICT", "features.fmax",
                 "11025"},
        BadValue{"Splits", "data: {train_split: 0.9, val_split: 0.2}", "E-CONFIG-CONFLICT",
                 "data.val_split", "0.2"},
        BadValue{"Rank", "data: {rank: 4, world_size: 4}", "E-CONFIG-CONFLICT", "data.rank", "4"},
        BadValue{"Device", "device: gpu", kValue, "device", "gpu"},
        BadValue{"BothBatchSizes", "data: {batch_size: 8, batch_frames: 1000}", "E-CONFIG-CONFLICT",
                 "data.batch_frames", "data.batch_size"}),
    [](const auto& row) { return row.param.name; });

TEST(ValueTextTest, ExponentIsANumber) {
  EXPECT_EQ(load_from_text("training: {learning_rate: 1e-4}").settings.optimizer.learning_rate,
            1e-4);
}

TEST(ValueTextTest, SizesHaveUnits) {
  const auto bytes = [](const std::string& text) {
    return load_from_text("data: {buffer_memory: " + text + "}")
        .settings.loader.buffer_memory->count;
  };
  EXPECT_EQ(bytes("8GiB"), 8 * kGiB);
  EXPECT_EQ(bytes("512MiB"), 512 * kMiB);
  EXPECT_EQ(bytes("2097152"), 2 * kMiB);
  EXPECT_EQ(bytes("2048 KiB"), 2 * kMiB);
}

TEST(ValueTextTest, PlainNumberOfGpuMemoryIsMiB) {
  const auto loaded = load_from_text("gpu: {data_gpu_memory: 8192}");
  EXPECT_EQ(loaded.settings.gpu.data_gpu_memory->count, 8 * kGiB);
}

TEST(ValueTextTest, ListsGroupsAndSourcesAreRead) {
  const auto loaded = load_from_text(
      "data:\n  sources: [{data: a, weight: 2}, {data: b, language: fa}]\n"
      "  columns: {audio: path, text: sentence}\n  arrays: [f0, codes]\n");
  const DataSettings& data = loaded.settings.data;
  ASSERT_EQ(data.sources.size(), 2U);
  EXPECT_EQ(data.sources[0], (MixedSource{"a", 2.0, "", ""}));
  EXPECT_EQ(data.sources[1], (MixedSource{"b", 1.0, "", "fa"}));
  EXPECT_EQ(data.columns.at("text"), "sentence");
  EXPECT_EQ(loaded.settings.batch.arrays, (std::vector<std::string>{"f0", "codes"}));
}

TEST(ValueTextTest, WrongChoiceNamesTheNearest) {
  EXPECT_THAT(load_error("features: {preset: hifigna}").cure, HasSubstr("hifigan"));
}

TEST(ValueTextTest, NumbersAreWrittenInTheirShortestForm) {
  EXPECT_EQ(write_json(0.1), "0.1");
  EXPECT_EQ(write_json(1e-4), "1e-04");
  EXPECT_EQ(write_json(Bytes{8 * kGiB}), "\"8GiB\"");
  EXPECT_EQ(write_json(Bytes{1000}), "\"1000B\"");
}

}  // namespace
}  // namespace stoker::config
