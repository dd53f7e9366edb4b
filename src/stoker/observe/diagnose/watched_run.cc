#include "stoker/observe/diagnose/watched_run.h"

#include <algorithm>
#include <utility>

#include "stoker/base/machine_figures.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/stream.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/observe/feed_consumer.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;

constexpr double kNsPerS = 1e9;

std::int64_t now_ns() { return system_clock().now().count(); }

class StandIn final : public WatchedConsumer {
 public:
  explicit StandIn(double step_s) : step_s_(step_s) {
    if (step_s > 0) pacer_.emplace();
  }
  void step(feed::Batch batch, feed::Feed&) override {
    const double got_s = pacer_ ? pacer_->now_s() : 0;
    touch_rows(count_batch(batch));
    if (!pacer_) return;
    pacer_->pass_until(got_s + step_s_);
  }

 private:
  double step_s_;
  std::optional<StepPacer> pacer_;
};

class DeviceStandIn final : public WatchedConsumer {
 public:
  DeviceStandIn(int device, double step_s)
      : step_s_(step_s),
        stream_(device, cuda::StreamPriority::kNormal),
        arrived_(device, cuda::EventUse::kOrder) {
    if (step_s > 0) pacer_.emplace();
  }
  ~DeviceStandIn() override { stream_.synchronize_quietly(); }

  void step(feed::Batch batch, feed::Feed&) override {
    if (batch.device().is_cpu()) return;
    batch.wait(stream_);
    arrived_.record(stream_);
    if (pacer_) {
      while (!arrived_.is_done()) {
      }
      pacer_->pass_until(pacer_->now_s() + step_s_);
    }
    batch.release(stream_);
  }
  void rest() override { stream_.synchronize(); }

 private:
  double step_s_;
  std::optional<StepPacer> pacer_;
  cuda::Stream stream_;
  cuda::Event arrived_;
};

// The feed's own records, read before the ring forgets them.
class RingRecords {
 public:
  explicit RingRecords(const feed::Feed& feed) : reader_(feed.records()) {
    if (reader_) next_ = reader_->num_written().take_or_raise();
  }
  bool are_there() const { return reader_.has_value(); }

  void read_now_and_then(std::uint64_t num_taken) {
    constexpr std::uint64_t kEvery = 1024;
    if (num_taken % kEvery == kEvery - 1) read();
  }
  std::vector<BatchRecord> finish() {
    read();
    return std::move(records_);
  }

 private:
  void read() { next_ = reader_->read_since(next_, records_).take_or_raise().next; }

  std::optional<feed::RecordReader> reader_;
  std::uint64_t next_ = 0;
  std::vector<BatchRecord> records_;
};

// Where the feed keeps no records (its stages are the first of a record's): the consumer's side is
// seen here, the workers' as means.
class OwnRecords {
 public:
  explicit OwnRecords(const feed::Feed& feed)
      : feed_(feed),
        before_(feed.stats()),
        cpu_before_s_(process_cpu_s()),
        own_before_s_(thread_cpu_s()) {}

  void add(const feed::Batch& batch, std::int64_t asked_ns) {
    BatchRecord record;
    record.number = records_.size();
    record.epoch = batch.epoch();
    record.batch = batch.index();
    record.num_rows = static_cast<std::uint32_t>(batch.num_rows());
    record.num_frames = static_cast<std::uint32_t>(batch.counts().true_frames);
    record.padded_frames = static_cast<std::uint32_t>(batch.counts().all_frames);
    record.shape = batch.shape().num_frames;
    record.num_workers = feed_.num_workers();
    record.num_held = 1;
    record.asked_ns = asked_ns;
    record.handed_ns = now_ns();
    records_.push_back(record);
  }

  std::vector<BatchRecord> finish() {
    const feed::FeedStats after = feed_.stats();
    const auto count = static_cast<double>(std::max<std::size_t>(1, records_.size()));
    const double cpu_s = (process_cpu_s() - cpu_before_s_) - (thread_cpu_s() - own_before_s_);
    for (std::size_t i = 0; i < after.pipeline.stages.size(); ++i) {
      const double busy_s = after.pipeline.stages[i].busy_s - before_.pipeline.stages[i].busy_s;
      for (BatchRecord& record : records_)
        record.stages[i].busy_ns = static_cast<std::int64_t>(kNsPerS * busy_s / count);
    }
    for (BatchRecord& record : records_)
      record.worker_cpu_ns = static_cast<std::int64_t>(kNsPerS * cpu_s / count);
    return std::move(records_);
  }

 private:
  const feed::Feed& feed_;
  feed::FeedStats before_;
  double cpu_before_s_, own_before_s_;
  std::vector<BatchRecord> records_;
};

}  // namespace

std::unique_ptr<WatchedConsumer> make_stand_in(const feed::OpenedFeed& opened, double step_s) {
  if (opened.mode.choice.mode == feed::GpuMode::kCpu) return std::make_unique<StandIn>(step_s);
  return std::make_unique<DeviceStandIn>(opened.mode.choice.model_device, step_s);
}

std::vector<BatchRecord> watch_batches(feed::Feed& feed, WatchedConsumer& consumer,
                                       const WatchOptions& options) {
  RingRecords kept(feed);
  OwnRecords own(feed);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < options.max_batches && watch.seconds() < options.seconds; ++i) {
    const std::int64_t asked_ns = now_ns();
    std::optional<feed::Batch> batch = next_of_any_epoch(feed, options.stop);
    if (!batch) break;
    if (kept.are_there()) {
      kept.read_now_and_then(i);
    } else {
      own.add(*batch, asked_ns);
    }
    consumer.step(std::move(*batch), feed);
  }
  return kept.are_there() ? kept.finish() : own.finish();
}

}  // namespace stoker::observe
