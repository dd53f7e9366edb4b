// The utterances of real data sets: each comes from a valid mel record, a valid PCM record or its
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/cache/build/cache_target.h"
#include "stoker/cache/read/reader.h"
#include "stoker/config/settings.h"
#include "stoker/data/features/feature_spec.h"
#include "stoker/data/index.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/sampling/sampler_settings.h"
#include "stoker/feed/source/array_routes.h"
#include "stoker/feed/source/augmentation.h"
#include "stoker/feed/source/ram_tier.h"
#include "stoker/feed/source/record_lookup.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

struct DataSetSourceOptions {
  const config::Settings& settings;
  Io& io;
  SimdLevel level;  // of mels computed here
  unsigned num_workers = 1;
  std::stop_token stop = {};
};

// Utterances are in index order. Const access is thread-safe.
class DataSetSource final : public UtteranceSource {
 public:
  // Indexes the data, looks at the cache and decides each utterance's route. Throws ConfigError,
  // DataError (E-FEED-NOTCACHED with preprocessing_mode precompute), StorageError.
  explicit DataSetSource(const DataSetSourceOptions& options);

  std::uint32_t num_utterances() const override {
    return static_cast<std::uint32_t>(index_.size());
  }
  std::string_view id(std::uint32_t utterance) const override { return index_[utterance].id; }
  std::int32_t speaker(std::uint32_t utterance) const override;
  std::int32_t language(std::uint32_t utterance) const override;
  std::string_view file(std::uint32_t utterance) const override { return index_[utterance].file; }
  std::uint64_t line(std::uint32_t utterance) const override { return index_[utterance].line; }
  std::uint32_t num_mels() const override;
  std::uint32_t hop_samples() const override;
  float padding() const override { return spec_->mel().padding_value(); }
  std::unique_ptr<UtteranceReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override;
  std::vector<FallbackCount> fallbacks() const override { return fallbacks_->counts(); }
  // Looks at one of them: where that is in the page cache the others are taken to be as well.
  void will_need(std::span<const std::uint32_t> utterances) const override;

  // What the order is a function of: frames and tokens of every utterance. Those with more than
  // max_tokens are left out.
  std::vector<SampledUtterance> order_rows(std::uint64_t max_tokens) const;
  const data::Index& index() const { return index_; }
  const data::FeatureSpec& spec() const { return *spec_; }
  const RecordLookup& routes() const { return routes_; }
  const std::vector<ArrayRoute>& array_routes() const { return array_routes_; }
  // Whether every utterance's features, tokens and arrays are read from the cache.
  bool is_all_cached() const;
  // Bad when the cache was built, from sources that are the same: they come empty.
  std::vector<std::uint32_t> rows_left_out() const;
  const cache::Reader* reader() const { return reader_ ? &*reader_ : nullptr; }
  // The record that the utterance's mel is read from; null where it is made from samples.
  const cache::RecordRef* mel_record(std::uint32_t utterance) const {
    const std::optional<cache::RecordRef>& mel = routes_[utterance].mel;
    return mel && augmentation_ == nullptr ? &*mel : nullptr;
  }
  // Null: none.
  const std::shared_ptr<const Augmentation>& augmentation() const { return augmentation_; }
  config::MelDtype cache_dtype() const { return spec_->mel_dtype(); }
  const audio::SpeechRule& speech_rule() const { return spec_->speech_rule(); }
  std::uint64_t max_samples() const { return max_samples_; }  // of a utterance, prepared
  std::uint32_t num_frames(std::uint32_t utterance) const { return num_frames_[utterance]; }
  Fallbacks& fallback_account() const { return *fallbacks_; }
  const RamTier* ram_tier() const { return ram_tier_.get(); }
  // Back end whose mels are delivered: the cache's when one is used, else this process's.
  std::string numeric_path() const;

 private:
  void open_cache(const DataSetSourceOptions& options);
  Result<cache::Reader> open_reader(Io& io, const std::string& folder, cache::ReaderOptions& how);
  bool is_at_hand(std::uint32_t utterance) const;
  const cache::RecordRef* record_to_read(std::uint32_t utterance) const;
  void require_cached(const config::Settings& settings) const;
  std::uint64_t num_samples(std::uint32_t utterance) const;
  void measure(const DataSetSourceOptions& options);
  void find_arrays(const config::Settings& settings);

  data::Index index_;
  std::unique_ptr<data::FeatureSpec> spec_;     // refers to index_
  std::unique_ptr<cache::CacheTarget> target_;  // refers to spec_; null: neither cache nor arrays
  SimdLevel level_;
  std::optional<cache::Reader> reader_;
  RecordLookup routes_;
  std::vector<std::uint32_t> num_frames_;
  std::vector<ArrayRoute> array_routes_;
  std::uint64_t max_samples_ = 0;
  std::unique_ptr<Fallbacks> fallbacks_;
  std::shared_ptr<const Augmentation> augmentation_;
  std::unique_ptr<RamTier> ram_tier_;  // after what it uses; null with another tier
};

}  // namespace stoker::feed
