// Rows made of formulas, for tests of the feed: no files, known bytes, faults and delays on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/feed_setup.h"
#include "stoker/feed/source/utterance_source.h"
#include "tests/feed/sampling/speech_lengths.h"

namespace stoker::feed {

class SyntheticSource final : public UtteranceSource {
 public:
  explicit SyntheticSource(std::vector<SampledUtterance> rows) : rows_(std::move(rows)) {
    for (std::size_t i = 0; i < rows_.size(); ++i) ids_.push_back("utt" + std::to_string(i));
    for (const std::string& id : ids_) files_.push_back("wavs/" + id + ".wav");
  }

  // Called before each mel; an Error makes the row fail, an exception the worker.
  std::function<Result<void>(std::uint32_t row)> before_mel;
  // The same before samples and arrays.
  std::function<Result<void>(std::uint32_t row)> before_extra;
  unsigned extra_samples = 0;    // of every row, beyond its frames
  std::vector<ArrayKind> kinds;  // named arrays; a row has up to max_length steps of each

  std::uint32_t num_utterances() const override { return static_cast<std::uint32_t>(rows_.size()); }
  std::string_view id(std::uint32_t row) const override { return ids_[row]; }
  std::int32_t speaker(std::uint32_t row) const override {
    return static_cast<std::int32_t>(row % 3);
  }
  std::int32_t language(std::uint32_t row) const override {
    return static_cast<std::int32_t>(row % 2);
  }
  std::string_view file(std::uint32_t row) const override { return files_[row]; }
  std::uint64_t line(std::uint32_t row) const override { return row + 1; }
  std::uint32_t num_mels() const override { return 8; }
  std::uint32_t hop_samples() const override { return 4; }
  float padding() const override { return -11.5F; }
  std::unique_ptr<UtteranceReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override { return kinds; }

  const std::vector<SampledUtterance>& rows() const { return rows_; }
  static float mel_value(std::uint32_t row, std::uint32_t frame) {
    return static_cast<float>(row % 512) + static_cast<float>(frame % 4) / 4.0F;
  }
  // The sample from which mel_value() can be made again.
  static std::int16_t sample(std::uint32_t row, std::uint32_t index) {
    return static_cast<std::int16_t>(row % 512 * 4 + index / 4 % 4);
  }

  static std::uint32_t array_length(std::uint32_t row, const ArrayKind& kind) {
    return row % (kind.max_length + 1);
  }
  static std::byte array_byte(std::uint32_t row, std::size_t array, std::size_t at) {
    return static_cast<std::byte>(row * 31 + array * 7 + at + 1);
  }

 private:
  std::vector<SampledUtterance> rows_;
  std::vector<std::string> ids_;
  std::vector<std::string> files_;
};

class SyntheticReader final : public UtteranceReader {
 public:
  explicit SyntheticReader(const SyntheticSource& store) : store_(store) {}

  Result<std::uint32_t> read_tokens(std::uint32_t row, std::span<std::int32_t> out) override {
    const std::uint32_t count = store_.rows()[row].num_tokens;
    for (std::uint32_t i = 0; i < count; ++i) out[i] = static_cast<std::int32_t>(row + i + 1);
    return count;
  }
  Result<std::uint32_t> read_mel(std::uint32_t row, const MelTarget& out,
                                 pipeline::FillContext& context) override {
    context.enter(kMel);
    if (store_.before_mel) {
      if (Result<void> ready = store_.before_mel(row); !ready) return ready.error();
    }
    const std::uint32_t frames = store_.rows()[row].num_frames;
    const std::size_t frame_bytes = store_.num_mels() * config::bytes_per_value(out.dtype);
    auto* bytes = static_cast<std::byte*>(out.values);
    for (std::uint32_t i = 0; i < frames; ++i) {
      cache::fill_values(bytes + i * frame_bytes, cache::element_of(out.dtype), store_.num_mels(),
                         SyntheticSource::mel_value(row, i));
    }
    cache::fill_values(bytes + frames * frame_bytes, cache::element_of(out.dtype),
                       std::size_t{out.num_frames - frames} * store_.num_mels(), out.padding);
    return frames;
  }
  Result<std::uint32_t> read_pcm(std::uint32_t row, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override {
    context.enter(kMel);
    if (store_.before_mel) {
      if (Result<void> ready = store_.before_mel(row); !ready) return ready.error();
    }
    const std::uint32_t count = store_.rows()[row].num_frames * store_.hop_samples();
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = SyntheticSource::sample(row, i);
    }
    return count;
  }
  Result<std::uint32_t> read_audio(std::uint32_t row, std::span<float> out,
                                   pipeline::FillContext&) override {
    if (store_.before_extra) {
      if (Result<void> ready = store_.before_extra(row); !ready) return ready.error();
    }
    const std::uint32_t all =
        store_.rows()[row].num_frames * store_.hop_samples() + store_.extra_samples;
    const std::uint32_t count = std::min(all, static_cast<std::uint32_t>(out.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = SyntheticSource::mel_value(row, i / store_.hop_samples());
    }
    return count;
  }
  Result<std::uint32_t> read_array(std::uint32_t row, std::size_t array,
                                   std::span<std::byte> out) override {
    if (store_.before_extra) {
      if (Result<void> ready = store_.before_extra(row); !ready) return ready.error();
    }
    const ArrayKind& kind = store_.kinds[array];
    const std::uint32_t length = SyntheticSource::array_length(row, kind);
    for (std::size_t i = 0; i < length * kind.bytes_per_step(); ++i) {
      out[i] = SyntheticSource::array_byte(row, array, i);
    }
    return length;
  }

 private:
  const SyntheticSource& store_;
};

inline std::unique_ptr<UtteranceReader> SyntheticSource::make_reader() const {
  return std::make_unique<SyntheticReader>(*this);
}

// A feed over `store` with settings that tests change; small buffers, no files.
inline FeedSetup synthetic_setup(std::shared_ptr<const SyntheticSource> store) {
  FeedSetup setup;
  setup.rows = store->rows();
  setup.bad_rows.num_rows = setup.rows.size();
  setup.store = std::move(store);
  setup.order.batch_frames = 4000;
  setup.identity = {.data = "0123456789abcdef",
                    .order = "0123456789abcdef",
                    .feature = "0123456789abcdef",
                    .text = "0123456789abcdef",
                    .path = "scalar",
                    .seed = 42};
  setup.loading.num_workers = 2;
  return setup;
}

}  // namespace stoker::feed
