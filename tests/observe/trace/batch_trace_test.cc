// What a trace says of records: every slice in its track, nothing on top of another, flows with
// both ends.
#include "stoker/observe/trace/batch_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/observe/trace/made_batches.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

// Keeps what it is told.
class KeepingEncoder final : public TraceEncoder {
 public:
  struct Slice {
    std::string track, name;
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint64_t flow = 0;
    FlowPart part = FlowPart::kNone;
    std::map<std::string, std::string> texts;
    std::map<std::string, std::int64_t> numbers;
  };

  void head(const TraceHead&) override { ++num_heads; }
  void track(const TraceTrack& track) override { names[track.id] = track.name; }
  void open(const TraceSlice& slice) override {
    check_nesting(slice);
    stacks_[slice.track].push_back(slice.end_ns);
    slices.push_back(kept(slice));
  }
  void close(const TraceSlice& slice) override {
    ASSERT_FALSE(stacks_[slice.track].empty());
    EXPECT_EQ(stacks_[slice.track].back(), slice.end_ns);
    stacks_[slice.track].pop_back();
    last_end_ns_[slice.track] = slice.end_ns;
  }
  void instant(const TraceSlice& moment) override { instants.push_back(kept(moment)); }
  void counter(std::uint32_t track, std::int64_t at_ns, double value) override {
    counters[names.at(track)].emplace_back(at_ns, value);
  }

  std::vector<Slice> all(const std::string& track, const std::string& name) const {
    std::vector<Slice> found;
    for (const Slice& slice : slices)
      if (slice.track == track && slice.name == name) found.push_back(slice);
    return found;
  }

  int num_heads = 0;
  std::map<std::uint32_t, std::string> names;
  std::vector<Slice> slices, instants;
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> counters;

 private:
  Slice kept(const TraceSlice& slice) const {
    Slice out{names.at(slice.track),
              std::string(slice.name),
              slice.begin_ns,
              slice.end_ns,
              slice.flow,
              slice.part,
              {},
              {}};
    for (const TraceArgument& each : slice.arguments) {
      if (const auto* text = std::get_if<std::string_view>(&each.value))
        out.texts[std::string(each.name)] = *text;
      if (const auto* number = std::get_if<std::int64_t>(&each.value))
        out.numbers[std::string(each.name)] = *number;
    }
    return out;
  }
  void check_nesting(const TraceSlice& slice) {
    EXPECT_LE(slice.begin_ns, slice.end_ns) << slice.name;
    EXPECT_GE(slice.begin_ns, last_end_ns_[slice.track]) << slice.name;
    if (stacks_[slice.track].empty()) return;
    EXPECT_LE(slice.end_ns, stacks_[slice.track].back()) << slice.name;
  }

  std::map<std::uint32_t, std::vector<std::int64_t>> stacks_;
  std::map<std::uint32_t, std::int64_t> last_end_ns_;
};

struct Traced {
  explicit Traced(const std::vector<feed::BatchRecord>& records) {
    BatchTrace trace(encoder, {.pid = 7});
    for (const feed::BatchRecord& record : records) trace.add(record);
    trace.finish();
  }
  KeepingEncoder encoder;
};

TEST(BatchTraceTest, AWorkerHasItsStagesOneAfterTheOtherAsLongAsTheyTook) {
  const Traced traced(made_batches(3));
  const auto fills = traced.encoder.all("worker 0", "batch");
  ASSERT_EQ(fills.size(), 2U);
  EXPECT_EQ(fills[0].end_ns - fills[0].begin_ns, 8 * kMs);
  EXPECT_EQ(fills[1].numbers.at("batch"), 2);
  EXPECT_EQ(fills[1].texts.at("slowest_file"), "wavs/slow.wav");
  const auto fetches = traced.encoder.all("worker 0", "fetch");
  const auto mels = traced.encoder.all("worker 0", "mel");
  ASSERT_EQ(fetches.size(), 2U);
  EXPECT_EQ(fetches[0].begin_ns, kStartNs - 9 * kMs);
  EXPECT_EQ(fetches[0].end_ns - fetches[0].begin_ns, 2 * kMs);
  EXPECT_EQ(mels[0].begin_ns, fetches[0].end_ns);
  EXPECT_EQ(mels[0].end_ns, fills[0].end_ns);
  EXPECT_TRUE(traced.encoder.all("worker 0", "decode").empty());
  EXPECT_EQ(traced.encoder.num_heads, 1);
}

TEST(BatchTraceTest, TheConsumerWaitsAndThenStepsUntilItAsksAgain) {
  const Traced traced(made_batches(3));
  const auto waits = traced.encoder.all("consumer", "wait");
  const auto steps = traced.encoder.all("consumer", "step");
  ASSERT_EQ(waits.size(), 3U);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(waits[1].begin_ns, kStartNs + 10 * kMs);
  EXPECT_EQ(waits[1].end_ns, kStartNs + 11 * kMs);
  EXPECT_EQ(steps[1].begin_ns, waits[1].end_ns);
  EXPECT_EQ(steps[1].end_ns, waits[2].begin_ns);
  EXPECT_EQ(steps[2].end_ns, kStartNs + 30 * kMs) << "the last one, when it was given back";
  EXPECT_EQ(traced.encoder.counters.at("ready batches").size(), 3U);
}

TEST(BatchTraceTest, AFlowLeadsFromTheSlowestFileToTheStep) {
  const Traced traced(made_batches(2));
  std::vector<std::pair<std::string, FlowPart>> way;
  for (const auto& slice : traced.encoder.slices)
    if (slice.flow == 2 && slice.part != FlowPart::kNone) way.emplace_back(slice.name, slice.part);
  const std::vector<std::pair<std::string, FlowPart>> expected{
      {"slowest file", FlowPart::kBegin}, {"wait", FlowPart::kThrough}, {"step", FlowPart::kEnd}};
  EXPECT_EQ(way, expected);
  EXPECT_EQ(traced.encoder.all("worker 1", "slowest file").at(0).texts.at("file"), "wavs/slow.wav");
}

TEST(BatchTraceTest, WhatTheConsumerDidBesideItsStepIsInTheStep) {
  std::vector<feed::BatchRecord> records = made_batches(3);
  records[1].works_ns[static_cast<std::size_t>(feed::ConsumerWork::kLogging)] = 2 * kMs;
  records[1].works_ns[static_cast<std::size_t>(feed::ConsumerWork::kCheckpoint)] = 3 * kMs;
  records[2].works_ns[static_cast<std::size_t>(feed::ConsumerWork::kValidation)] = 50 * kMs;
  const Traced traced(records);
  const auto logging = traced.encoder.all("consumer", "logging");
  const auto saving = traced.encoder.all("consumer", "checkpoint");
  ASSERT_EQ(logging.size(), 1U);
  EXPECT_EQ(logging[0].end_ns - logging[0].begin_ns, 2 * kMs);
  EXPECT_EQ(saving.at(0).end_ns, kStartNs + 10 * kMs);
  EXPECT_EQ(traced.encoder.all("consumer", "validation").at(0).begin_ns, kStartNs + 11 * kMs)
      << "no longer than the step";
}

TEST(BatchTraceTest, WithoutWorkersTheConsumersWaitHoldsTheStages) {
  std::vector<feed::BatchRecord> records = made_batches(2);
  for (feed::BatchRecord& record : records) {
    record.worker = -1;
    record.num_workers = 0;
    const std::int64_t begin_ns = record.asked_ns;
    record.handed_ns = begin_ns + 8 * kMs;
    stage_of(record, RecordStage::kFetch).begin_ns = begin_ns;
    stage_of(record, RecordStage::kMel).begin_ns = begin_ns + kMs;
  }
  const Traced traced(records);
  ASSERT_EQ(traced.encoder.all("consumer", "mel").size(), 2U);
  EXPECT_EQ(traced.encoder.all("consumer", "wait").at(0).numbers.at("rows"), 8);
  EXPECT_EQ(traced.encoder.names.size(), 2U) << "the consumer and what is ready";
}

TEST(BatchTraceTest, CopiesAndKernelsOfAGpuHaveTracksOfTheirOwn) {
  std::vector<feed::BatchRecord> records = made_batches(2);
  for (feed::BatchRecord& record : records) {
    // Both were enqueued at once, and the second batch before the first one's copy had ended.
    const std::int64_t at_ns = kStartNs + static_cast<std::int64_t>(record.number) * kMs;
    stage_of(record, RecordStage::kCopy) = {at_ns, at_ns + 5 * kMs, 2 * kMs};
    stage_of(record, RecordStage::kKernel) = {at_ns, at_ns + 5 * kMs, kMs};
    stage_of(record, RecordStage::kWaitSlot) = {at_ns - kMs, at_ns, kMs};
  }
  const Traced traced(records);
  const auto copies = traced.encoder.all("GPU copies", "copy");
  const auto kernels = traced.encoder.all("GPU kernels", "kernel");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[1].begin_ns, copies[0].end_ns);
  EXPECT_EQ(copies[1].end_ns - copies[1].begin_ns, 2 * kMs);
  EXPECT_EQ(kernels.at(0).begin_ns, copies[0].end_ns);
  EXPECT_EQ(kernels[0].part, FlowPart::kThrough);
  EXPECT_EQ(traced.encoder.all("upload thread", "wait_for_slot").size(), 2U);
}

TEST(BatchTraceTest, LostRecordsAreSaidAndTheStepBeforeEndsWhenItsBatchWasGivenBack) {
  KeepingEncoder encoder;
  BatchTrace trace(encoder, {});
  trace.add(made_batch(0));
  trace.add_lost(4, made_batch(5).asked_ns);
  trace.add(made_batch(5));
  trace.finish();
  ASSERT_EQ(encoder.instants.size(), 1U);
  EXPECT_EQ(encoder.instants[0].name, "records lost");
  EXPECT_EQ(encoder.instants[0].numbers.at("records"), 4);
  EXPECT_EQ(encoder.all("consumer", "step").at(0).end_ns, kStartNs + 10 * kMs);
}

TEST(BatchTraceTest, TheMachinesFiguresAreCountersWhereTheyAreKnown) {
  KeepingEncoder encoder;
  BatchTrace trace(encoder, {});
  MachineWindow window;
  window.cpu.own_cores = 1.5;
  window.storage.device_read_bytes_per_s = 4e6;
  trace.add(window, kStartNs);
  window.gpu.emplace();
  window.gpu->utilization_percent = 93;
  trace.add(window, kStartNs + kMs);
  trace.add(window, kStartNs) /* a clock that went back */;
  EXPECT_EQ(encoder.counters.at("disk read bytes/s").size(), 2U);
  EXPECT_EQ(encoder.counters.at("GPU %").at(0),
            (std::pair<std::int64_t, double>(kStartNs + kMs, 93)));
  EXPECT_FALSE(encoder.counters.contains("GPU power W"));
}

}  // namespace
}  // namespace stoker::observe
