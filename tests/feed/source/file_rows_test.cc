// Rows read from sound files straight into a batch: their samples, and what is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/audio/errors.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/base/clock.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/data_set_reader.h"
#include "stoker/feed/source/data_set_source.h"
#include "tests/audio/file/wav_bytes.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::feed {
namespace {

using audio::chunk;
using audio::fmt_body;
using audio::riff;
using audio::samples16;
using Pcm = std::vector<std::int16_t>;

// More than one of the reader's steps, and no whole number of them.
constexpr std::size_t kNumSamples = 100'123;
constexpr std::int16_t kUntouched = 0x5A5A;

// One utterance in one file.
class FileRow {
 public:
  explicit FileRow(const std::string& wav, config::Settings settings = {}) {
    folder_.put("wavs/a.wav", wav);
    folder_.put("metadata.csv", "a|Some words.|some words\n");
    settings.data.path = folder_.path();
    settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
    settings_ = settings;
    store_ = std::make_unique<DataSetSource>(
        DataSetSourceOptions{.settings = settings_, .io = io_, .level = SimdLevel::kScalar});
    reader_ = std::make_unique<DataSetReader>(*store_);
  }

  FaultIo& io() { return io_; }
  void put(const std::string& wav) const { folder_.put("wavs/a.wav", wav); }

  std::uint64_t bytes_read() const {
    std::uint64_t sum = 0;
    for (const auto& [path, bytes] : io_.bytes_read_by_path()) sum += bytes;
    return sum;
  }

  // What the reader writes; one sample of room beyond the planned ones stays as it was.
  Result<Pcm> read() {
    Pcm out(store_->max_samples() + 1, kUntouched);
    pipeline::FillContext context({}, activity_, system_clock(), {});
    const Result<std::uint32_t> count = reader_->read_pcm(0, out, context);
    if (!count) return count.error();
    EXPECT_EQ(out[*count], kUntouched);
    out.resize(*count);
    return out;
  }

  // The long way: into a buffer of its own.
  Pcm expected() const {
    const data::Utterance utterance = store_->index()[0];
    const File file = store_->index().open_sound(utterance).take_or_raise();
    const audio::SoundInfo info = audio::read_sound_info(file).take_or_raise();
    audio::PreparedSpeech speech(store_->speech_rule());
    const auto samples =
        speech.load(file, info, utterance.first_sample, utterance.num_samples).take_or_raise();
    return {samples.begin(), samples.end()};
  }

 private:
  ScratchFolder folder_;
  FaultIo io_;
  config::Settings settings_;
  std::unique_ptr<DataSetSource> store_;
  std::unique_ptr<DataSetReader> reader_;
  pipeline::Activity activity_;
};

std::string fmt_chunk(const audio::FmtFields& fields = {}) {
  return chunk("fmt ", fmt_body(fields));
}

TEST(FileRowsTest, EverySortOfFileGivesTheSamplesOfTheLongWay) {
  const std::string data = chunk("data", samples16(kNumSamples));
  const std::string list = chunk("LIST", "INFOISFT\x05\0\0\0abcd\0");
  config::Settings levelled;
  levelled.features.loudness = config::LoudnessRule::kPeak;
  struct Case {
    const char* name;
    std::string wav;
    config::Settings settings = {};
  };
  for (const Case& row : {
           Case{"plain", riff(fmt_chunk() + data)},
           Case{"a chunk before the samples", riff(fmt_chunk() + list + data)},
           Case{"a chunk after the samples", riff(fmt_chunk() + data + list)},
           Case{"an extensible format", riff(chunk("fmt ", audio::extensible_body({})) + data)},
           Case{"samples at an odd offset",
                riff(fmt_chunk() + chunk("JUNK", "abc", -1, false) + data)},
           Case{"a byte too many", riff(fmt_chunk() + chunk("data", samples16(5000) + "x"))},
           Case{"one sample less than a step",
                riff(fmt_chunk() + chunk("data", samples16(65'535)))},
           Case{"exactly two steps", riff(fmt_chunk() + chunk("data", samples16(131'072)))},
           Case{"two channels",
                riff(fmt_chunk({.channels = 2}) + chunk("data", samples16(kNumSamples * 2)))},
           Case{"24 bits", riff(fmt_chunk({.bits = 24}) + chunk("data", samples16(30'000)))},
           Case{"another rate", riff(fmt_chunk({.rate_hz = 16'000}) + data)},
           Case{"levelled", riff(fmt_chunk() + data), levelled},
       }) {
    SCOPED_TRACE(row.name);
    FileRow file(row.wav, row.settings);
    EXPECT_EQ(file.read().take_or_raise(), file.expected());
  }
}

TEST(FileRowsTest, ShortAndInterruptedReadsChangeNothing) {
  for (const Fault::Kind kind : {Fault::Kind::kShort, Fault::Kind::kError}) {
    FileRow file(audio::good_wav({}, samples16(kNumSamples)));
    const Pcm expected = file.expected();
    file.io().plan({.kind = kind,
                    .at_call = 2,
                    .calls = {IoCall::kRead},
                    .repeat = Fault::Repeat::kEveryNth,
                    .error_number = EINTR});
    EXPECT_EQ(file.read().take_or_raise(), expected);
    EXPECT_GT(file.io().num_fired(), 1U);
  }
}

TEST(FileRowsTest, SamplesAreReadOnce) {
  FileRow file(audio::good_wav({}, samples16(kNumSamples)));
  const std::uint64_t before = file.bytes_read();
  file.read().take_or_raise();
  const std::uint64_t read = file.bytes_read() - before;
  EXPECT_GE(read, kNumSamples * 2);
  EXPECT_LE(read, kNumSamples * 2 + 8192);
}

TEST(FileRowsTest, AFileThatIsNoLongerWhatWasIndexedIsNamed) {
  struct Case {
    const char* name;
    std::string now;
    const ErrorCode* code;
  };
  const std::string good = audio::good_wav({}, samples16(kNumSamples));
  for (const Case& row :
       {Case{"fewer samples", audio::good_wav({}, samples16(kNumSamples - 1)), &kFeedFileChanged},
        Case{"more samples", audio::good_wav({}, samples16(kNumSamples + 1)), &kFeedFileChanged},
        Case{"another rate", audio::good_wav({.rate_hz = 16'000}, samples16(kNumSamples)),
             &kFeedFileChanged},
        Case{"cut short", good.substr(0, 150'001), &audio::kWavTrunc},
        Case{"empty", "", &audio::kWavEmpty},
        Case{"a broken chunk after the samples",
             riff(fmt_chunk() + chunk("data", samples16(kNumSamples)) + chunk("LIST", "abcd", 400)),
             &audio::kWavChunk}}) {
    SCOPED_TRACE(row.name);
    FileRow file(good);
    file.put(row.now);
    const Result<Pcm> read = file.read();
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, row.code) << error_line(read.error());
    EXPECT_NE(read.error().place.file.find("wavs/a.wav"), std::string::npos);
  }
}

TEST(FileRowsTest, AReadErrorNamesThePlaceWhereItStruck) {
  FileRow file(audio::good_wav({}, samples16(kNumSamples)));
  // Two reads of the header, then the samples step by step: the second step fails.
  file.io().plan({.at_call = 4, .calls = {IoCall::kRead}, .error_number = EIO});
  const Result<Pcm> read = file.read();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code->exit, ExitCode::kStorage);
  EXPECT_EQ(read.error().place.byte, 44U + 131'072);
}

}  // namespace
}  // namespace stoker::feed
