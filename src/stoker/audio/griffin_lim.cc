#include "stoker/audio/griffin_lim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "stoker/audio/mel_filterbank.h"
#include "stoker/audio/mel_inverse.h"
#include "stoker/audio/stft_lanes.h"
#include "stoker/base/invariant.h"
#include "stoker/base/philox.h"

namespace stoker::audio {
namespace {

constexpr std::size_t kLanes = kFrameLanes;
constexpr float kTinyPower = 1e-20F;
constexpr float kUnheard = 1e-4F;  // largest magnitude of bins that no band covers
constexpr float kMaxRatio = 1e3F;

std::size_t padding_of(const config::MelRecipe& recipe) {
  const auto n_fft = static_cast<std::size_t>(recipe.n_fft);
  switch (recipe.framing) {
    case config::MelFraming::kSame:
      return (n_fft - static_cast<std::size_t>(recipe.hop_samples)) / 2;
    case config::MelFraming::kCenter:
      return n_fft / 2;
    case config::MelFraming::kPadEnd:
    case config::MelFraming::kSnipEdges:
      break;
  }
  return 0;
}

// One weight of the sparse filters.
struct Weight {
  std::uint32_t band;
  float value;
};

}  // namespace

struct GriffinLimPlan {
  config::MelRecipe recipe;
  GriffinLimOptions options;
  StftLanes stft;
  std::size_t padding;
  std::vector<std::uint32_t> bin_begin;  // weights of bin k: [bin_begin[k], bin_begin[k + 1])
  std::vector<Weight> weights;
  std::vector<float> bin_share;   // 1 / (sum of the bin's weights), 0 where no band covers it
  std::vector<float> band_share;  // 1 / (sum of the band's weights)

  GriffinLimPlan(const config::MelRecipe& wanted, const GriffinLimOptions& how, SimdLevel level)
      : recipe(wanted), options(how), stft(wanted, level), padding(padding_of(wanted)) {
    const std::vector<float> dense = mel_filterbank(recipe);
    const std::size_t num_bins = stft.num_bins();
    const auto num_mels = static_cast<std::size_t>(recipe.num_mels);
    std::vector<double> band_sum(num_mels, 0.0);
    for (std::size_t k = 0; k < num_bins; ++k) {
      bin_begin.push_back(static_cast<std::uint32_t>(weights.size()));
      double bin_sum = 0;
      for (std::size_t band = 0; band < num_mels; ++band) {
        const float value = dense[band * num_bins + k];
        if (value == 0) continue;
        weights.push_back({static_cast<std::uint32_t>(band), value});
        bin_sum += value;
        band_sum[band] += value;
      }
      bin_share.push_back(bin_sum > 0 ? static_cast<float>(1.0 / bin_sum) : 0.0F);
    }
    bin_begin.push_back(static_cast<std::uint32_t>(weights.size()));
    for (const double sum : band_sum)
      band_share.push_back(sum > 0 ? static_cast<float>(1.0 / sum) : 0.0F);
  }

  std::size_t num_mels() const { return band_share.size(); }
  std::size_t block_values() const { return stft.num_bins() * kLanes; }
};

struct GriffinLimArrays {
  std::size_t num_frames = 0;
  std::size_t num_blocks = 0;
  std::vector<float> wanted;              // per block: [band][lane]
  std::vector<float> shown_re, shown_im;  // what the next waveform is made from
  std::vector<float> seen_re, seen_im;    // the spectrum of the waveform before: momentum
  std::vector<float> now_re, now_im;      // one block
  std::vector<float> magnitude, bands;    // one block
  std::vector<float> signal, envelope;
  StftLanes::Scratch scratch;
};

namespace {

// gain of each bin = its bands' ratios, weighted: (W' ratio) / (W' 1).
void spread_ratios(const GriffinLimPlan& plan, std::size_t bin, const float* ratios, float* gain) {
  std::array<float, kLanes> sum{};
  for (std::uint32_t i = plan.bin_begin[bin]; i < plan.bin_begin[bin + 1]; ++i) {
    const float* ratio = ratios + plan.weights[i].band * kLanes;
    const float weight = plan.weights[i].value;
    for (std::size_t l = 0; l < kLanes; ++l) sum[l] += weight * ratio[l];
  }
  for (std::size_t l = 0; l < kLanes; ++l) gain[l] = sum[l] * plan.bin_share[bin];
}

void sum_bands(const GriffinLimPlan& plan, const float* magnitude, float* bands) {
  std::fill_n(bands, plan.num_mels() * kLanes, 0.0F);
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    for (std::uint32_t i = plan.bin_begin[bin]; i < plan.bin_begin[bin + 1]; ++i) {
      float* band = bands + plan.weights[i].band * kLanes;
      const float weight = plan.weights[i].value;
      for (std::size_t l = 0; l < kLanes; ++l) band[l] += weight * magnitude[bin * kLanes + l];
    }
  }
}

// The first guess: magnitudes spread from the wanted bands, phases drawn by key.
void first_block(const GriffinLimPlan& plan, const float* wanted, std::size_t block,
                 BlockSpectrum out) {
  constexpr std::size_t kAngles = 4096;
  static const std::vector<std::pair<float, float>> kCircle = [] {
    std::vector<std::pair<float, float>> circle(kAngles);
    for (std::size_t i = 0; i < kAngles; ++i) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / kAngles;
      circle[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
    return circle;
  }();
  std::vector<float> ratios(plan.num_mels() * kLanes);
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = wanted[i] * plan.band_share[i / kLanes];
  KeyedDraws draws({plan.options.seed, "griffin-lim", 0, block});
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    std::array<float, kLanes> gain;
    spread_ratios(plan, bin, ratios.data(), gain.data());
    for (std::size_t l = 0; l < kLanes; ++l) {
      const float magnitude = plan.recipe.power == 2 ? std::sqrt(gain[l]) : gain[l];
      const auto [c, s] = kCircle[draws.next_u32() % kAngles];
      out.real[bin * kLanes + l] = magnitude * c;
      out.imaginary[bin * kLanes + l] = magnitude * s;
    }
  }
}

// What one bin of one frame becomes: magnitude from the bands, phase from spectrum and momentum.
struct BinUpdate {
  float momentum;
  float epsilon;
  bool is_power;
};

void update_block(const GriffinLimPlan& plan, GriffinLimArrays& a, std::size_t block,
                  const BinUpdate& how) {
  const std::size_t at = block * plan.block_values();
  for (std::size_t i = 0; i < plan.block_values(); ++i) {
    const float power = a.now_re[i] * a.now_re[i] + a.now_im[i] * a.now_im[i] + how.epsilon;
    a.magnitude[i] = how.is_power ? power : std::sqrt(power);
  }
  sum_bands(plan, a.magnitude.data(), a.bands.data());
  const float* wanted = a.wanted.data() + block * plan.num_mels() * kLanes;
  for (std::size_t i = 0; i < a.bands.size(); ++i)
    a.bands[i] =
        std::clamp(wanted[i] / std::max(a.bands[i], kTinyPower), 1.0F / kMaxRatio, kMaxRatio);
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    std::array<float, kLanes> gain;
    spread_ratios(plan, bin, a.bands.data(), gain.data());
    const bool is_covered = plan.bin_share[bin] > 0;
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::size_t i = bin * kLanes + l;
      const float re = a.now_re[i] - how.momentum * a.seen_re[at + i];
      const float im = a.now_im[i] - how.momentum * a.seen_im[at + i];
      const float scaled =
          is_covered ? a.magnitude[i] * gain[l] : std::min(a.magnitude[i], kUnheard);
      const float magnitude = how.is_power ? std::sqrt(scaled) : scaled;
      const float turn = magnitude / std::sqrt(re * re + im * im + kTinyPower);
      a.shown_re[at + i] = re * turn;
      a.shown_im[at + i] = im * turn;
      a.seen_re[at + i] = a.now_re[i];
      a.seen_im[at + i] = a.now_im[i];
    }
  }
}

// The samples before and after the utterance, as the recipe pads it.
void pad_signal(std::span<float> signal, std::size_t padding, std::size_t num_samples,
                config::MelPadMode mode) {
  const auto tail = signal.subspan(padding + num_samples);
  std::fill(tail.begin(), tail.end(), 0.0F);
  std::fill_n(signal.begin(), padding, 0.0F);
  if (mode != config::MelPadMode::kReflect || num_samples <= padding) return;
  for (std::size_t i = 1; i <= padding; ++i) {
    signal[padding - i] = signal[padding + i];
    signal[padding + num_samples - 1 + i] = signal[padding + num_samples - 1 - i];
  }
}

// Lanes of the last block that hold no frame stay silent: no window undoes what they would add.
void silence_empty_lanes(const GriffinLimPlan& plan, GriffinLimArrays& a) {
  const std::size_t first_empty = (a.num_frames - 1) % kLanes + 1;
  const std::size_t at = (a.num_blocks - 1) * plan.block_values();
  for (std::size_t i = 0; i < plan.block_values(); ++i) {
    if (i % kLanes < first_empty) continue;
    a.shown_re[at + i] = 0.0F;
    a.shown_im[at + i] = 0.0F;
  }
}

// Sizes the arrays for the utterance and takes its bands in, sixteen frames side by side.
void prepare(const GriffinLimPlan& plan, std::span<const float> log_mel, GriffinLimArrays& a) {
  const std::size_t num_mels = plan.num_mels();
  const std::size_t num_frames = log_mel.size() / num_mels;
  a.num_frames = num_frames;
  a.num_blocks = (num_frames + kLanes - 1) / kLanes;
  a.wanted.assign(a.num_blocks * num_mels * kLanes, kTinyPower);
  std::vector<float>& frame = a.bands;
  frame.resize(num_mels);
  for (std::size_t t = 0; t < num_frames; ++t) {
    mel_energies(plan.recipe, log_mel.subspan(t * num_mels, num_mels), frame);
    float* block = a.wanted.data() + t / kLanes * num_mels * kLanes + t % kLanes;
    for (std::size_t band = 0; band < num_mels; ++band) block[band * kLanes] = frame[band];
  }
  a.bands.assign(num_mels * kLanes, 0.0F);
  for (std::vector<float>* spectrum : {&a.shown_re, &a.shown_im, &a.seen_re, &a.seen_im})
    spectrum->assign(a.num_blocks * plan.block_values(), 0.0F);
  for (std::vector<float>* block : {&a.now_re, &a.now_im, &a.magnitude})
    block->assign(plan.block_values(), 0.0F);
  if (a.scratch.a_real.empty()) a.scratch = plan.stft.make_scratch();
}

// How much of each sample the overlapping windows bring; its inverse undoes them.
void make_envelope(const GriffinLimPlan& plan, std::size_t num_frames, GriffinLimArrays& a) {
  const std::size_t hop = plan.stft.hop_samples();
  const std::span<const float> window = plan.stft.window();
  a.signal.assign((a.num_blocks * kLanes - 1) * hop + plan.stft.num_points() + plan.padding, 0.0F);
  a.envelope.assign(a.signal.size(), 0.0F);
  for (std::size_t t = 0; t < num_frames; ++t)
    for (std::size_t i = 0; i < window.size(); ++i)
      a.envelope[t * hop + i] += window[i] * window[i];
  constexpr float kLeastEnvelope = 1e-3F;
  for (float& value : a.envelope) value = 1.0F / std::max(value, kLeastEnvelope);
}

void synthesise(const GriffinLimPlan& plan, std::size_t num_samples, GriffinLimArrays& a) {
  silence_empty_lanes(plan, a);
  std::fill(a.signal.begin(), a.signal.end(), 0.0F);
  for (std::size_t block = 0; block < a.num_blocks; ++block) {
    const std::size_t at = block * plan.block_values();
    plan.stft.overlap_add({a.shown_re.data() + at, a.shown_im.data() + at}, block * kLanes,
                          a.signal, a.scratch);
  }
  for (std::size_t i = 0; i < a.signal.size(); ++i) a.signal[i] *= a.envelope[i];
  pad_signal(a.signal, plan.padding, num_samples, plan.recipe.pad_mode);
}

// The recipe's pre-emphasis and scale, undone.
void finish(const config::MelRecipe& recipe, std::span<const float> signal, std::span<float> out) {
  const auto scale = static_cast<float>(1.0 / recipe.waveform_scale);
  const auto emphasis = static_cast<float>(recipe.preemphasis);
  float before = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    before = signal[i] * scale + emphasis * before;
    out[i] = before;
  }
}

}  // namespace

GriffinLim::Workspace::Workspace() = default;
GriffinLim::Workspace::Workspace(Workspace&&) noexcept = default;
GriffinLim::Workspace& GriffinLim::Workspace::operator=(Workspace&&) noexcept = default;
GriffinLim::Workspace::~Workspace() = default;
GriffinLim::GriffinLim(std::unique_ptr<const GriffinLimPlan> plan) : plan_(std::move(plan)) {}
GriffinLim::GriffinLim(GriffinLim&&) noexcept = default;
GriffinLim& GriffinLim::operator=(GriffinLim&&) noexcept = default;
GriffinLim::~GriffinLim() = default;

Result<GriffinLim> GriffinLim::make(const config::MelRecipe& recipe,
                                    const GriffinLimOptions& options, SimdLevel level) {
  if (Result<void> invertible = check_invertible(recipe); !invertible) return invertible.error();
  return GriffinLim(std::make_unique<const GriffinLimPlan>(recipe, options, level));
}

std::size_t GriffinLim::num_samples(std::size_t num_frames) const noexcept {
  if (num_frames == 0) return 0;
  const auto hop = static_cast<std::size_t>(plan_->recipe.hop_samples);
  switch (plan_->recipe.framing) {
    case config::MelFraming::kCenter:
      return (num_frames - 1 + static_cast<std::size_t>(plan_->recipe.drop_last_frames)) * hop;
    case config::MelFraming::kSnipEdges:
      return (num_frames - 1) * hop + static_cast<std::size_t>(plan_->recipe.win_samples);
    case config::MelFraming::kSame:
    case config::MelFraming::kPadEnd:
      break;
  }
  return num_frames * hop;
}

void GriffinLim::run(std::span<const float> log_mel, std::span<float> out,
                     Workspace& workspace) const {
  const std::size_t num_frames = log_mel.size() / plan_->num_mels();
  check_invariant(out.size() == num_samples(num_frames),
                  "GriffinLim::run into a buffer of another size");
  if (num_frames == 0) return;
  if (!workspace.arrays_) workspace.arrays_ = std::make_unique<GriffinLimArrays>();
  GriffinLimArrays& a = *workspace.arrays_;
  prepare(*plan_, log_mel, a);
  make_envelope(*plan_, num_frames, a);
  for (std::size_t block = 0; block < a.num_blocks; ++block) {
    const std::size_t at = block * plan_->block_values();
    first_block(*plan_, a.wanted.data() + block * plan_->num_mels() * kLanes, block,
                {a.shown_re.data() + at, a.shown_im.data() + at});
  }
  const double momentum = plan_->options.momentum;
  const BinUpdate how{static_cast<float>(momentum / (1.0 + momentum)),
                      static_cast<float>(plan_->recipe.magnitude_epsilon),
                      plan_->recipe.power == 2};
  for (std::size_t round = 0; round < plan_->options.num_iterations; ++round) {
    synthesise(*plan_, out.size(), a);
    for (std::size_t block = 0; block < a.num_blocks; ++block) {
      plan_->stft.analyse(a.signal, block * kLanes, {a.now_re.data(), a.now_im.data()}, a.scratch);
      update_block(*plan_, a, block, how);
    }
  }
  synthesise(*plan_, out.size(), a);
  finish(plan_->recipe, std::span<const float>(a.signal).subspan(plan_->padding), out);
}

}  // namespace stoker::audio
