#include "stoker/bench/device_ops_bench.h"

#include <fmt/format.h>

#include "stoker/audio/augment/augment_batch.h"
#include "stoker/audio/float_cast.h"
#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/base/clock.h"
#include "stoker/base/philox.h"
#include "stoker/bench/device_timing.h"
#include "stoker/bench/errors.h"
#include "stoker/cuda/device_api.h"

namespace stoker::bench {
namespace {

constexpr std::size_t kFrames = 557;  // the mean of LJSpeech-like clips
constexpr std::size_t kSamples = kFrames * 256;

// One run: the GPU, its stream, and what a copy reaches there.
struct Bench {
  explicit Bench(const DeviceOpsOptions& how) : options(how), stream(how.device) {}

  template <class Call>
  DeviceOpRow row(const std::string& operation, const std::string& detail, Call&& call) const {
    DeviceOpRow row{.operation = operation, .detail = detail};
    row.median_us =
        median_us(stream, options.device, options.num_repeats, std::forward<Call>(call));
    return row;
  }
  void finish(DeviceOpRow row, std::size_t num_clips, double num_bytes) {
    row.num_clips = num_clips;
    row.clips_per_s = static_cast<double>(num_clips) / row.median_us * 1e6;
    row.gb_per_s = num_bytes / row.median_us * 1e-3;
    row.share_of_copy = row.gb_per_s / report.copy_gb_per_s;
    report.rows.push_back(std::move(row));
  }

  DeviceOpsOptions options;
  cuda::Stream stream;
  DeviceOpsReport report;
};

template <class T>
void require_equal(const std::vector<T>& found, const std::vector<T>& wanted,
                   std::string_view what) {
  if (found == wanted) return;
  std::size_t at = 0;
  while (at < wanted.size() && found[at] == wanted[at]) ++at;
  raise({.code = &kBenchWrong,
         .place = {},
         .promised = "the bytes of the CPU",
         .found = fmt::format("another value: {}, {} of {}", what, at, wanted.size()),
         .action = {},
         .cure = {}});
}

// Drawn values, a mebibyte of them over and over: drawing more would take longer than measuring.
template <class T>
std::vector<T> drawn_values(std::size_t count) {
  constexpr std::size_t kDrawn = std::size_t{1} << 20U;
  KeyedDraws draws({1, "bench ops", 0, 0});
  std::vector<T> values(count);
  for (std::size_t i = 0; i < std::min(count, kDrawn); ++i)
    values[i] = static_cast<T>(draws.next_u32());
  for (std::size_t i = kDrawn; i < count; ++i) values[i] = values[i - kDrawn];
  return values;
}

void bench_copy(Bench& bench) {
  constexpr std::size_t kBytes = std::size_t{1} << 30U;
  const int device = bench.options.device;
  const cuda::DeviceBuffer from(device, kBytes), to(device, kBytes);
  const DeviceOpRow row = bench.row("copy", "1 GiB", [&] {
    cuda::system_device_api().copy({to.data(), from.data(), kBytes, cuda::CopyKind::kOnDevice},
                                   bench.stream.view().handle());
  });
  bench.report.copy_gb_per_s = 2.0 * static_cast<double>(kBytes) / row.median_us * 1e-3;
}

// A batch of mel values, 2048 clips of 80 bands.
void bench_cast(Bench& bench, config::MelDtype from_type, config::MelDtype to_type) {
  constexpr std::size_t kClips = 2048;
  constexpr std::size_t kCount = kClips * kFrames * 80;
  const auto from = drawn_values<std::uint8_t>(kCount * bytes_per_value(from_type));
  std::vector<std::uint8_t> wanted(kCount * bytes_per_value(to_type));
  const Stopwatch watch;
  audio::cast_floats({from.data(), from_type, wanted.data(), to_type, kCount});
  const double cpu_s = watch.seconds();
  const DeviceArray<std::uint8_t> in(bench.options.device, from);
  const DeviceArray<std::uint8_t> out(bench.options.device, wanted.size());
  const audio::FloatCast cast{in.data(), from_type, out.data(), to_type, kCount};
  const std::string detail = fmt::format("{} to {}", name_of(from_type), name_of(to_type));
  DeviceOpRow row = bench.row("cast", detail, [&] { audio::cast_floats(cast, bench.stream); });
  require_equal(out.values(), wanted, detail);
  row.cpu_clips_per_s = static_cast<double>(kClips) / cpu_s;
  bench.finish(std::move(row), kClips, static_cast<double>(from.size() + wanted.size()));
}

// Utterances and noises of equal length, on the host.
struct Recordings {
  explicit Recordings(std::size_t count)
      : samples(drawn_values<std::int16_t>(count * kSamples)),
        lengths(count, kSamples),
        begins(count),
        ids(drawn_values<std::uint64_t>(count)) {
    for (std::size_t i = 0; i < count; ++i) begins[i] = static_cast<std::int64_t>(i * kSamples);
  }
  std::vector<std::int16_t> samples;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> begins;
  std::vector<std::uint64_t> ids;
};

// The same on the GPU.
struct DeviceRecordings {
  DeviceRecordings(int device, const Recordings& from)
      : samples(device, from.samples),
        lengths(device, from.lengths),
        begins(device, from.begins),
        ids(device, from.ids) {}
  DeviceArray<std::int16_t> samples;
  DeviceArray<std::int32_t> lengths;
  DeviceArray<std::int64_t> begins;
  DeviceArray<std::uint64_t> ids;
};

void bench_augment(Bench& bench, double noise_probability) {
  constexpr std::size_t kClips = 512;
  constexpr int kNoises = 8;
  const int device = bench.options.device;
  const Recordings speech(kClips), noise(kNoises);
  const audio::AugmentRule rule{.gain_db = {-6, 6}, .noise_probability = noise_probability};
  std::vector<std::int16_t> wanted(speech.samples.size());
  audio::AugmentBatch batch{
      .samples = speech.samples.data(),
      .begins = speech.begins.data(),
      .lengths = speech.lengths.data(),
      .utterances = speech.ids.data(),
      .num_utterances = kClips,
      .max_samples = kSamples,
      .noises = {noise.samples.data(), noise.begins.data(), noise.lengths.data(), kNoises},
      .out = wanted.data()};
  const Stopwatch watch;
  audio::augment_batch(batch, rule);
  const double cpu_s = watch.seconds();
  const DeviceRecordings there(device, speech), noise_there(device, noise);
  const DeviceArray<std::int16_t> out(device, wanted.size());
  const DeviceArray<std::byte> scratch(device, audio::augment_scratch_bytes(kClips));
  batch.samples = there.samples.data();
  batch.begins = there.begins.data();
  batch.lengths = there.lengths.data();
  batch.utterances = there.ids.data();
  batch.noises = {noise_there.samples.data(), noise_there.begins.data(), noise_there.lengths.data(),
                  kNoises};
  batch.out = out.data();
  const std::string detail = fmt::format("noise in {:.0f} %", 100 * noise_probability);
  DeviceOpRow row = bench.row("augment", detail, [&] {
    audio::augment_batch(batch, rule, audio::AugmentPlace{scratch.data(), bench.stream});
  });
  require_equal(out.values(), wanted, detail);
  row.cpu_clips_per_s = static_cast<double>(kClips) / cpu_s;
  bench.finish(std::move(row), kClips, 4.0 * static_cast<double>(speech.samples.size()));
}

// Frames that change from clip to clip, between silence and loud.
std::vector<float> log_mel_frames(const config::MelRecipe& recipe, std::size_t num_clips) {
  KeyedDraws draws({3, "frames", 0, 0});
  std::vector<float> frames(num_clips * kFrames * static_cast<std::size_t>(recipe.num_mels));
  for (float& value : frames) value = static_cast<float>(draws.next_between(-9, 1));
  return frames;
}

void bench_griffin_lim(Bench& bench, std::size_t num_clips) {
  const int device = bench.options.device;
  const config::MelRecipe recipe = config::mel_preset("hifigan");
  const auto way_back = audio::DeviceGriffinLim::make(recipe, {}, device).take_or_raise();
  const std::vector<float> frames = log_mel_frames(recipe, num_clips);
  const DeviceArray<float> in(device, frames);
  const DeviceArray<std::int32_t> lengths(
      device, std::vector<std::int32_t>(num_clips, static_cast<std::int32_t>(kFrames)));
  const DeviceArray<float> out(device, num_clips * kSamples);
  const DeviceArray<std::byte> scratch(device, way_back.scratch_bytes(num_clips, kFrames));
  const audio::DeviceWaveBatch batch{.log_mel = in.data(),
                                     .num_frames = lengths.data(),
                                     .num_utterances = static_cast<int>(num_clips),
                                     .padded_frames = static_cast<int>(kFrames),
                                     .samples = out.data(),
                                     .padded_samples = static_cast<std::int64_t>(kSamples),
                                     .scratch = scratch.data()};
  DeviceOpRow row = bench.row("griffin-lim", fmt::format("hifigan, 60 rounds, {} clips", num_clips),
                              [&] { way_back.run(batch, bench.stream); });
  std::vector<float> found = out.values();
  found.resize(kSamples);
  std::vector<float> wanted(kSamples);
  const auto on_cpu = audio::GriffinLim::make(recipe, {}, detect_simd_level()).take_or_raise();
  audio::GriffinLim::Workspace workspace;
  const Stopwatch watch;
  on_cpu.run(std::span(frames).first(frames.size() / num_clips), wanted, workspace);
  row.cpu_clips_per_s = 1.0 / watch.seconds();
  require_equal(found, wanted, row.detail);
  bench.finish(std::move(row), num_clips, 0);
}

}  // namespace

DeviceOpsReport bench_device_ops(const DeviceOpsOptions& options, const std::stop_token& stop) {
  using config::MelDtype;
  const cuda::DeviceScope scope(options.device);
  Bench bench(options);
  bench_copy(bench);
  for (const auto& [from, to] :
       {std::pair{MelDtype::kF32, MelDtype::kF16}, std::pair{MelDtype::kF32, MelDtype::kBf16},
        std::pair{MelDtype::kF16, MelDtype::kF32}, std::pair{MelDtype::kBf16, MelDtype::kF32}})
    if (!stop.stop_requested()) bench_cast(bench, from, to);
  for (const double probability : {0.0, 0.3, 1.0})
    if (!stop.stop_requested()) bench_augment(bench, probability);
  for (const std::size_t num_clips : {1U, 16U, 64U, 256U})
    if (!stop.stop_requested()) bench_griffin_lim(bench, num_clips);
  return std::move(bench.report);
}

}  // namespace stoker::bench
