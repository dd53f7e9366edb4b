// The figures as Prometheus reads them: families with their help, type and samples.
#include "stoker/observe/http/served_texts.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "stoker/base/build_info.h"
#include "stoker/base/utf8.h"

namespace stoker::observe {
namespace {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Writes HELP and TYPE of a family before its first sample, and nothing of one without samples.
class Writer {
 public:
  Writer& counter(std::string_view name, std::string_view help) {
    return begin(name, help, "counter");
  }
  Writer& gauge(std::string_view name, std::string_view help) { return begin(name, help, "gauge"); }

  template <class Value>
  Writer& sample(const std::optional<Value>& value, Labels labels = {}) {
    if (value) sample(static_cast<double>(*value), labels);
    return *this;
  }
  Writer& sample(std::uint64_t value, Labels labels = {}) {
    put(fmt::format("{}", value), labels);
    return *this;
  }
  Writer& sample(double value, Labels labels = {}) {
    if (std::isfinite(value)) put(fmt::format("{}", value), labels);
    return *this;
  }
  std::string finish() { return std::move(text_); }

 private:
  Writer& begin(std::string_view name, std::string_view help, std::string_view type) {
    name_ = name;
    head_ = fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
    return *this;
  }
  void put(std::string_view value, Labels labels) {
    text_ += std::exchange(head_, {});
    text_ += name_;
    std::string_view between = "{";
    for (const auto& [key, label] : labels) {
      text_ += fmt::format("{}{}=\"{}\"", between, key, label_value(label));
      between = ",";
    }
    if (labels.size() > 0) text_ += "}";
    text_ += fmt::format(" {}\n", value);
  }

  std::string name_, head_, text_;
};

template <class Value>
std::optional<double> scaled(const std::optional<Value>& value, double by) {
  return value ? std::optional(static_cast<double>(*value) * by) : std::nullopt;
}

// One family, a sample for each card.
template <class Field>
void put_each(Writer& out, const LiveFigures& figures, Field field) {
  for (const LiveGpu& gpu : figures.gpus)
    out.sample(field(gpu), {{"gpu", std::to_string(gpu.index)}});
}

void put_gpus(Writer& out, const LiveFigures& figures) {
  out.gauge("stoker_gpu_info", "A card that is watched; its name.");
  for (const LiveGpu& gpu : figures.gpus)
    out.sample(std::uint64_t{1}, {{"gpu", std::to_string(gpu.index)}, {"name", gpu.name}});
  const auto each = [&](std::string_view name, std::string_view help, auto field) {
    out.gauge(name, help);
    put_each(out, figures, field);
  };
  constexpr double kPercent = 1e-2, kMega = 1e6;
  each("stoker_gpu_utilization_ratio", "Share of the time with a kernel running.",
       [](const LiveGpu& gpu) { return scaled(gpu.now.utilization_percent, kPercent); });
  each("stoker_gpu_memory_used_bytes", "Memory in use on the card.",
       [](const LiveGpu& gpu) { return gpu.now.memory_used_bytes; });
  each("stoker_gpu_memory_total_bytes", "Memory of the card.",
       [](const LiveGpu& gpu) { return gpu.now.memory_total_bytes; });
  each("stoker_gpu_power_watts", "Power drawn.",
       [](const LiveGpu& gpu) { return gpu.now.power_w; });
  each("stoker_gpu_power_limit_watts", "Power limit in force.",
       [](const LiveGpu& gpu) { return gpu.link.power_limit_w; });
  each("stoker_gpu_clock_hertz", "Clock of the multiprocessors.",
       [](const LiveGpu& gpu) { return scaled(gpu.now.clock_mhz, kMega); });
  each("stoker_gpu_temperature_celsius", "Temperature of the card.",
       [](const LiveGpu& gpu) { return gpu.now.temperature_c; });
  each("stoker_gpu_fan_ratio", "Speed of the fan, of its largest.",
       [](const LiveGpu& gpu) { return scaled(gpu.now.fan_percent, kPercent); });
  each("stoker_gpu_throttled", "1 while heat or power hold the clock down.",
       [](const LiveGpu& gpu) -> std::optional<unsigned> {
         if (!gpu.now.throttle_reasons) return std::nullopt;
         return (*gpu.now.throttle_reasons & cuda::kHardThrottles) != 0 ? 1U : 0U;
       });
  each("stoker_gpu_pcie_receive_bytes_per_second", "Bytes into the card, over the last 20 ms.",
       [](const LiveGpu& gpu) { return scaled(gpu.link.pcie_rx_mb_per_s, kMega); });
  each("stoker_gpu_pcie_transmit_bytes_per_second", "Bytes out of the card, over the last 20 ms.",
       [](const LiveGpu& gpu) { return scaled(gpu.link.pcie_tx_mb_per_s, kMega); });
}

void put_machine(Writer& out, const LiveFigures& figures) {
  const MachineWindow& machine = figures.machine;
  out.gauge("stoker_cpu_cores", "Cores of the machine.").sample(std::uint64_t{figures.num_cores});
  out.gauge("stoker_cpu_busy_cores", "Cores in use by everybody.").sample(machine.cpu.busy_cores);
  out.gauge("stoker_cpu_quota_cores", "Cores that the control group allows.")
      .sample(machine.cpu.quota_cores);
  out.gauge("stoker_cpu_throttled_ratio", "Periods of the quota that ended in a stop.")
      .sample(machine.cpu.throttled_share);
  out.gauge("stoker_cpu_pressure_ratio", "Share of the time in which a task waited for a core.")
      .sample(machine.cpu.pressure);
  out.gauge("stoker_memory_total_bytes", "Memory of the machine.")
      .sample(machine.memory.total_bytes);
  out.gauge("stoker_memory_available_bytes", "Memory that can be had without swapping.")
      .sample(machine.memory.available_bytes);
  out.gauge("stoker_memory_pressure_ratio", "Share of the time in which a task waited for memory.")
      .sample(machine.memory.pressure);
  out.gauge("stoker_disk_read_bytes_per_second", "Bytes read from the watched disk by everybody.")
      .sample(machine.storage.device_read_bytes_per_s);
  out.gauge("stoker_disk_busy_ratio", "Share of the time in which the watched disk had work.")
      .sample(machine.storage.device_busy_share);
  out.gauge("stoker_disk_read_seconds", "Mean time of a read of the watched disk.")
      .sample(scaled(machine.storage.device_read_ms, 1e-3));
  if (!figures.process) return;
  out.gauge("stoker_process_cpu_cores", "Cores in use by the process of the feed.")
      .sample(figures.process->cpu_cores);
  out.gauge("stoker_process_memory_bytes", "Memory of the process of the feed.")
      .sample(figures.process->memory_bytes);
}

void put_totals(Writer& out, const FeedTotals& totals) {
  out.counter("stoker_feed_batches_total", "Batches handed out.").sample(totals.batches);
  out.counter("stoker_feed_clips_total", "Utterances in them.").sample(totals.clips);
  out.counter("stoker_feed_frames_total", "Mel frames without padding.").sample(totals.frames);
  out.counter("stoker_feed_padded_frames_total", "Mel frames with padding.")
      .sample(totals.padded_frames);
  out.counter("stoker_feed_read_bytes_total", "Bytes of sound files and cache records.")
      .sample(totals.bytes_read);
  out.counter("stoker_feed_cache_hits_total", "Reads that the cache served.")
      .sample(totals.cache_hits);
  out.counter("stoker_feed_cache_misses_total", "Reads that a sound file served.")
      .sample(totals.cache_misses);
  out.counter("stoker_feed_stall_seconds_total", "Time that the consumer waited for batches.")
      .sample(totals.wait_s);
  out.counter("stoker_feed_step_seconds_total", "Time of the consumer between batches.")
      .sample(totals.step_s);
  out.counter("stoker_feed_records_lost_total", "Records overwritten before they were read.")
      .sample(totals.records_lost);
  out.counter("stoker_feed_stage_seconds_total", "Time spent on batches, by stage.");
  for (std::size_t i = 0; i < totals.stage_s.size(); ++i)
    out.sample(totals.stage_s[i], {{"stage", feed::name_of(static_cast<feed::RecordStage>(i))}});
  out.counter("stoker_feed_consumer_work_seconds_total", "Work of the consumer beside its step.");
  for (std::size_t i = 0; i < totals.work_s.size(); ++i)
    out.sample(totals.work_s[i], {{"work", feed::name_of(static_cast<feed::ConsumerWork>(i))}});
}

void put_feed(Writer& out, const LiveFigures& figures) {
  const LiveFeed& feed = figures.feed;
  out.gauge("stoker_feed_state", "1 for the state that the watched feed is in.");
  for (std::size_t i = 0; i < kNumFeedStates; ++i) {
    const auto state = static_cast<FeedState>(i);
    out.sample(std::uint64_t{state == feed.state}, {{"state", name_of(state)}});
  }
  put_totals(out, feed.totals);
  out.gauge("stoker_feed_ready_batches", "Batches ready when the last one was handed out.")
      .sample(std::uint64_t{feed.num_ready});
  out.gauge("stoker_feed_workers", "Threads that fill batches.")
      .sample(std::uint64_t{feed.num_workers});
  out.gauge("stoker_feed_worker_busy_ratio", "Share of their time in which they had work.")
      .sample(feed.worker_busy_share);
  out.gauge("stoker_feed_stall_ratio", "Share of the last interval that the consumer waited.")
      .sample(feed.stall_share);
  out.gauge("stoker_feed_interval_seconds", "Mean time between the last batches.")
      .sample(1e-3 * feed.interval_ms);
  out.gauge("stoker_feed_interval_cv", "Standard deviation of that time over its mean.")
      .sample(feed.interval_cv);
  out.gauge("stoker_feed_padding_ratio", "Share of the last batches that is padding.")
      .sample(feed.padding_share);
  out.gauge("stoker_feed_epoch", "Epoch of the last batch.").sample(feed.epoch);
  out.gauge("stoker_feed_verdict", "1 for the verdict on the last batches.")
      .sample(std::uint64_t{1}, {{"verdict", name_of(feed.verdict)}});
  out.counter("stoker_fallback_total", "Slower ways taken because the better one failed.");
  for (const feed::FallbackCount& each : figures.fallbacks)
    out.sample(each.count, {{"from", each.from}, {"to", each.to}, {"reason", each.reason}});
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    const std::string_view bytes = text.substr(0, next.size_bytes);
    if (!next.valid) {
      for (const char byte : bytes)
        out += fmt::format("\\\\x{:02x}", static_cast<unsigned char>(byte));
    } else if (bytes == "\n") {
      out += "\\n";
    } else {
      if (bytes == "\"" || bytes == "\\") out += '\\';
      out += bytes;
    }
    text.remove_prefix(next.size_bytes);
  }
  return out;
}

std::string prometheus_text(const LiveFigures& figures) {
  Writer out;
  out.gauge("stoker_build_info", "The version that answers.")
      .sample(std::uint64_t{1}, {{"version", build_info().version}});
  out.counter("stoker_monitor_samples_total", "Looks at machine and feed.").sample(figures.number);
  put_gpus(out, figures);
  put_machine(out, figures);
  put_feed(out, figures);
  return out.finish();
}

}  // namespace stoker::observe
