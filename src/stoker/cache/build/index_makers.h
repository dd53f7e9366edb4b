// The makers of an index's records: log-mel, PCM16 and tokens of every accepted utterance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/cache/build/record_maker.h"
#include "stoker/data/features/feature_spec.h"
#include "stoker/data/index.h"

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

// Records of the accepted utterances of a feature spec. Spec and rows must outlive the maker.
class IndexMaker : public RecordMaker {
 public:
  IndexMaker(const data::FeatureSpec& spec, const SortedRows& rows, Digest128 settings)
      : spec_(spec), rows_(rows), settings_(settings) {}

  Digest128 settings() const override { return settings_; }
  std::size_t num_rows() const override { return rows_.size(); }
  std::string_view id(std::size_t row) const override { return rows_[row].id; }

 protected:
  const data::FeatureSpec& spec_;
  const SortedRows& rows_;

 private:
  Digest128 settings_;
};

// Records made from sound files: their source is the file.
class SoundMaker : public IndexMaker {
 public:
  using IndexMaker::IndexMaker;
  Result<std::optional<SourceStamp>> stamp(std::size_t row) const override;
  std::string source_part(std::size_t row) const override;
  Result<Digest128> source_digest(std::size_t row) const override;

 protected:
  std::uint64_t expected_samples(std::size_t row) const;
  // Nothing where only decoding tells.
  std::optional<std::uint64_t> exact_samples(std::size_t row) const;
};

// Log-mel [frames, mels] in the spec's number format.
class MelMaker final : public SoundMaker {
 public:
  using SoundMaker::SoundMaker;
  RecordKind kind() const override { return RecordKind::kMel; }
  std::uint64_t expected_bytes(std::size_t row) const override;
  std::optional<std::string> shape_missed_by(std::size_t row,
                                             const ArrayShape& found) const override;
  std::unique_ptr<Worker> make_worker() const override;
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

// Token ids of the utterances' texts.
class TokenMaker final : public IndexMaker {
 public:
  using IndexMaker::IndexMaker;
  RecordKind kind() const override { return RecordKind::kTokens; }
  std::uint64_t expected_bytes(std::size_t row) const override;
  Result<std::optional<SourceStamp>> stamp(std::size_t) const override {
    return std::optional<SourceStamp>();
  }
  Result<Digest128> source_digest(std::size_t row) const override;
  std::unique_ptr<Worker> make_worker() const override;
};

}  // namespace stoker::cache
