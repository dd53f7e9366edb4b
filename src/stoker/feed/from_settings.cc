#include "stoker/feed/from_settings.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/machine_figures.h"
#include "stoker/config/settings_text.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kLeastBufferBytes = 256 * config::kMiB;
constexpr std::uint64_t kMostBufferBytes = config::kGiB;
constexpr unsigned kDefaultReadAhead = 16;
constexpr unsigned kMostWorkers = 64;

template <class T>
std::optional<std::uint32_t> as_u32(const std::optional<T>& value) {
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

LoadingOptions loading_options(const config::LoaderSettings& loader) {
  const unsigned num_workers = workers_of(loader);
  LoadingOptions loading{.num_workers = num_workers,
                         .max_workers = std::max(kMostWorkers, num_workers),
                         .depth = as_u32(loader.prefetch_buffer_size),
                         .buffer_bytes = buffer_bytes_of(loader),
                         .most_buffer_bytes = most_buffer_bytes_of(loader),
                         .stall_limit = std::chrono::nanoseconds(
                             static_cast<std::int64_t>(loader.stall_limit_s * 1e9))};
  loading.read_ahead_batches = loader.read_ahead_batches
                                   ? static_cast<unsigned>(*loader.read_ahead_batches)
                                   : kDefaultReadAhead;
  if (loader.auto_tune_performance) loading.tuned_cores = count_cpus().allowed;
  // Both switches mean: load a batch only when it is asked for.
  if (!loader.use_native_loading || !loader.optimize_cpu_gpu_overlap) {
    loading.num_workers = 0;
    loading.read_ahead_batches = 0;
    loading.tuned_cores = 0;
  }
  return loading;
}

ExtraParts extra_parts(const config::BatchSettings& batch, const DataSetSource& source) {
  ExtraParts parts{.with_audio = batch.with_audio,
                   .segment_frames = as_u32(batch.segment_frames).value_or(0)};
  if (batch.reference == config::ReferencePart::kNone) return parts;
  parts.reference = batch.reference == config::ReferencePart::kSame ? ReferenceFrom::kSameUtterance
                                                                    : ReferenceFrom::kSameSpeaker;
  const double frames =
      batch.reference_audio_s * source.speech_rule().rate_hz / source.hop_samples();
  parts.reference_frames = std::max(1U, static_cast<std::uint32_t>(frames));
  return parts;
}

// Pronunciations are read beside the texts that the data's digest covers.
Digest128 text_digest(const DataSetSource& source) {
  const Digest128& of_settings = source.spec().identity().text;
  const text::PhonemeSidecar* const phonemes = source.spec().phonemes();
  if (phonemes == nullptr) return of_settings;
  DigestStream stream;
  stream.add_text(of_settings.hex());
  for (std::uint32_t utterance = 0; utterance < source.index().size(); ++utterance) {
    const std::string* const phones = phonemes->find(source.id(utterance));
    stream.add_text(phones == nullptr ? std::string_view() : std::string_view(*phones));
  }
  return stream.finish();
}

FeedIdentity identity_of(const config::Settings& settings, const DataSetSource& source,
                         const SamplerSettings& order) {
  DigestStream order_digest;
  order_digest.add_text(config::settings_digest(settings, config::Affects::kOrder).hex());
  if (const auto& max_tokens = settings.rows.max_text_tokens) {
    order_digest.add_text("data.max_text_tokens");
    order_digest.add_number(*max_tokens);
  }
  for (const double weight : order.source_weights) order_digest.add_number(weight);
  if (source.augmentation() != nullptr) {
    order_digest.add_text(source.augmentation()->noise_digest().hex());
  }
  return {.data = source.index().data_digest().short_hex(),
          .order = order_digest.finish().short_hex(),
          .feature = source.spec().identity().features.short_hex(),
          .text = text_digest(source).short_hex(),
          .path = source.numeric_path(),
          .seed = order.seed};
}

BadRowLimits bad_row_limits(const config::DataSettings& data, const data::Index& index) {
  return {.num_rows = index.counts().rows,
          .already_bad = index.counts().rejected,
          .max_bad_fraction = data.max_bad_fraction,
          .max_bad_rows = static_cast<std::uint64_t>(data.max_bad_rows),
          .fail_at_once = data.bad_inputs == config::BadInputs::kFail};
}

}  // namespace

SamplerSettings sampler_settings(const config::Settings& settings, const data::Index& index) {
  const config::BatchSettings& batch = settings.batch;
  SamplerSettings order{.seed = static_cast<std::uint64_t>(settings.run.seed),
                        .batch_frames = *as_u32(batch.batch_frames),
                        .batch_size = as_u32(batch.batch_size).value_or(0),
                        .batch_multiple = *as_u32(batch.batch_multiple),
                        .max_shapes = static_cast<std::uint32_t>(batch.max_shapes),
                        .layout = batch.batch_layout == config::BatchLayout::kPacked
                                      ? BatchLayout::kPacked
                                      : BatchLayout::kPadded,
                        .shuffle = batch.shuffle,
                        .drop_last = batch.drop_last,
                        .static_shapes = batch.static_shapes,
                        .source_weights = {}};
  for (const data::Source& source : index.sources()) order.source_weights.push_back(source.weight);
  return order;
}

config::Settings with_automatic_values(config::Settings settings, const RankRows& ranks) {
  config::BatchSettings& batch = settings.batch;
  if (!batch.batch_multiple) batch.batch_multiple = static_cast<std::int64_t>(ranks.world_size);
  if (!batch.batch_frames) batch.batch_frames = config::kDefaultBatchFrames;
  if (!batch.batch_dtype) batch.batch_dtype = settings.cache.dtype;
  return settings;
}

// An eighth of what the machine could give, within bounds that hold a few batches.
std::uint64_t buffer_bytes_of(const config::LoaderSettings& loader) {
  if (loader.buffer_memory) return loader.buffer_memory->count;
  return std::clamp(available_memory_bytes() / 8, kLeastBufferBytes, kMostBufferBytes);
}

// Of a few batches that are larger than usual.
std::uint64_t most_buffer_bytes_of(const config::LoaderSettings& loader) {
  return loader.buffer_memory ? loader.buffer_memory->count : available_memory_bytes() / 4;
}

unsigned workers_of(const config::LoaderSettings& loader) {
  if (loader.num_workers) return static_cast<unsigned>(*loader.num_workers);
  return workers_beside_consumer(count_cpus().allowed);
}

FeedSetup setup_of(const config::Settings& settings, const RankRows& ranks,
                   std::shared_ptr<const DataSetSource> source) {
  const std::optional<std::int64_t>& max_tokens = settings.rows.max_text_tokens;
  FeedSetup setup;
  setup.order = sampler_settings(settings, source->index());
  setup.rows = source->order_rows(max_tokens ? static_cast<std::uint64_t>(*max_tokens)
                                             : std::numeric_limits<std::uint64_t>::max());
  setup.ranks = ranks;
  setup.dtype = *settings.batch.batch_dtype;
  setup.extras = extra_parts(settings.batch, *source);
  setup.loading = loading_options(settings.loader);
  setup.records = {.is_on = settings.observe.records, .in_file = true};
  setup.bad_rows = bad_row_limits(settings.data, source->index());
  setup.identity = identity_of(settings, *source, setup.order);
  setup.describe_origin = [settings, source] { return describe_origin(settings, *source); };
  setup.store = std::move(source);
  return setup;
}

}  // namespace stoker::feed
