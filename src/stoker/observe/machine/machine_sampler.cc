#include "stoker/observe/machine/machine_sampler.h"

#include <algorithm>
#include <utility>

#include "stoker/observe/machine/cpu_files.h"
#include "stoker/observe/machine/machine_files.h"
#include "stoker/observe/machine/page_cache_probe.h"
#include "stoker/observe/machine/storage_files.h"
#include "stoker/observe/machine/window_of_samples.h"

namespace stoker::observe {
namespace {

// A driver that fails takes its figures with it, and nothing else.
template <class Figures>
std::optional<Figures> asked(const std::function<Figures()>& source) {
  if (!source) return std::nullopt;
  try {
    return source();
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace

// Reads one sample; the sampler's thread and callers of mark() take turns.
class MachineSampler::Reader {
 public:
  Reader(MachineSources sources, const Clock& clock)
      : clock_(clock),
        files_(*sources.io, sources.root),
        cpu_(files_),
        storage_(files_, sources.data_path),
        pages_(*sources.io, std::move(sources.data_files)),
        gauge_(std::move(sources.gauge)) {
    facts_ = {.num_allowed_cores = static_cast<unsigned>(cpu_.allowed().size()),
              .storage = storage_.kind(),
              .file_system = storage_.file_system(),
              .device = storage_.device(),
              .gpu_uuid = gauge_.uuid,
              .why_no_gpu = gauge_.sample ? std::string() : gauge_.why_none};
  }

  MachineSample read(bool is_dear) {
    const Lock lock(mutex_);
    // The link is asked first: it takes milliseconds, and what follows should be of one moment.
    auto dear = is_dear ? std::make_unique<DearSample>() : nullptr;
    if (dear != nullptr) {
      dear->link = asked(gauge_.link);
      dear->storage.page_cache_share = pages_.share(num_dear_++);
    }
    MachineSample sample{.at = clock_.now()};
    CpuFiles::read_own(files_, sample);
    sample.available_bytes = available_bytes(files_);
    if (dear != nullptr) {
      dear->cpu = cpu_.read(files_);
      dear->memory = read_memory(files_);
      const std::optional<double> share = dear->storage.page_cache_share;
      dear->storage = storage_.read(files_);
      dear->storage.page_cache_share = share;
      sample.dear = std::move(dear);
    }
    sample.gpu = asked(gauge_.sample);
    return sample;
  }

  bool has_gpu() const { return gauge_.sample != nullptr; }
  const MachineFacts& facts() const { return facts_; }

 private:
  const Clock& clock_;
  Mutex mutex_;  // guards all below except facts_
  MachineFiles files_;
  CpuFiles cpu_;
  StorageFiles storage_;
  PageCacheProbe pages_;
  GpuGauge gauge_;
  std::uint64_t num_dear_ = 0;
  MachineFacts facts_;
};

MachineSampler::MachineSampler(MachineSources sources, const MachineSamplerOptions& options)
    : options_(options), reader_(std::make_unique<Reader>(std::move(sources), *options.clock)) {
  thread_ = Thread(kThreadName, [this](const std::stop_token& stop) { watch(stop); });
}

MachineSampler::~MachineSampler() = default;

std::chrono::nanoseconds MachineSampler::take(bool is_dear) {
  MachineSample sample = reader_->read(is_dear);
  const std::chrono::nanoseconds at = sample.at;
  const Lock lock(mutex_);
  // A sample begun before another one on the other thread may end after it.
  const auto later = std::upper_bound(samples_.begin(), samples_.end(), at,
                                      [](std::chrono::nanoseconds moment,
                                         const MachineSample& other) { return moment < other.at; });
  samples_.insert(later, std::move(sample));
  while (samples_.front().at + options_.keep < samples_.back().at) samples_.pop_front();
  return at;
}

std::chrono::nanoseconds MachineSampler::mark() { return take(true); }

void MachineSampler::watch(const std::stop_token& stop) {
  std::chrono::nanoseconds next = options_.clock->now();
  // Between whole samples only the GPU is worth a look: the rest are counters.
  const unsigned step = reader_->has_gpu() ? 1 : options_.dear_every;
  for (unsigned number = 0;; number += step) {
    take(number % options_.dear_every == 0);
    next = std::max(next + step * options_.every, options_.clock->now());
    Lock lock(mutex_);
    WaitEnd end = WaitEnd::kNotified;
    while (end == WaitEnd::kNotified) end = ended_.wait_until(lock, stop, {options_.clock, next});
    if (end == WaitEnd::kStopped) return;
  }
}

MachineWindow MachineSampler::window(std::chrono::nanoseconds from,
                                     std::chrono::nanoseconds to) const {
  const Lock lock(mutex_);
  return window_of_samples(samples_, from, to, reader_->facts());
}

}  // namespace stoker::observe
