#include "stoker/feed/source/data_set_source.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/cache/build/inspect.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/format/settings_match.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/data/from_settings.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/data_set_reader.h"

namespace stoker::feed {
namespace {

void require_all(const std::vector<std::size_t>& missing, const DataSetSource& source,
                 std::string_view what, std::string cure = {}) {
  if (missing.empty()) return;
  const auto first = static_cast<std::uint32_t>(missing.front());
  raise({.code = &kFeedNotCached,
         .promised = "valid " + std::string(what) + " of all " + grouped(source.num_utterances()) +
                     " utterances in the cache",
         .found = grouped(missing.size()) + " missing or stale; the first is " +
                  std::string(source.id(first)),
         .cure = std::move(cure)});
}

// Samples in a cache serve whoever augments, whatever its settings would store.
config::Settings settings_to_read(config::Settings settings) {
  if (Augmentation::is_on(settings.augment) && settings.cache.content == config::CacheContent::kMel)
    settings.cache.content = config::CacheContent::kBoth;
  return settings;
}

void refuse_stale(const std::vector<std::size_t>& stale, const DataSetSource& source,
                  const std::string& setting) {
  if (stale.empty()) return;
  const auto first = static_cast<std::uint32_t>(stale.front());
  raise({.code = &kFeedNotCached,
         .promised = "no stale records in the cache (" + setting + " is off)",
         .found = grouped(stale.size()) + "; the first is " + std::string(source.id(first)),
         .cure = "run `stoker precompute`, or set " + setting + " to true"});
}

cache::ReaderOptions reader_options(const config::CacheSettings& cache) {
  return {.mode = cache.enable_memory_mapping ? cache::ReadMode::kMap : cache::ReadMode::kPread,
          .verification = cache.cache_verification ? cache::Verification::kEveryTime
                                                   : cache::Verification::kOff};
}

// Mels of two numeric paths never come in one run: utterances that the cache lacks are made as its
// own were, or nothing is delivered.
void require_one_path(const RecordLookup& routes, const cache::Reader& reader, SimdLevel level) {
  std::size_t num_stored = 0;
  std::size_t num_made = 0;
  for (std::size_t utterance = 0; utterance < routes.size(); ++utterance) {
    num_stored += routes[utterance].mel ? 1U : 0U;
    num_made += routes[utterance].mel || routes[utterance].is_left_out ? 0U : 1U;
  }
  if (num_stored == 0 || num_made == 0) return;
  const std::string& path = reader.manifest().path;
  const std::string have = path.substr(0, path.find('/'));
  const SimdLevel own =
      std::getenv("STOKER_SIMD") == nullptr ? level : simd_level().take_or_raise();
  if (have == simd_level_name(level) && own == level) return;
  Error error = cache::settings_error(
      reader.folder(), {{"features", "numeric path", have, std::string(simd_level_name(own))}});
  error.found += "; " + grouped(num_made) + " utterances are not in it";
  error.cure = "complete it with stoker precompute on a machine that has " + have +
               " (without STOKER_SIMD), or give another --cache";
  raise(std::move(error));
}

bool is_in_page_cache(const File& file) {
  std::byte one{};
  const iovec into{&one, 1};
  return preadv2(file.handle(), &into, 1, 0, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

}  // namespace

DataSetSource::DataSetSource(const DataSetSourceOptions& options)
    : index_(data::open_index(data::index_options_of(options.settings), options.io, options.stop)),
      level_(options.level),
      routes_(index_.size()),
      fallbacks_(std::make_unique<Fallbacks>(policy_of(options.settings))),
      augmentation_(Augmentation::make(options.settings, options.io)) {
  open_cache(options);
  require_cached(options.settings);
  routes_.make_tokens(*spec_, options.num_workers, options.stop);
  measure(options);
  find_arrays(options.settings);
  if (reader_ && options.settings.cache.tier == config::CacheTier::kRam) {
    ram_tier_ =
        std::make_unique<RamTier>(*reader_, ram_tier_bytes(options.settings.cache), *fallbacks_);
  }
}

void DataSetSource::require_cached(const config::Settings& settings) const {
  const bool all_cached =
      settings.loader.preprocessing_mode == config::PreprocessingMode::kPrecompute;
  if (all_cached && augmentation_ != nullptr) {
    require_all(routes_.rows_without_samples(), *this, "samples, to augment,",
                "run `stoker precompute --cache-content both` first, or use "
                "data.preprocessing_mode auto");
  } else if (all_cached) {
    require_all(routes_.rows_without_features(), *this, "features");
  }
  if (all_cached) require_all(routes_.rows_without_tokens(), *this, "tokens");
  if (!settings.cache.auto_rebuild_mel_cache)
    refuse_stale(routes_.rows_with_stale_features(), *this, "cache.auto_rebuild_mel_cache");
  if (!settings.cache.auto_rebuild_token_cache)
    refuse_stale(routes_.rows_with_stale_tokens(), *this, "cache.auto_rebuild_token_cache");
}

// One look at the cache: its reader, its numeric path and the state of every utterance come from
// the same generation, whatever a builder does meanwhile.
void DataSetSource::open_cache(const DataSetSourceOptions& options) {
  const config::Settings& settings = options.settings;
  cache::CacheLocation place;
  if (settings.loader.preprocessing_mode != config::PreprocessingMode::kRuntime) {
    const Digest128 features = data::FeatureIdentity(settings).features;
    place = cache::find_cache_location(settings, features, options.io);
    cache::ReaderOptions how = reader_options(settings.cache);
    Result<cache::Reader> reader = open_reader(options.io, place.folder, how);
    if (reader) {
      reader_ = std::move(reader).value();
    } else if (reader.error().code != &cache::kNoCache) {
      // No cache yet is no fault; a damaged one is a fault that precompute cures.
      if (!fallbacks_->are_allowed()) raise(Error(reader.error()));
      fallbacks_->take({"cache", "source", std::string(reader.error().code->name)},
                       error_line(reader.error()));
    }
  }
  const bool delivers_stored_mels =
      reader_ && augmentation_ == nullptr && settings.cache.content != config::CacheContent::kPcm;
  if (delivers_stored_mels) level_ = cache::level_of(reader_->manifest()).value_or(level_);
  spec_ = std::make_unique<data::FeatureSpec>(settings, index_, level_);
  // What a cache would hold matters only where there is one, or arrays that have no other index.
  if (reader_ || !settings.cache.arrays.empty() || !settings.batch.arrays.empty())
    target_ = std::make_unique<cache::CacheTarget>(settings_to_read(settings), *spec_, options.io);
  if (!reader_) return;
  const auto differences = cache::compare_settings(reader_->manifest(), target_->target().head);
  const bool other_features = std::any_of(differences.begin(), differences.end(),
                                          [](const auto& d) { return d.group == "features"; });
  if (other_features && place.kind == cache::LocationKind::kExplicit) {
    raise(cache::settings_error(place.folder, differences));
  }
  const File folder = open_file(options.io, place.folder, OpenFor::kFolder).take_or_raise();
  routes_.use_cache(
      cache::inspect_generation(folder, reader_->generation(), target_->target().makers,
                                {.num_workers = options.num_workers, .stop = options.stop}),
      *reader_, target_->rows());
  if (delivers_stored_mels) require_one_path(routes_, *reader_, level_);
}

// Where the kernel refuses to map (a limit on mappings, a file system without them) the shards are
// read instead: slower, the same bytes.
Result<cache::Reader> DataSetSource::open_reader(Io& io, const std::string& folder,
                                                 cache::ReaderOptions& how) {
  Result<cache::Reader> reader = cache::Reader::open(io, folder, how);
  if (reader || how.mode == cache::ReadMode::kPread || reader.error().code == &cache::kNoCache)
    return reader;
  how.mode = cache::ReadMode::kPread;
  Result<cache::Reader> instead = cache::Reader::open(io, folder, how);
  if (!instead) return reader;
  if (!fallbacks_->are_allowed()) raise(Error(reader.error()));
  fallbacks_->take({"mapping", "pread", std::string(reader.error().code->name)},
                   error_line(reader.error()) + "; the cache is read by pread");
  return instead;
}

const cache::RecordRef* DataSetSource::record_to_read(std::uint32_t utterance) const {
  if (const cache::RecordRef* mel = mel_record(utterance)) return mel;
  return routes_[utterance].pcm ? &*routes_[utterance].pcm : nullptr;
}

bool DataSetSource::is_at_hand(std::uint32_t utterance) const {
  if (const cache::RecordRef* record = record_to_read(utterance))
    return reader_->is_resident(*record);
  const Result<File> file = index_.open_sound(index_[utterance]);
  return !file || is_in_page_cache(*file);
}

void DataSetSource::will_need(std::span<const std::uint32_t> utterances) const {
  if (utterances.empty() || is_at_hand(utterances[utterances.size() / 2])) return;
  for (const std::uint32_t utterance : utterances) {
    if (const cache::RecordRef* record = record_to_read(utterance)) {
      reader_->will_need(*record);
    } else if (const Result<File> file = index_.open_sound(index_[utterance])) {
      posix_fadvise(file->handle(), 0, 0, POSIX_FADV_WILLNEED);
    }
  }
}

std::uint64_t DataSetSource::num_samples(std::uint32_t utterance) const {
  const data::Utterance indexed = index_[utterance];
  return audio::PreparedSpeech::num_prepared(speech_rule(), indexed.rate_hz, indexed.num_samples)
      .value_or((indexed.num_samples * speech_rule().rate_hz + indexed.rate_hz - 1) /
                indexed.rate_hz);
}

// Lengths come from the index; with trimming only a decoded utterance knows its own, so what is not
// in the cache is decoded once.
void DataSetSource::measure(const DataSetSourceOptions& options) {
  num_frames_.resize(num_utterances());
  std::vector<std::uint32_t> unknown;
  for (std::uint32_t utterance = 0; utterance < num_utterances(); ++utterance) {
    max_samples_ = std::max(max_samples_, num_samples(utterance));
    if (routes_[utterance].mel) {
      num_frames_[utterance] = reader_->info(*routes_[utterance].mel).shape.axes[0];
      continue;
    }
    num_frames_[utterance] =
        static_cast<std::uint32_t>(spec_->mel().num_frames(num_samples(utterance)));
    if (speech_rule().trim) unknown.push_back(utterance);
  }
  run_parallel(options.num_workers, unknown.size(), [&](std::size_t i) {
    DataSetReader reader(*this);
    if (const auto frames = reader.count_frames(unknown[i])) num_frames_[unknown[i]] = *frames;
  });
}

void DataSetSource::find_arrays(const config::Settings& settings) {
  if (settings.batch.arrays.empty()) return;
  array_routes_ = find_array_routes({.names = settings.batch.arrays,
                                     .target = *target_,
                                     .routes = routes_,
                                     .reader = reader(),
                                     .fallbacks = *fallbacks_});
  if (settings.loader.preprocessing_mode != config::PreprocessingMode::kPrecompute) return;
  for (const ArrayRoute& route : array_routes_) {
    require_all(rows_without_record(route), *this, "arrays \"" + route.kind.name + "\"");
  }
}

std::vector<ArrayKind> DataSetSource::arrays() const {
  std::vector<ArrayKind> kinds;
  kinds.reserve(array_routes_.size());
  for (const ArrayRoute& route : array_routes_) kinds.push_back(route.kind);
  return kinds;
}

bool DataSetSource::is_all_cached() const {
  return routes_.rows_without_features().empty() && routes_.rows_without_tokens().empty() &&
         std::all_of(array_routes_.begin(), array_routes_.end(),
                     [](const ArrayRoute& route) { return rows_without_record(route).empty(); });
}

std::vector<std::uint32_t> DataSetSource::rows_left_out() const {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t utterance = 0; utterance < num_utterances(); ++utterance) {
    const bool has_bad_array = std::any_of(
        array_routes_.begin(), array_routes_.end(),
        [utterance](const ArrayRoute& route) { return route.rows[utterance].is_left_out; });
    if (routes_[utterance].is_left_out || has_bad_array) rows.push_back(utterance);
  }
  return rows;
}

std::vector<SampledUtterance> DataSetSource::order_rows(std::uint64_t max_tokens) const {
  std::vector<SampledUtterance> rows;
  rows.reserve(num_utterances());
  for (std::uint32_t utterance = 0; utterance < num_utterances(); ++utterance) {
    const std::uint32_t num_tokens = routes_.num_tokens(utterance, reader());
    rows.push_back(
        {num_frames_[utterance], num_tokens, index_[utterance].source, num_tokens <= max_tokens});
  }
  return rows;
}

std::int32_t DataSetSource::speaker(std::uint32_t utterance) const {
  return static_cast<std::int32_t>(index_[utterance].speaker);
}

std::int32_t DataSetSource::language(std::uint32_t utterance) const {
  return static_cast<std::int32_t>(index_[utterance].language);
}

std::uint32_t DataSetSource::num_mels() const {
  return static_cast<std::uint32_t>(spec_->mel().num_mels());
}

std::uint32_t DataSetSource::hop_samples() const {
  return static_cast<std::uint32_t>(spec_->mel().recipe().hop_samples);
}

std::string DataSetSource::numeric_path() const {
  bool any_cached = false;
  for (std::uint32_t utterance = 0; utterance < num_utterances(); ++utterance)
    any_cached |= mel_record(utterance) != nullptr;
  if (!any_cached) return std::string(simd_level_name(level_));
  const std::string& path = reader_->manifest().path;
  return path.substr(0, path.find('/'));
}

std::unique_ptr<UtteranceReader> DataSetSource::make_reader() const {
  return std::make_unique<DataSetReader>(*this);
}

}  // namespace stoker::feed
