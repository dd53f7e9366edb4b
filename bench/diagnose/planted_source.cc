#include "bench/diagnose/planted_source.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "stoker/base/machine_figures.h"
#include "stoker/base/philox.h"
#include "stoker/feed/source/wrapped_source.h"

namespace stoker::bench {
namespace {

using feed::UtteranceReader;
using feed::UtteranceSource;
using pipeline::FillContext;

std::size_t stage_named(std::string_view name) {
  for (std::size_t stage = 0; stage < feed::kNumStages; ++stage)
    if (feed::name_of(static_cast<feed::RecordStage>(stage)) == name) return stage;
  throw std::invalid_argument("no such stage: " + std::string(name));
}

// What all readers of a source share.
struct Planted {
  StagePlan plan;
  std::size_t stage = 0;
  std::mutex turn{};
  std::atomic<std::uint64_t> num_asked = 0;

  bool concerns(std::string_view file) {
    if (file.find(plan.only) == file.npos) return false;
    if (plan.chance >= 1) return true;
    KeyedDraws draws({.stage = "planted", .item = num_asked++});
    return draws.next_unit() < plan.chance;
  }
  void pass() {
    if (plan.wait_ms > 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(plan.wait_ms));
    burn_cpu(1e-3 * plan.cpu_ms);
  }
};

class PlantedReader final : public UtteranceReader {
 public:
  PlantedReader(const UtteranceSource& source, std::shared_ptr<Planted> planted)
      : source_(source), inner_(source.make_reader()), planted_(std::move(planted)) {}

  void enter_epoch(std::uint64_t epoch) override { inner_->enter_epoch(epoch); }
  void prefetch(std::uint32_t utterance) const override { inner_->prefetch(utterance); }
  void prefetch_tokens(std::uint32_t utterance) const override {
    inner_->prefetch_tokens(utterance);
  }
  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override {
    if (planted_->stage == feed::kText && planted_->concerns(source_.file(utterance)))
      planted_->pass();
    return inner_->read_tokens(utterance, out);
  }
  Result<std::uint32_t> read_mel(std::uint32_t utterance, const feed::MelTarget& out,
                                 FillContext& context) override {
    const auto turn = pass(utterance, context);
    return inner_->read_mel(utterance, out, context);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                 FillContext& context) override {
    const auto turn = pass(utterance, context);
    return inner_->read_pcm(utterance, out, context);
  }
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   FillContext& context) override {
    return inner_->read_audio(utterance, out, context);
  }
  std::span<const std::byte> find_mel(std::uint32_t utterance, config::MelDtype type) override {
    return inner_->find_mel(utterance, type);
  }
  std::span<const std::byte> find_pcm(std::uint32_t utterance) override {
    return inner_->find_pcm(utterance);
  }
  feed::ReadCounts take_counts() override { return inner_->take_counts(); }
  Result<std::uint32_t> read_array(std::uint32_t utterance, std::size_t array,
                                   std::span<std::byte> out) override {
    return inner_->read_array(utterance, array, out);
  }

 private:
  // What it returns is held while the utterance is read.
  std::unique_lock<std::mutex> pass(std::uint32_t utterance, FillContext& context) {
    std::unique_lock<std::mutex> turn(planted_->turn, std::defer_lock);
    if (planted_->stage == feed::kText || !planted_->concerns(source_.file(utterance))) return turn;
    context.enter(planted_->stage);
    if (planted_->plan.is_serial) turn.lock();
    planted_->pass();
    return turn;
  }

  const UtteranceSource& source_;
  std::unique_ptr<UtteranceReader> inner_;
  std::shared_ptr<Planted> planted_;
};

class PlantedSource final : public feed::WrappedSource<UtteranceSource> {
 public:
  PlantedSource(std::shared_ptr<const UtteranceSource> source, const StagePlan& plan)
      : WrappedSource(std::move(source)), planted_(std::make_shared<Planted>()) {
    planted_->plan = plan;
    planted_->stage = stage_named(plan.stage);
  }
  std::unique_ptr<UtteranceReader> make_reader() const override {
    return std::make_unique<PlantedReader>(inner(), planted_);
  }
  std::vector<feed::ArrayKind> arrays() const override { return inner().arrays(); }
  std::vector<feed::FallbackCount> fallbacks() const override { return inner().fallbacks(); }
  void will_need(std::span<const std::uint32_t> utterances) const override {
    inner().will_need(utterances);
  }

 private:
  std::shared_ptr<Planted> planted_;
};

}  // namespace

void burn_cpu(double seconds) {
  if (seconds <= 0) return;
  const double until_s = thread_cpu_s() + seconds;
  while (thread_cpu_s() < until_s) {
  }
}

std::shared_ptr<const UtteranceSource> plant_stage(std::shared_ptr<const UtteranceSource> inner,
                                                   const StagePlan& plan) {
  return std::make_shared<PlantedSource>(std::move(inner), plan);
}

}  // namespace stoker::bench
