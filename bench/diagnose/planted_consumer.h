// Consumers that lose time by themselves, and a sampler that reports what is not so.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "bench/diagnose/plan.h"
#include "stoker/observe/diagnose/diagnose.h"
#include "stoker/observe/feed_consumer.h"
#include "stoker/observe/machine/machine_sampler.h"

namespace stoker::bench {

class PlantedConsumer final : public observe::WatchedConsumer {
 public:
  // Throws std::invalid_argument for a work that is none.
  PlantedConsumer(const ConsumerPlan& plan, double step_s);
  void step(feed::Batch batch, feed::Feed& feed) override;
  void rest() override { held_.clear(); }

 private:
  void work(feed::Feed& feed) const;

  ConsumerPlan plan_;
  double step_s_;
  std::optional<feed::ConsumerWork> noted_;
  observe::StepPacer pacer_;
  std::uint64_t num_steps_ = 0;
  std::deque<feed::Batch> held_;
};

class PlantedWatch final : public observe::MachineWatch {
 public:
  PlantedWatch(const MachinePlan& plan, observe::MachineSources sources)
      : plan_(plan), sampler_(std::move(sources)) {}
  void begin() override { begun_ = sampler_.mark(); }
  std::optional<observe::MachineWindow> end() override;

 private:
  MachinePlan plan_;
  observe::MachineSampler sampler_;
  std::chrono::nanoseconds begun_{};
};

}  // namespace stoker::bench
