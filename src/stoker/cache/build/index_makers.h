// The makers of an index's records: log-mel, PCM16 and tokens of every accepted utterance.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/cache/build/record_maker.h"
#include "stoker/cache/build/utterance_loader.h"
#include "stoker/data/index.h"
#include "stoker/text/phoneme_sidecar.h"
#include "stoker/text/tokenizer.h"

namespace stoker::cache {

// The index's rows in byte order of their ids; the index must outlive it.
class SortedRows {
 public:
  explicit SortedRows(const data::Index& index);
  std::size_t size() const noexcept { return order_.size(); }
  data::Utterance operator[](std::size_t row) const noexcept { return (*index_)[order_[row]]; }
  const data::Index& index() const noexcept { return *index_; }
  // The index's row at a sorted place, and the reverse.
  std::size_t index_row(std::size_t place) const noexcept { return order_[place]; }
  std::size_t place_of(std::size_t index_row) const noexcept { return places_[index_row]; }

 private:
  const data::Index* index_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> places_;
};

// What stands behind records that come from sound files.
struct SoundSource {
  const SortedRows* rows = nullptr;
  audio::SpeechRule rule;
  audio::SoundPolicy policy;
};

// Records made from sound files: their source is the file.
class SoundMaker : public RecordMaker {
 public:
  SoundMaker(const SoundSource& source, Digest128 settings)
      : source_(source), settings_(settings) {}

  Digest128 settings() const override { return settings_; }
  std::size_t num_rows() const override { return source_.rows->size(); }
  std::string_view id(std::size_t row) const override { return (*source_.rows)[row].id; }
  Result<std::optional<SourceStamp>> stamp(std::size_t row) const override;
  std::string source_part(std::size_t row) const override;
  Result<Digest128> source_digest(std::size_t row) const override;

 protected:
  std::uint64_t expected_samples(std::size_t row) const;
  // Nothing where only decoding tells.
  std::optional<std::uint64_t> exact_samples(std::size_t row) const;
  UtteranceLoader make_loader() const;
  const SoundSource source_;

 private:
  Digest128 settings_;
};

// Log-mel [frames, mels] in the cache's dtype. The LogMel must outlive it.
class MelMaker final : public SoundMaker {
 public:
  MelMaker(const SoundSource& source, Digest128 settings, const audio::LogMel& mel,
           ElementType element)
      : SoundMaker(source, settings), mel_(mel), element_(element) {}
  RecordKind kind() const override { return RecordKind::kMel; }
  std::uint64_t expected_bytes(std::size_t row) const override;
  std::optional<std::string> shape_missed_by(std::size_t row,
                                             const ArrayShape& found) const override;
  std::unique_ptr<Worker> make_worker() const override;

 private:
  const audio::LogMel& mel_;
  ElementType element_;
};

// PCM16 [samples] at the features' rate, ready for a mel on another device.
class PcmMaker final : public SoundMaker {
 public:
  using SoundMaker::SoundMaker;
  RecordKind kind() const override { return RecordKind::kPcm; }
  std::uint64_t expected_bytes(std::size_t row) const override { return 2 * expected_samples(row); }
  std::optional<std::string> shape_missed_by(std::size_t row,
                                             const ArrayShape& found) const override;
  std::unique_ptr<Worker> make_worker() const override;
};

// Token ids of the utterances' texts; one tokenizer a language of the index.
class TokenMaker final : public RecordMaker {
 public:
  struct Source {
    const SortedRows* rows = nullptr;
    std::vector<const text::Tokenizer*> tokenizers;  // by Utterance::language
    const text::PhonemeSidecar* phonemes = nullptr;  // texts come from it where it is given
  };
  TokenMaker(Source source, Digest128 settings) : source_(std::move(source)), settings_(settings) {}

  RecordKind kind() const override { return RecordKind::kTokens; }
  Digest128 settings() const override { return settings_; }
  std::size_t num_rows() const override { return source_.rows->size(); }
  std::string_view id(std::size_t row) const override { return (*source_.rows)[row].id; }
  std::uint64_t expected_bytes(std::size_t row) const override;
  Result<std::optional<SourceStamp>> stamp(std::size_t) const override {
    return std::optional<SourceStamp>();
  }
  Result<Digest128> source_digest(std::size_t row) const override;
  std::unique_ptr<Worker> make_worker() const override;

 private:
  Source source_;
  Digest128 settings_;
};

}  // namespace stoker::cache
