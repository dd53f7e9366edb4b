// A thread that the system does not start ends reading or making a data set with its name.
#include <gtest/gtest.h>

#include "stoker/base/errors.h"
#include "stoker/data/voice/data_set_maker.h"
#include "tests/data/data_set.h"
#include "tests/doubles/refused_threads.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::data {
namespace {

template <class Work>
const ErrorCode* code_of(Work work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  return nullptr;
}

TEST(DataThreadStartTest, AScanWithoutOneOfItsThreadsEndsWithTheRefusal) {
  DataSet data;
  constexpr std::size_t kNumRows = 100;  // a worker takes 32 at once
  std::string metadata;
  for (unsigned i = 0; i < kNumRows; ++i) {
    const std::string id = "a" + std::to_string(i);
    data.put_wav("wavs/" + id + ".wav", 2205, i);
    metadata += id + "|some text|some text\n";
  }
  data.put_metadata(metadata);
  data.options.num_workers = 4;
  for (std::uint64_t first = 0; first < 3; ++first) {
    const RefusedThreads starts(first);
    EXPECT_EQ(code_of([&] { data.scan(); }), &kThreadStart) << "thread " << first;
  }
  EXPECT_EQ(data.scan().size(), kNumRows);
}

TEST(DataThreadStartTest, MakingADataSetWithoutOneOfItsThreadsEndsWithTheRefusal) {
  const ScratchFolder scratch;
  const auto make = [&](const std::string& out) {
    return voice::make_data_set(system_io(),
                                {.out = scratch / out,
                                 .num_utterances = 12,
                                 .num_speakers = 3,
                                 .seed = 7,
                                 .num_workers = 4},
                                {}, no_progress())
        .take_or_raise();
  };
  for (std::uint64_t first = 0; first < 3; ++first) {
    const RefusedThreads starts(first);
    EXPECT_EQ(code_of([&] { make("refused" + std::to_string(first)); }), &kThreadStart);
  }
  EXPECT_EQ(make("whole").num_made, 12U);
}

}  // namespace
}  // namespace stoker::data
