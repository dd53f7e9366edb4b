// Splits, subsets, speakers, limits, the bound, the digest: what an index is a function of.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stoker/data/errors.h"
#include "tests/data/data_set.h"
#include "tests/doubles/fault_io.h"

namespace stoker::data {
namespace {

std::string numbered_rows(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += "id" + std::to_string(i) + "|x|some text\n";
  return out;
}

std::set<std::string> ids_of(const Index& index) {
  std::set<std::string> out;
  for (std::size_t i = 0; i < index.size(); ++i) out.emplace(index[i].id);
  return out;
}

TEST(IndexTest, SplitsPartTheIdsAndSurviveRowsComingAndGoing) {
  DataSet data;
  data.options.check = FileCheck::kNone;
  data.put_metadata(numbered_rows(2000));
  data.options.splits.split = Split::kEval;
  const auto eval = ids_of(data.scan());
  data.options.splits.split = Split::kTrain;
  const Index train = data.scan();
  EXPECT_EQ(eval.size() + train.size(), 2000U);
  EXPECT_NEAR(static_cast<double>(eval.size()), 200.0, 45.0);
  EXPECT_EQ(train.counts().filtered, eval.size());
  EXPECT_EQ(train.counts().rejected, 0U);
  data.put_metadata(numbered_rows(4000));
  data.options.splits.split = Split::kEval;
  const auto later = ids_of(data.scan());
  EXPECT_TRUE(std::includes(later.begin(), later.end(), eval.begin(), eval.end()));
}

TEST(IndexTest, SubsetsAreNestedAndSeeded) {
  DataSet data;
  data.options.check = FileCheck::kNone;
  data.put_metadata(numbered_rows(2000));
  data.options.splits.train_subset_fraction = data.options.splits.eval_subset_fraction = 0.25;
  const auto quarter = ids_of(data.scan());
  data.options.splits.train_subset_fraction = data.options.splits.eval_subset_fraction = 0.5;
  const auto half = ids_of(data.scan());
  EXPECT_NEAR(static_cast<double>(quarter.size()), 500.0, 80.0);
  EXPECT_TRUE(std::includes(half.begin(), half.end(), quarter.begin(), quarter.end()));
  data.options.splits.subset_seed = 43;
  EXPECT_NE(ids_of(data.scan()), half);
}

TEST(IndexTest, SpeakersGetNumbersInOrderOfAppearance) {
  DataSet data;
  data.put_ids({"spk2_a", "spk1_a", "spk2_b"});
  data.put_metadata("spk9_gone|x|y\nspk2_a|x|some\nspk1_a|x|some\nspk2_b|x|some\n");
  data.options.speakers.from = SpeakerSource::kIds;
  const Index index = data.scan();
  EXPECT_EQ(std::vector<std::string>(index.speakers().begin(), index.speakers().end()),
            (std::vector<std::string>{"spk2", "spk1"}));
  EXPECT_EQ(index[1].speaker, 1U);
  EXPECT_EQ(index[2].speaker, 0U);
  data.options.speakers.max_speakers = 1;
  EXPECT_THROW(data.scan(), DataError);
}

TEST(IndexTest, LimitsFilterAndNeverReject) {
  DataSet data;
  data.put_wav("wavs/a.wav", 22050, 1);
  data.put_wav("wavs/b.wav", 44100, 2);
  data.put_metadata("a|x|some text\nb|x|some longer text\n");
  data.options.limits.max_duration_s = 1.5;
  EXPECT_EQ(ids_of(data.scan()), std::set<std::string>{"a"});
  data.options.limits = {.min_duration_s = 1.5};
  EXPECT_EQ(ids_of(data.scan()), std::set<std::string>{"b"});
  data.options.limits = {.max_text_length = 10};
  EXPECT_EQ(ids_of(data.scan()), std::set<std::string>{"a"});
  data.options.limits = {.max_mel_frames = 86};
  const Index index = data.scan();
  EXPECT_EQ(ids_of(index), std::set<std::string>{"a"});
  EXPECT_EQ(index.counts().filtered, 1U);
  EXPECT_EQ(index.counts().rejected, 0U);
  EXPECT_FALSE(index.refusal());
}

TEST(IndexTest, TheBoundIsAShareButAtLeastEightRows) {
  for (const auto& [num_bad, refused] : {std::pair{8, false}, std::pair{9, true}}) {
    const DataSet data;
    std::string rows = numbered_rows(20);
    for (int i = 0; i < num_bad; ++i) rows += "lost\n";
    data.put_metadata(rows);
    IndexOptions options = data.options;
    options.check = FileCheck::kNone;
    EXPECT_EQ(scan_index(options, system_io()).refusal().has_value(), refused) << num_bad;
    options.max_bad_fraction = 0.5;
    EXPECT_FALSE(scan_index(options, system_io()).refusal());
    options.bad_inputs = BadInputs::kFail;
    EXPECT_THROW(open_index(options, system_io()), DataError);
  }
}

TEST(IndexTest, TheDigestIsOfWhatIsUsedAndNothingElse) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata("a|x|some text\nb|x|more text\n");
  const Digest128 first = data.scan().data_digest();
  data.put_metadata("a|other raw|some text\nlost\nb|x|more text\n");
  EXPECT_EQ(data.scan().data_digest(), first);
  data.put_metadata("a|x|some texts\nb|x|more text\n");
  EXPECT_NE(data.scan().data_digest(), first);
  data.put_metadata("a|x|some text\nb|x|more text\n");
  data.put_wav("wavs/a.wav", 22051, 2);
  EXPECT_NE(data.scan().data_digest(), first);
}

TEST(IndexTest, TheResultDoesNotDependOnTheNumberOfThreads) {
  DataSet data;
  std::string rows;
  for (unsigned i = 0; i < 300; ++i) {
    const std::string id = "id" + std::to_string(i);
    rows += id + "|x|some text\n";
    if (i % 7 != 0) data.put_wav("wavs/" + id + ".wav", 300 + i % 3 * 22050, i);
    if (i % 11 == 0) data.folder.put("wavs/" + id + ".wav", "not a wav");
  }
  data.put_metadata(rows);
  std::vector<std::string> results;
  for (const unsigned num_workers : {1U, 2U, 7U}) {
    data.options.num_workers = num_workers;
    const Index index = data.scan();
    results.push_back(rejects_jsonl(index.account().rejects()) + index.data_digest().hex());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(IndexTest, AReadErrorRejectsThatRowAndTheOthersGoOn) {
  DataSet data;
  data.put_ids({"a", "b", "c"});
  data.put_metadata("a|x|some text\nb|x|some text\nc|x|some text\n");
  data.options.num_workers = 1;
  FaultIo io;
  io.plan({.at_call = 6, .calls = {IoCall::kRead}, .error_number = EIO});
  const Index index = scan_index(data.options, io);
  ASSERT_EQ(index.rejects().size(), 1U);
  EXPECT_EQ(index.rejects()[0].error.code->name, "E-IO-FAILED");
  EXPECT_TRUE(index.rejects()[0].error.place.byte.has_value());
  EXPECT_EQ(index.size(), 2U);
}

TEST(IndexTest, EveryFailedCallIsAnErrorOrARejectAndNothingLeaks) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata("a|x|some text\nb|x|some text\n");
  data.options.num_workers = 1;
  for (std::uint64_t nth = 1;; ++nth) {
    FaultIo io;
    io.plan({.at_call = nth, .error_number = EIO});
    std::uint64_t rows = 2;
    try {
      const Index index = scan_index(data.options, io);
      rows = index.counts().accepted + index.counts().filtered + index.counts().rejected;
    } catch (const Failure& failure) {
      EXPECT_FALSE(failure.error().found.empty());
    }
    EXPECT_EQ(rows, 2U) << nth;
    EXPECT_EQ(io.num_open_handles(), 0U) << nth;
    if (io.num_fired() == 0) break;
    ASSERT_LT(nth, 200U);
  }
}

TEST(IndexTest, NothingIsOpenedForAPathThatLeaves) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("../../etc/passwd|x|y\n/etc/passwd|x|y\n..\\x|x|y\n");
  FaultIo leaving;
  EXPECT_EQ(scan_index(data.options, leaving).counts().rejected, 3U);
  data.put_metadata("lost\n");
  FaultIo empty;
  scan_index(data.options, empty);
  EXPECT_EQ(leaving.num_calls(IoCall::kOpen), empty.num_calls(IoCall::kOpen));
}

TEST(IndexTest, AStopEndsTheWork) {
  DataSet data;
  data.put_metadata(numbered_rows(10'000));
  data.options.check = FileCheck::kNone;
  std::stop_source stop;
  stop.request_stop();
  try {
    scan_index(data.options, system_io(), stop.get_token());
    FAIL() << "10,000 rows were read";
  } catch (const DataError& failure) {
    EXPECT_EQ(failure.error().code, &kDataStopped);
    EXPECT_EQ(help_line(failure.error()), "help: run the same command again");
  }
}

}  // namespace
}  // namespace stoker::data
