#include "stoker/feed/device/mel_route.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "stoker/base/checked.h"
#include "stoker/base/clock.h"
#include "stoker/base/number_text.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/pinned_buffer.h"
#include "stoker/feed/device/kernels.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kMostUtterances = 32;
constexpr double kHostBudgetS = 0.2;  // for reading them once, and for each of the two routes
constexpr int kDeviceRuns = 4;

bool is_all_cached(const DataSetSource& store) {
  for (std::uint32_t utterance = 0; utterance < store.num_utterances(); ++utterance) {
    if (store.mel_record(utterance) == nullptr && !store.routes()[utterance].is_left_out)
      return false;
  }
  return store.num_utterances() > 0;
}

// Utterances spread over the data, read by one thread until the time is up; the time of one.
class UtteranceTimer {
 public:
  explicit UtteranceTimer(const DataSetSource& store)
      : store_(store),
        reader_(store.make_reader()),
        context_({{0, 0}, 0}, activity_, system_clock(), {}) {}

  // Called before anything is timed, so that neither route pays for cold storage.
  std::vector<std::vector<std::int16_t>> read_clips() {
    std::vector<std::vector<std::int16_t>> clips;
    time_reads([&](std::uint32_t utterance) {
      const std::span<const std::int16_t> samples = read_samples(utterance);
      if (!samples.empty()) clips.emplace_back(samples.begin(), samples.end());
    });
    return clips;
  }
  double samples_s() {
    return time_reads([&](std::uint32_t utterance) { read_samples(utterance); });
  }
  double mel_s() {
    std::vector<std::byte> mel;
    return time_reads([&](std::uint32_t utterance) {
      const std::uint32_t frames = store_.num_frames(utterance);
      mel.resize(std::size_t{frames} * store_.num_mels() * sizeof(float));
      const Result<std::uint32_t> read =
          reader_->read_mel(utterance, {mel.data(), store_.cache_dtype(), frames, 0.0F}, context_);
      static_cast<void>(read);  // a bad utterance takes its time too
    });
  }

 private:
  std::span<const std::int16_t> read_samples(std::uint32_t utterance) {
    samples_.resize(store_.max_samples());
    const Result<std::uint32_t> read = reader_->read_pcm(utterance, samples_, context_);
    return std::span(samples_).first(read ? *read : 0);
  }

  template <class Read>
  double time_reads(const Read& read) {
    const std::uint32_t step = std::max<std::uint32_t>(
        1, store_.num_utterances() / static_cast<std::uint32_t>(kMostUtterances));
    read(0);  // the first pays for scratch memory
    const Stopwatch watch;
    std::size_t count = 0;
    for (std::uint32_t utterance = 0;
         utterance < store_.num_utterances() && watch.seconds() < kHostBudgetS;
         utterance += step, ++count) {
      read(utterance);
    }
    return watch.seconds() / static_cast<double>(std::max<std::size_t>(1, count));
  }

  const DataSetSource& store_;
  std::unique_ptr<UtteranceReader> reader_;
  std::vector<std::int16_t> samples_;
  pipeline::Activity activity_;
  pipeline::FillContext context_;
};

struct DeviceRates {
  double bytes_per_s = 0;  // from page-locked memory
  double mel_clips_per_s = 0;
};

// Copies the clips over and makes their mels, a few times.
class DeviceTimer {
 public:
  DeviceTimer(const MelRouteRequest& request, const std::vector<std::vector<std::int16_t>>& clips)
      : api_(*request.view.api),
        kernels_(request.view.make_kernels({.recipe = request.store.spec().mel().recipe(),
                                            .dtype = request.store.cache_dtype(),
                                            .device = request.device})),
        stream_(request.device, cuda::StreamPriority::kLow, api_) {
    const audio::LogMel& mel = request.store.spec().mel();
    std::size_t num_samples = 0;
    for (const auto& clip : clips) {
      begins_.push_back(static_cast<std::int64_t>(num_samples));
      lengths_.push_back(static_cast<std::int32_t>(clip.size()));
      num_samples += round_up(clip.size(), kSampleAlignment);
      frames_ = std::max(frames_, mel.num_frames(clip.size()));
    }
    const std::size_t places_bytes = clips.size() * (sizeof(std::int64_t) + sizeof(std::int32_t));
    samples_at_ = aligned_part_bytes(places_bytes);
    size_bytes_ = samples_at_ + num_samples * sizeof(std::int16_t);
    pinned_ = cuda::PinnedBuffer(size_bytes_, api_);
    std::memcpy(pinned_.data(), begins_.data(), clips.size() * sizeof(std::int64_t));
    std::memcpy(pinned_.data() + clips.size() * sizeof(std::int64_t), lengths_.data(),
                clips.size() * sizeof(std::int32_t));
    for (std::size_t i = 0; i < clips.size(); ++i) {
      std::memcpy(pinned_.as<std::int16_t>(samples_at_) + begins_[i], clips[i].data(),
                  clips[i].size() * sizeof(std::int16_t));
    }
    const std::size_t mel_bytes = clips.size() * frames_ * mel.num_mels() * sizeof(float);
    mel_at_ = aligned_part_bytes(size_bytes_);
    scratch_at_ = aligned_part_bytes(mel_at_ + mel_bytes);
    memory_ = cuda::DeviceBuffer(
        request.device, scratch_at_ + kernels_->mel_scratch_bytes(clips.size(), frames_) + 256,
        api_);
  }

  DeviceRates measure() {
    cuda::Event begin(memory_.device(), cuda::EventUse::kTiming, api_);
    cuda::Event copied(memory_.device(), cuda::EventUse::kTiming, api_);
    cuda::Event made(memory_.device(), cuda::EventUse::kTiming, api_);
    DeviceRates best;
    for (int run = 0; run < kDeviceRuns; ++run) {
      begin.record(stream_);
      api_.copy({memory_.data(), pinned_.data(), size_bytes_, cuda::CopyKind::kToDevice},
                stream_.view().handle());
      copied.record(stream_);
      kernels_->make_mel(batch(), stream_);
      made.record(stream_);
      made.synchronize();
      best.bytes_per_s = std::max(best.bytes_per_s,
                                  1e3 * static_cast<double>(size_bytes_) / copied.ms_since(begin));
      best.mel_clips_per_s = std::max(
          best.mel_clips_per_s, 1e3 * static_cast<double>(lengths_.size()) / made.ms_since(copied));
    }
    return best;
  }

 private:
  audio::DeviceMelBatch batch() const {
    return {.samples = memory_.data() + samples_at_,
            .begins = memory_.as<std::int64_t>(),
            .lengths = memory_.as<std::int32_t>(lengths_.size() * sizeof(std::int64_t)),
            .num_utterances = static_cast<int>(lengths_.size()),
            .padded_frames = static_cast<int>(frames_),
            .mel = memory_.data() + mel_at_,
            .scratch = memory_.data() + scratch_at_};
  }

  cuda::DeviceApi& api_;
  std::unique_ptr<DeviceKernels> kernels_;
  cuda::Stream stream_;
  std::vector<std::int64_t> begins_;
  std::vector<std::int32_t> lengths_;
  std::size_t frames_ = 1, samples_at_ = 0, size_bytes_ = 0, mel_at_ = 0, scratch_at_ = 0;
  cuda::PinnedBuffer pinned_;
  cuda::DeviceBuffer memory_;
};

}  // namespace

MelRates measure_mel_rates(const MelRouteRequest& request) {
  const Stopwatch watch;
  UtteranceTimer timer(request.store);
  const std::vector<std::vector<std::int16_t>> clips = timer.read_clips();
  const double samples_s = timer.samples_s();
  const double mel_s = timer.mel_s();
  if (clips.empty()) return {.cpu_clips_per_s = 1, .seconds = watch.seconds()};
  const DeviceRates device = DeviceTimer(request, clips).measure();
  double mean_samples = 0;
  for (const auto& clip : clips) mean_samples += static_cast<double>(clip.size());
  mean_samples /= static_cast<double>(clips.size());
  const double mel_bytes =
      mean_samples / request.store.hop_samples() * request.store.num_mels() *
      static_cast<double>(config::bytes_per_value(request.store.cache_dtype()));
  const double workers = std::max(1U, request.num_workers);
  return {.cpu_clips_per_s = std::min(workers / mel_s, device.bytes_per_s / mel_bytes),
          .gpu_clips_per_s = std::min({workers / samples_s, device.mel_clips_per_s,
                                       device.bytes_per_s / (mean_samples * sizeof(std::int16_t))}),
          .seconds = watch.seconds()};
}

MelRoute choose_mel_route(const MelRouteRequest& request) {
  const config::Settings& settings = request.settings;
  const bool all_cached = is_all_cached(request.store);
  const MelSource host = all_cached ? MelSource::kCache : MelSource::kCpu;
  const bool needs_host_mel =
      settings.batch.segment_frames || settings.batch.reference != config::ReferencePart::kNone ||
      !settings.loader.use_native_loading || request.store.spec().mel().recipe().fit_samples > 0;
  if (needs_host_mel) {
    return {host, "crops, fitted lengths and the naive loader need it on the host",
            settings.gpu.mel_place == config::MelPlace::kGpu};
  }
  const bool was_gpu = request.saved_path == kCudaPath;
  if (!request.saved_path.empty() && !was_gpu) return {host, "as in the saved state", false};
  if (!was_gpu && settings.gpu.mel_place == config::MelPlace::kCpu) {
    return {host, "as mel_place says", false};
  }
  const bool is_wished = was_gpu || settings.gpu.mel_place == config::MelPlace::kGpu;
  if (!is_wished && all_cached) return {MelSource::kCache, "every mel is in the cache", false};
  if (request.has_kernels && !request.has_kernels())
    return {host, "the GPU cannot make them", false};
  if (is_wished) {
    return {MelSource::kGpu, was_gpu ? "as in the saved state" : "as mel_place says", false};
  }
  const MelRates rates = measure_mel_rates(request);
  const bool is_gpu = rates.gpu_clips_per_s >= rates.cpu_clips_per_s;
  return {is_gpu ? MelSource::kGpu : MelSource::kCpu,
          fmt::format("measured in {:.1f} s: {} clips/s on the GPU, {} on the CPU", rates.seconds,
                      grouped(static_cast<std::uint64_t>(rates.gpu_clips_per_s)),
                      grouped(static_cast<std::uint64_t>(rates.cpu_clips_per_s))),
          false};
}

}  // namespace stoker::feed
