#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "stoker/audio/griffin_lim/griffin_lim_plan.h"
#include "stoker/audio/griffin_lim/mel_inverse.h"
#include "stoker/base/invariant.h"
#include "stoker/base/philox.h"

namespace stoker::audio {
namespace {

constexpr std::size_t kLanes = kFrameLanes;

}  // namespace

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
    const float* ratio = ratios + plan.weights[i].at * kLanes;
    const float weight = plan.weights[i].value;
    for (std::size_t l = 0; l < kLanes; ++l) sum[l] += weight * ratio[l];
  }
  for (std::size_t l = 0; l < kLanes; ++l) gain[l] = sum[l] * plan.bin_share[bin];
}

void sum_bands(const GriffinLimPlan& plan, const float* magnitude, float* bands) {
  std::fill_n(bands, plan.num_mels() * kLanes, 0.0F);
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    for (std::uint32_t i = plan.bin_begin[bin]; i < plan.bin_begin[bin + 1]; ++i) {
      float* band = bands + plan.weights[i].at * kLanes;
      const float weight = plan.weights[i].value;
      for (std::size_t l = 0; l < kLanes; ++l) band[l] += weight * magnitude[bin * kLanes + l];
    }
  }
}

// The first guess: magnitudes spread from the wanted bands, phases drawn by key.
void first_block(const GriffinLimPlan& plan, const float* wanted, std::size_t block,
                 BlockSpectrum out) {
  std::vector<float> ratios(plan.num_mels() * kLanes);
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = wanted[i] * plan.band_share[i / kLanes];
  KeyedDraws draws({plan.options.seed, kPhaseStage, 0, block});
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    std::array<float, kLanes> gain;
    spread_ratios(plan, bin, ratios.data(), gain.data());
    for (std::size_t l = 0; l < kLanes; ++l) {
      const float magnitude = plan.recipe.power == 2 ? std::sqrt(gain[l]) : gain[l];
      const auto [c, s] = plan.circle[draws.next_u32() % kPhaseAngles];
      out.real[bin * kLanes + l] = magnitude * c;
      out.imaginary[bin * kLanes + l] = magnitude * s;
    }
  }
}

void update_block(const GriffinLimPlan& plan, GriffinLimArrays& a, std::size_t block,
                  const BinUpdate& how) {
  const std::size_t at = block * plan.block_values();
  for (std::size_t i = 0; i < plan.block_values(); ++i)
    a.magnitude[i] = bin_magnitude({a.now_re[i], a.now_im[i]}, how);
  sum_bands(plan, a.magnitude.data(), a.bands.data());
  const float* wanted = a.wanted.data() + block * plan.num_mels() * kLanes;
  for (std::size_t i = 0; i < a.bands.size(); ++i) a.bands[i] = band_ratio(wanted[i], a.bands[i]);
  for (std::size_t bin = 0; bin + 1 < plan.bin_begin.size(); ++bin) {
    std::array<float, kLanes> gain;
    spread_ratios(plan, bin, a.bands.data(), gain.data());
    const bool is_covered = plan.bin_share[bin] > 0;
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::size_t i = bin * kLanes + l;
      const BinValue now{a.now_re[i], a.now_im[i]};
      const float scaled = is_covered ? a.magnitude[i] * gain[l] : unheard(a.magnitude[i]);
      const BinValue shown = turned_bin(now, {a.seen_re[at + i], a.seen_im[at + i]}, scaled, how);
      a.shown_re[at + i] = shown.real;
      a.shown_im[at + i] = shown.imaginary;
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
  a.signal.assign(plan.signal_samples(num_frames), 0.0F);
  a.envelope.assign(a.signal.size(), 0.0F);
  for (std::size_t t = 0; t < num_frames; ++t)
    for (std::size_t i = 0; i < window.size(); ++i)
      a.envelope[t * hop + i] += window[i] * window[i];
  for (float& value : a.envelope) value = inverse_envelope(value);
}

void synthesise(const GriffinLimPlan& plan, std::size_t num_samples, GriffinLimArrays& a) {
  silence_empty_lanes(plan, a);
  std::fill(a.signal.begin(), a.signal.end(), 0.0F);
  for (std::size_t block = 0; block < a.num_blocks; ++block) {
    const std::size_t at = block * plan.block_values();
    const BlockSpectrum shown{a.shown_re.data() + at, a.shown_im.data() + at,
                              std::min(kLanes, a.num_frames - block * kLanes)};
    plan.stft.overlap_add(shown, block * kLanes, a.signal, a.scratch);
  }
  for (std::size_t i = 0; i < a.signal.size(); ++i) a.signal[i] *= a.envelope[i];
  pad_signal(a.signal, plan.padding, num_samples, plan.recipe.pad_mode);
}

// The recipe's pre-emphasis and scale, undone.
void finish(const config::MelRecipe& recipe, std::span<const float> signal, std::span<float> out) {
  const auto scale = static_cast<float>(1.0 / recipe.waveform_scale);
  const auto emphasis = static_cast<float>(recipe.preemphasis);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = signal[i] * scale;
  for (std::size_t i = 1; emphasis != 0 && i < out.size(); ++i) out[i] += emphasis * out[i - 1];
}

}  // namespace

GriffinLim::Workspace::Workspace() = default;
GriffinLim::Workspace::Workspace(Workspace&&) noexcept = default;
GriffinLim::Workspace& GriffinLim::Workspace::operator=(Workspace&&) noexcept = default;
GriffinLim::Workspace::~Workspace() = default;

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
  const BinUpdate how = plan_->update();
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
