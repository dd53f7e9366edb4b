#include "stoker/bench/device_mel_case.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/thread/parallel.h"

namespace stoker::bench {
namespace {

using config::MelDtype;

constexpr std::size_t kVoices = 64;
constexpr double kRateHz = 22050.0;
constexpr double kShortestS = 1.1;
constexpr double kLongestS = 10.1;
constexpr std::size_t kMostSkipped = 200;  // utterances of one voice begin at different samples
constexpr auto kVoiceSamples = static_cast<std::size_t>(kLongestS * kRateHz) + kMostSkipped + 16;

std::uint64_t next_draw(std::uint64_t& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state >> 11U;
}

// A buzz with many harmonics in syllables, above breath.
std::vector<std::int16_t> make_voice(std::size_t voice) {
  std::vector<std::int16_t> samples(kVoiceSamples);
  std::uint64_t state = 2 * voice + 1;
  const auto turn = static_cast<double>(voice);
  double phase = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRateHz;
    const double breath = static_cast<double>(next_draw(state)) * 0x1p-52 - 1.0;
    phase += 2.0 * std::numbers::pi * (115.0 + 25.0 * std::sin(2.3 * t + turn)) / kRateHz;
    const double buzz = 0.2 * std::sin(phase) / (1.05 - std::cos(phase));
    const double x = 0.8 * buzz * std::max(0.0, std::sin(9.4 * t + turn)) + 0.004 * breath;
    samples[i] = static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0, 1.0) * 32767.0));
  }
  return samples;
}

std::vector<std::vector<std::int16_t>> make_voices(std::size_t num_threads) {
  std::vector<std::vector<std::int16_t>> voices(kVoices);
  run_parallel(static_cast<unsigned>(num_threads), kVoices,
               [&](std::size_t voice) { voices[voice] = make_voice(voice); });
  return voices;
}

// Skewed towards the long end, as read speech is.
std::int32_t draw_length(std::uint64_t& state) {
  const double u = static_cast<double>(next_draw(state)) * 0x1p-53;
  const double length_s = kShortestS + (kLongestS - kShortestS) * (0.6 * std::sqrt(u) + 0.4 * u);
  return static_cast<std::int32_t>(length_s * kRateHz);
}

float value_at(MelDtype dtype, const std::byte* bytes, std::size_t index) {
  if (dtype == MelDtype::kF32) {
    float value = 0.0F;
    std::memcpy(&value, bytes + index * sizeof(float), sizeof(float));
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes + index * sizeof(bits), sizeof(bits));
  return dtype == MelDtype::kF16 ? audio::f16_value(bits) : audio::bf16_value(bits);
}

// What rounding to the dtype may add to the difference, in parts of the value.
double rounding_of(MelDtype dtype) {
  if (dtype == MelDtype::kF16) return 0x1p-11;
  return dtype == MelDtype::kBf16 ? 0x1p-8 : 0.0;
}

// How far apart two f32 results of one value may be.
struct MelAllowance {
  double scale;  // differences times this are in units of ln, or parts of the frame's largest value
  double most;
  bool is_loud;
};

// f32 leaves noise of about 1e-7 of a frame's largest bin in every other. Where area norm divides
// high bands and the floor hides the rest, CPU and GPU both compute in f32 and may differ by it;
// for filters without a norm (vocos24, kaldi, myxtts_tf) both transform in f64.
MelAllowance allowance_of(const config::MelRecipe& r, double value, double highest) {
  if (r.log == config::MelLog::kNone) {
    return {.scale = 1.0 / (highest + 1e-3), .most = 1e-5, .is_loud = value > 1e-3 * highest};
  }
  double per_value = r.log == config::MelLog::kLn ? 1.0 : std::numbers::ln10;
  if (r.log == config::MelLog::kDb) per_value /= 10.0;
  if (r.range == config::MelRange::kMinMax) per_value *= 16.0;  // about what 0..1 spans
  per_value /= std::abs(r.out_scale);
  const double below_highest = (highest - value) * per_value;
  const double noise = r.norm == config::MelNorm::kNone ? 0.0 : 1e-7;
  return {.scale = per_value,
          .most = 2e-4 + std::min(0.2, noise * std::exp(below_highest)),
          .is_loud = below_highest < 8.0};
}

}  // namespace

MelPool::MelPool(std::size_t num_utterances, std::size_t num_threads) {
  const auto voices = make_voices(std::max<std::size_t>(num_threads, 1));
  std::uint64_t state = 77;
  std::size_t end = 0;
  for (std::size_t u = 0; u < num_utterances; ++u) {
    begins.push_back(static_cast<std::int64_t>(end));
    lengths.push_back(draw_length(state));
    longest_samples = std::max(longest_samples, static_cast<std::size_t>(lengths.back()));
    end += (static_cast<std::size_t>(lengths.back()) + 7) / 8 * 8;
  }
  samples.resize(end);
  for (std::size_t u = 0; u < num_utterances; ++u) {
    const auto* const from = voices[u % kVoices].data() + u * 37 % kMostSkipped;
    std::copy_n(from, lengths[u], samples.data() + begins[u]);
  }
}

DeviceMelRun::DeviceMelRun(const DeviceMelCase& bench_case, int device, const MelPool& pool,
                           const cuda::Stream& stream)
    : case_(bench_case),
      pool_(&pool),
      stream_(&stream),
      mel_(bench_case.recipe, {.out = bench_case.dtype,
                               .in = audio::SampleType::kPcm16,
                               .device = device,
                               .variant = bench_case.variant}),
      num_rows_(mel_.num_frames(pool.longest_samples)),
      row_bytes_(mel_.num_mels() * config::bytes_per_value(bench_case.dtype)),
      out_(device, pool.lengths.size() * utterance_bytes()),
      scratch_(device, mel_.scratch_bytes(pool.lengths.size(), num_rows_)) {}

void DeviceMelRun::run_pool(const audio::DeviceMelBatch& whole, std::size_t batch) const {
  for (std::size_t first = 0; first + batch <= pool_->lengths.size(); first += batch) {
    audio::DeviceMelBatch part = whole;
    part.begins += first;
    part.lengths += first;
    part.num_utterances = static_cast<int>(batch);
    part.padded_frames = static_cast<int>(num_rows_);
    part.mel = out_.data() + first * utterance_bytes();
    part.scratch = scratch_.data();
    mel_.run(part, *stream_);
  }
}

void DeviceMelRun::spoil_out() const {
  cuda::system_device_api().fill_bytes(out_.data(), 0xEE, out_.size_bytes(),
                                       stream_->view().handle());
}

std::vector<std::byte> DeviceMelRun::read_out() const {
  std::vector<std::byte> bytes(out_.size_bytes());
  cuda::system_device_api().copy({bytes.data(), out_.data(), bytes.size(), cuda::CopyKind::kToHost},
                                 stream_->view().handle());
  stream_->synchronize();
  return bytes;
}

DeviceMelAgreement DeviceMelRun::compare_with_cpu(const std::vector<std::byte>& bytes,
                                                  std::size_t num_threads) const {
  const audio::LogMel cpu(case_.recipe, detect_simd_level());
  std::atomic<std::size_t> next{0};
  std::vector<DeviceMelAgreement> parts(std::max<std::size_t>(num_threads, 1));
  run_parallel(static_cast<unsigned>(parts.size()), parts.size(), [&](std::size_t i) {
    auto workspace = cpu.make_workspace(pool_->longest_samples);
    std::vector<float> expected(num_rows_ * cpu.num_mels());
    for (std::size_t u = 0; (u = next.fetch_add(1)) < pool_->lengths.size();) {
      std::ranges::fill(expected, cpu.padding_value());
      cpu.run(pool_->utterance(u), audio::mel_view(expected, cpu.num_mels()), workspace);
      compare_utterance(bytes.data() + u * utterance_bytes(), expected, parts[i]);
    }
  });
  DeviceMelAgreement all;
  for (const DeviceMelAgreement& part : parts) {
    all.largest_loud = std::max(all.largest_loud, part.largest_loud);
    all.largest_quiet = std::max(all.largest_quiet, part.largest_quiet);
    all.num_wrong += part.num_wrong;
  }
  return all;
}

void DeviceMelRun::compare_utterance(const std::byte* bytes, const std::vector<float>& expected,
                                     DeviceMelAgreement& agreement) const {
  const std::size_t num_mels = mel_.num_mels();
  for (std::size_t first = 0; first < expected.size(); first += num_mels) {
    const std::span row = std::span(expected).subspan(first, num_mels);
    const auto highest = static_cast<double>(std::ranges::max(row));
    for (std::size_t band = 0; band < num_mels; ++band) {
      const auto want = static_cast<double>(row[band]);
      const auto got = static_cast<double>(value_at(case_.dtype, bytes, first + band));
      const MelAllowance allowed = allowance_of(case_.recipe, want, highest);
      const double off = std::abs(got - want) * allowed.scale;
      double& largest = allowed.is_loud ? agreement.largest_loud : agreement.largest_quiet;
      largest = std::max(largest, off);
      const double rounding = rounding_of(case_.dtype) * std::abs(want) * allowed.scale;
      if (!(off <= allowed.most + rounding)) ++agreement.num_wrong;
    }
  }
}

}  // namespace stoker::bench
