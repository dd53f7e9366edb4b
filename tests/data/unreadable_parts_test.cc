// A file of a data set that cannot be looked at ends the run; it is never taken for absent, which
// would drop speakers, parts or a whole layout without a word.
#include <gtest/gtest.h>

#include <functional>

#include "tests/data/data_set.h"
#include "tests/doubles/fault_io.h"

namespace stoker::data {
namespace {

struct FolderKind {
  const char* name;
  std::function<void(const DataSet&)> fill;
  Split split = Split::kAll;
};

void PrintTo(const FolderKind& kind, std::ostream* out) { *out << kind.name; }

std::string kaldi_lines(const char* value) {
  return std::string("ann-1 ") + value + "1\nbob-2 " + value + "2\n";
}

const FolderKind kKinds[] = {
    {"split_list",
     [](const DataSet& data) {
       data.put_ids({"a", "b", "c"});
       data.put_metadata("a|some text\nb|some text\nc|some text\n");
       data.folder.put("splits.txt", "a|train\nb|eval\nc|unused\n");
     },
     Split::kTrain},
    {"kaldi_speakers",
     [](const DataSet& data) {
       data.put_wav("x1.wav", 22050, 1);
       data.put_wav("x2.wav", 22050, 2);
       data.folder.put("wav.scp", "ann-1 x1.wav\nbob-2 x2.wav\n");
       data.folder.put("text", kaldi_lines("some text "));
       data.folder.put("utt2spk", kaldi_lines("speaker"));
     }},
    {"part_files",
     [](const DataSet& data) {
       data.put_wav("clips/a.wav", 22050, 1);
       data.put_wav("clips/b.wav", 22050, 2);
       data.folder.put("train.tsv", "path\tsentence\na.wav\tsome text\n");
       data.folder.put("dev.tsv", "path\tsentence\nb.wav\tsome text\n");
       data.folder.put("validated.tsv", "path\tsentence\na.wav\tsome text\nb.wav\tsome text\n");
     },
     Split::kTrain},
    {"texts_beside_sounds",
     [](const DataSet& data) {
       data.put_wav("ann/one/a.wav", 22050, 1);
       data.put_wav("bob/two/b.wav", 22050, 2);
       data.folder.put("ann/one/a.normalized.txt", "some text");
       data.folder.put("bob/two/b.normalized.txt", "some text");
     }},
};

class UnreadablePartsTest : public testing::TestWithParam<FolderKind> {};

// What a trainer would get: every utterance with its text and speaker.
std::string contents(const Index& index) {
  std::string out;
  for (std::size_t i = 0; i < index.size(); ++i)
    out += std::string(index[i].id) + "|" + std::string(index[i].text) + "|" +
           std::to_string(index[i].speaker) + "\n";
  return out;
}

TEST_P(UnreadablePartsTest, EveryFailedLookEndsTheRunOrChangesNothing) {
  DataSet data;
  GetParam().fill(data);
  data.options.splits.split = GetParam().split;
  const std::string whole = contents(data.scan());
  ASSERT_FALSE(whole.empty());
  unsigned num_ended = 0;
  for (const IoCall call : {IoCall::kInfoAt, IoCall::kList}) {
    for (std::uint64_t at_call = 1;; ++at_call) {
      FaultIo io;
      io.plan({.at_call = at_call, .calls = {call}, .error_number = EIO});
      try {
        EXPECT_EQ(contents(scan_index(data.options, io)), whole) << "call " << at_call;
      } catch (const Failure&) {
        ++num_ended;
      }
      if (io.num_fired() == 0) break;
    }
  }
  EXPECT_GT(num_ended, 0U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, UnreadablePartsTest, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace stoker::data
