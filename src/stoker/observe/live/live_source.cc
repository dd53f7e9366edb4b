#include "stoker/observe/live/live_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/observe/errors.h"
#include "stoker/observe/live/process_files.h"
#include "stoker/observe/machine/machine_sampler.h"

namespace stoker::observe {
namespace {

using std::chrono::nanoseconds;

// The driver takes 40 ms to tell what the bus carries.
constexpr nanoseconds kLinkEvery = std::chrono::seconds(2);

// A driver that fails takes its figures with it, and nothing else.
template <class Figures>
Figures asked(const std::function<Figures()>& source, Figures otherwise) {
  if (!source) return otherwise;
  try {
    return source();
  } catch (...) {
    return otherwise;
  }
}

// Samples are taken at each look; the thread's own would only wake the machine.
MachineSamplerOptions looks_only(const Clock& clock) {
  return {.every = std::chrono::hours(1), .clock = &clock};
}

}  // namespace

std::string_view name_of(FeedState state) {
  constexpr std::array<std::string_view, kNumFeedStates> kNames{"none",    "not_begun", "starting",
                                                                "running", "ended",     "killed"};
  return kNames[static_cast<std::size_t>(state)];
}

GpuGauges open_gpu_gauges(const std::vector<unsigned>& wanted, const char* library) {
  GpuGauges out;
  const std::shared_ptr<const cuda::Nvml> nvml = cuda::Nvml::open(&out.why_none, library);
  if (nvml == nullptr) return out;
  const unsigned count = nvml->num_devices();
  if (count == 0) out.why_none = "the driver knows no GPU";
  std::vector<unsigned> indices = wanted;
  for (unsigned i = 0; wanted.empty() && i < count; ++i) indices.push_back(i);
  for (const unsigned index : indices) {
    if (count == 0) break;
    if (index >= count) {
      raise({.code = &kLiveGpu,
             .promised = count == 1 ? "GPU 0" : fmt::format("a GPU from 0 to {}", count - 1),
             .found = fmt::format("--gpu {}", index)});
    }
    const std::optional<cuda::NvmlGpu> gpu = nvml->at(index);
    if (!gpu) continue;
    out.gauges.push_back({.index = index,
                          .name = nvml->name(index),
                          .gauge = {.sample = [nvml, gpu = *gpu] { return nvml->sample(gpu); },
                                    .link = [nvml, gpu = *gpu] { return nvml->link(gpu); }}});
  }
  if (out.gauges.empty() && out.why_none.empty()) out.why_none = "the driver refuses its GPUs";
  return out;
}

struct LiveSource::State {
  explicit State(LiveSourceOptions given)
      : options(std::move(given)),
        begun(options.clock->now()),
        num_cores(count_cpus().online),
        links(options.gpus.gauges.size()),
        linked_at(begun - kLinkEvery),
        machine({.io = options.io, .root = options.root, .data_path = options.disk_path},
                looks_only(*options.clock)),
        feed(std::move(options.feed), *options.io, options.root, *options.clock),
        process(MachineFiles(*options.io, options.root)) {}

  LiveFigures look() {
    const nanoseconds from = last_at.value_or(begun);
    LiveFigures figures{.number = ++num_looks, .num_cores = num_cores};
    put_gpus(figures);
    const nanoseconds mark = machine.mark();
    // The first look has nothing before it: rates of microseconds would be noise.
    figures.machine = machine.window(last_mark.value_or(mark), mark);
    figures.feed = feed.look(from);
    if (const std::optional<int> pid = feed.pid())
      figures.process = process.read(*pid, options.clock->now());
    if (options.fallbacks) figures.fallbacks = options.fallbacks();
    const nanoseconds now = options.clock->now();
    figures.at_s = std::chrono::duration<double>(now - begun).count();
    figures.interval_s = std::chrono::duration<double>(now - from).count();
    figures.unix_ns = options.clock->unix_time_ns();
    last_at = now;
    last_mark = mark;
    return figures;
  }

  void put_gpus(LiveFigures& figures) {
    const bool asks_links = options.clock->now() - linked_at >= kLinkEvery;
    if (asks_links) linked_at = options.clock->now();
    for (std::size_t i = 0; i < options.gpus.gauges.size(); ++i) {
      const NamedGauge& named = options.gpus.gauges[i];
      if (asks_links) links[i] = asked(named.gauge.link, links[i]);
      figures.gpus.push_back({.index = named.index,
                              .name = named.name,
                              .now = asked(named.gauge.sample, {}),
                              .link = links[i]});
    }
    if (figures.gpus.empty()) figures.why_no_gpu = options.gpus.why_none;
  }

  LiveSourceOptions options;
  const nanoseconds begun;
  const unsigned num_cores;
  std::vector<cuda::GpuLink> links;
  nanoseconds linked_at;
  MachineSampler machine;
  FeedWatch feed;
  ProcessFiles process;
  std::uint64_t num_looks = 0;
  std::optional<nanoseconds> last_at, last_mark;
};

LiveSource::LiveSource(LiveSourceOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
LiveSource::~LiveSource() = default;

LiveFigures LiveSource::look() { return state_->look(); }

}  // namespace stoker::observe
