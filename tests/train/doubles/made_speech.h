// Utterances made of formulas, which a model can learn: each token has a spectrum of its own and
// lasts a few frames. No files; rows that fail or are not finite on demand.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/data/errors.h"
#include "stoker/feed/feed.h"
#include "stoker/feed/source/utterance_source.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

struct SpeechFaults {
  std::set<std::uint32_t> not_finite{};
  std::set<std::uint32_t> bad{};  // become empty rows
};

class MadeSpeech final : public feed::UtteranceSource {
 public:
  static constexpr std::uint32_t kMels = 8;
  static constexpr std::uint32_t kTokens = 12;  // 0 is padding

  explicit MadeSpeech(std::uint32_t num_utterances, SpeechFaults faults = {})
      : faults_(std::move(faults)) {
    for (std::uint32_t i = 0; i < num_utterances; ++i) {
      KeyedDraws draws({3, "test/text", 0, i});
      std::vector<std::int32_t> text(4 + draws.next_below(6));
      for (std::int32_t& token : text) {
        token = static_cast<std::int32_t>(1 + draws.next_below(kTokens - 1));
      }
      texts_.push_back(std::move(text));
      num_frames_.push_back(static_cast<std::uint32_t>(30 + draws.next_below(20)));
      ids_.push_back("utt" + std::to_string(i));
    }
  }

  std::uint32_t num_utterances() const override { return static_cast<std::uint32_t>(ids_.size()); }
  std::string_view id(std::uint32_t row) const override { return ids_[row]; }
  std::int32_t speaker(std::uint32_t) const override { return 0; }
  std::int32_t language(std::uint32_t) const override { return 0; }
  std::string_view file(std::uint32_t row) const override { return ids_[row]; }
  std::uint64_t line(std::uint32_t row) const override { return row + 1; }
  std::uint32_t num_mels() const override { return kMels; }
  std::uint32_t hop_samples() const override { return 4; }
  float padding() const override { return -11.5F; }
  std::unique_ptr<feed::UtteranceReader> make_reader() const override;

  const std::vector<std::int32_t>& text(std::uint32_t row) const { return texts_[row]; }
  std::uint32_t num_frames(std::uint32_t row) const { return num_frames_[row]; }
  const SpeechFaults& faults() const { return faults_; }
  // A multiple of 1/64 between -8 and 0: the same in every number format of mels but bf16.
  float mel(std::uint32_t row, std::uint32_t frame, std::uint32_t band) const {
    const std::size_t place = std::size_t{frame} * texts_[row].size() / num_frames_[row];
    KeyedDraws spectrum({7, "test/spectrum", band, static_cast<std::uint64_t>(texts_[row][place])});
    KeyedDraws noise({8, "test/noise", band, (std::uint64_t{row} << 32U) + frame});
    const auto steps = spectrum.next_below(448) + noise.next_below(64);
    return static_cast<float>(steps) / 64.0F - 8.0F;
  }

 private:
  SpeechFaults faults_;
  std::vector<std::vector<std::int32_t>> texts_;
  std::vector<std::uint32_t> num_frames_;
  std::vector<std::string> ids_;
};

class MadeSpeechReader final : public feed::UtteranceReader {
 public:
  explicit MadeSpeechReader(const MadeSpeech& speech) : speech_(speech) {}

  Result<std::uint32_t> read_tokens(std::uint32_t row, std::span<std::int32_t> out) override {
    const std::vector<std::int32_t>& text = speech_.text(row);
    std::copy(text.begin(), text.end(), out.begin());
    return static_cast<std::uint32_t>(text.size());
  }
  Result<std::uint32_t> read_mel(std::uint32_t row, const feed::MelTarget& out,
                                 pipeline::FillContext&) override {
    if (speech_.faults().bad.contains(row)) return Error{.code = &data::kDataSilent};
    const std::size_t value_bytes = config::bytes_per_value(out.dtype);
    auto* bytes = static_cast<std::byte*>(out.values);
    const auto write = [&](float value) {
      cache::fill_values(bytes, cache::element_of(out.dtype), 1, value);
      bytes += value_bytes;
    };
    const bool is_finite = !speech_.faults().not_finite.contains(row);
    for (std::uint32_t frame = 0; frame < out.num_frames; ++frame) {
      for (std::uint32_t band = 0; band < MadeSpeech::kMels; ++band) {
        const bool is_true = frame < speech_.num_frames(row);
        const bool is_bad = !is_finite && frame == 5 && band == 2;
        write(is_bad    ? std::numeric_limits<float>::quiet_NaN()
              : is_true ? speech_.mel(row, frame, band)
                        : out.padding);
      }
    }
    return speech_.num_frames(row);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t, std::span<std::int16_t>,
                                 pipeline::FillContext&) override {
    return std::uint32_t{0};
  }
  Result<std::uint32_t> read_audio(std::uint32_t, std::span<float>,
                                   pipeline::FillContext&) override {
    return std::uint32_t{0};
  }

 private:
  const MadeSpeech& speech_;
};

inline std::unique_ptr<feed::UtteranceReader> MadeSpeech::make_reader() const {
  return std::make_unique<MadeSpeechReader>(*this);
}

struct MadeFeed {
  std::uint32_t num_utterances = 24;
  SpeechFaults faults{};
  std::uint32_t batch_frames = 300;
  feed::BatchLayout layout = feed::BatchLayout::kPadded;
  config::MelDtype dtype = config::MelDtype::kF32;
  feed::ReferenceFrom reference = feed::ReferenceFrom::kNone;
  std::uint32_t reference_frames = 0;
  std::uint64_t buffer_bytes = std::uint64_t{1} << 30U;

  feed::Feed open() const {
    const auto speech = std::make_shared<MadeSpeech>(num_utterances, faults);
    feed::FeedSetup setup;
    for (std::uint32_t row = 0; row < num_utterances; ++row) {
      setup.rows.push_back(
          {speech->num_frames(row), static_cast<std::uint32_t>(speech->text(row).size()), 0});
    }
    setup.bad_rows = {.num_rows = num_utterances};
    setup.store = speech;
    setup.order.batch_frames = batch_frames;
    setup.order.layout = layout;
    setup.dtype = dtype;
    setup.extras.reference = reference;
    setup.extras.reference_frames = reference_frames;
    const std::string digest(16, '0');
    setup.identity = {.data = digest,
                      .order = digest,
                      .feature = digest,
                      .text = digest,
                      .path = "scalar",
                      .seed = 42};
    setup.loading.num_workers = 1;
    setup.loading.buffer_bytes = buffer_bytes;
    return feed::Feed(std::move(setup));
  }
};

// The next batch, over the ends of epochs.
inline feed::Batch next_batch(feed::Feed& feed) {
  for (;;) {
    if (std::optional<feed::Batch> batch = feed.next()) return std::move(*batch);
  }
}

inline LearnerOptions small_learner() {
  return {.shape = {.num_tokens = MadeSpeech::kTokens,
                    .num_mels = MadeSpeech::kMels,
                    .text_width = 32,
                    .text_layers = 1,
                    .text_heads = 2,
                    .decoder_width = 32,
                    .decoder_layers = 2,
                    .decoder_heads = 2,
                    .num_latents = 4,
                    .reference_frames = 12},
          .scale = {.mean = -4.0, .deviation = 2.0},
          .seed = 11};
}

}  // namespace stoker::train
