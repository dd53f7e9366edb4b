#include "bench/diagnose/planted_consumer.h"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/diagnose/planted_source.h"
#include "stoker/observe/batch_source.h"

namespace stoker::bench {
namespace {

std::optional<feed::ConsumerWork> work_named(std::string_view name) {
  if (name.empty() || name == "unsaid") return std::nullopt;
  for (std::size_t i = 0; i < feed::kNumConsumerWorks; ++i)
    if (feed::name_of(static_cast<feed::ConsumerWork>(i)) == name)
      return static_cast<feed::ConsumerWork>(i);
  throw std::invalid_argument("no such work: " + std::string(name));
}

}  // namespace

PlantedConsumer::PlantedConsumer(const ConsumerPlan& plan, double step_s)
    : plan_(plan), step_s_(step_s), noted_(work_named(plan.work)) {}

void PlantedConsumer::work(feed::Feed& feed) const {
  const auto begun = system_clock().now();
  if (plan_.is_busy) {
    burn_cpu(1e-3 * plan_.work_ms);
  } else {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(plan_.work_ms));
  }
  if (noted_) feed.note(*noted_, system_clock().now() - begun);
}

void PlantedConsumer::step(feed::Batch batch, feed::Feed& feed) {
  const double got_s = pacer_.now_s();
  observe::touch_rows(observe::count_batch(batch));
  pacer_.pass_until(got_s + plan_.step_factor * step_s_);
  ++num_steps_;
  if (!plan_.work.empty() && num_steps_ % plan_.every == 0) work(feed);
  if (plan_.num_held == 0) return;
  held_.push_back(std::move(batch));
  if (held_.size() > plan_.num_held) held_.pop_front();
}

std::optional<observe::MachineWindow> PlantedWatch::end() {
  observe::MachineWindow window = sampler_.window(begun_, sampler_.mark());
  if (plan_.storage_kind == "network") {
    window.storage.kind = observe::StorageKind::kNetwork;
    window.storage.file_system = "nfs4";
    window.storage.device.clear();
    window.storage.device_read_ms.reset();
  }
  if (plan_.swap_in_pages_per_s) window.memory.swap_in_pages_per_s = plan_.swap_in_pages_per_s;
  if (plan_.other_cores) window.cpu.other_cores = plan_.other_cores;
  if (plan_.memory_pressure) window.memory.pressure = plan_.memory_pressure;
  if (plan_.gpu_clock_share) {
    constexpr double kMaxMhz = 1980;
    constexpr std::uint64_t kHeat = 0x40;
    window.gpu = observe::GpuWindow{.uuid = "GPU-planted",
                                    .utilization_percent = 97,
                                    .power_w = 310,
                                    .power_limit_w = 700,
                                    .clock_mhz = *plan_.gpu_clock_share * kMaxMhz,
                                    .max_clock_mhz = kMaxMhz,
                                    .temperature_c = 91,
                                    .throttle_reasons = kHeat,
                                    .throttled_share = 1.0};
  }
  return window;
}

}  // namespace stoker::bench
