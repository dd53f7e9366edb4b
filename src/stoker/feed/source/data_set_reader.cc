#include "stoker/feed/source/data_set_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/array_routes.h"
#include "stoker/feed/source/source_faults.h"

namespace stoker::feed {
namespace {

bool is_same_mark(const cache::SourceStamp& a, const cache::SourceStamp& b) {
  return a.size_bytes == b.size_bytes && a.mtime_ns == b.mtime_ns;
}

}  // namespace

DataSetReader::DataSetReader(const DataSetSource& source)
    : source_(source), loader_(source.spec()), tokenizer_(source.spec()) {}

void DataSetReader::prefetch(std::uint32_t utterance) const {
  const RecordRoute& route = source_.routes()[utterance];
  if (route.mel) source_.reader()->prefetch(*route.mel);
}

void DataSetReader::prefetch_tokens(std::uint32_t utterance) const {
  const RecordRoute& route = source_.routes()[utterance];
  if (route.tokens) source_.reader()->prefetch(*route.tokens);
}

Result<std::uint32_t> DataSetReader::read_tokens(std::uint32_t utterance,
                                                 std::span<std::int32_t> out) {
  const RecordRoute& route = source_.routes()[utterance];
  if (!route.tokens) {
    if (const Error* fault = source_.routes().text_fault(utterance)) return Error(*fault);
    const std::span<const std::int32_t> tokens = source_.routes().tokens(utterance);
    std::copy(tokens.begin(), tokens.end(), out.begin());
    return static_cast<std::uint32_t>(tokens.size());
  }
  const std::uint32_t count = source_.reader()->info(*route.tokens).shape.axes[0];
  counts_.num_bytes += count * sizeof(std::int32_t);
  Result<void> read = source_.reader()->read_tokens_into(*route.tokens, out.first(count), scratch_);
  if (read) return count;
  if (Result<void> allowed = fall_back(utterance, read.error()); !allowed) return allowed.error();
  Result<std::uint32_t> made = make_tokens(utterance, count, out);
  return made ? made : read.error();
}

Result<std::uint32_t> DataSetReader::make_tokens(std::uint32_t utterance, std::uint32_t count,
                                                 std::span<std::int32_t> out) {
  const data::Utterance indexed = source_.index()[utterance];
  const Result<std::span<const std::int32_t>> tokens = tokenizer_.tokenize(indexed);
  if (!tokens) return tokens.error();
  if (tokens->size() != count) {
    return changed_since(indexed, grouped(count) + " tokens as planned", grouped(tokens->size()));
  }
  std::copy(tokens->begin(), tokens->end(), out.begin());
  return count;
}

Result<std::uint32_t> DataSetReader::read_mel(std::uint32_t utterance, const MelTarget& out,
                                              pipeline::FillContext& context) {
  const cache::RecordRef* const record = source_.mel_record(utterance);
  if (record == nullptr) return make_mel(utterance, out, context);
  const Result<void> read = read_cached_mel(*record, out);
  if (read) {
    const std::uint32_t num_frames = source_.reader()->info(*record).shape.axes[0];
    note_cached(std::uint64_t{num_frames} * source_.num_mels() *
                config::bytes_per_value(source_.cache_dtype()));
    return num_frames;
  }
  if (const Result<void> allowed = fall_back(utterance, read.error()); !allowed)
    return allowed.error();
  // Only on the path of the other records: where this processor lacks it, the run ends.
  if (source_.numeric_path() != simd_level_name(source_.spec().mel().level())) return read.error();
  const Result<std::uint32_t> made = make_mel(utterance, out, context);
  // The record is bad and its source cannot replace it: that is the storage's fault.
  if (!made) return read.error();
  return *made;
}

Result<void> DataSetReader::read_cached_mel(const cache::RecordRef& record, const MelTarget& out) {
  return source_.reader()->read_mel_into(
      record,
      {.row = out.values,
       .element = cache::element_of(out.dtype),
       .num_values = std::size_t{out.num_frames} * source_.num_mels(),
       .padding = out.padding},
      scratch_);
}

// A bad record may be made again from its source, unless the user forbids it.
Result<void> DataSetReader::fall_back(std::uint32_t utterance, const Error& error) const {
  if (error.code->exit != ExitCode::kStorage || !source_.fallback_account().are_allowed())
    return error;
  source_.fallback_account().take({"cache record", "source", std::string(error.code->name)},
                                  error_line(error) + "; " + std::string(source_.id(utterance)) +
                                      " is computed from its source");
  return {};
}

Result<std::uint32_t> DataSetReader::make_mel(std::uint32_t utterance, const MelTarget& out,
                                              pipeline::FillContext& context) {
  const Samples samples = load_changed(utterance, context);
  if (!samples) return samples.error();
  context.enter(kMel);
  Result<std::uint32_t> frames = write_mel(utterance, *samples, out);
  context.enter(kFetch);
  return frames;
}

// A record that is bad is met again, and dealt with, when it is read instead.
std::span<const std::byte> DataSetReader::find_record(
    const std::optional<cache::RecordRef>& record) {
  if (!record) return {};
  const Result<std::span<const std::byte>> found =
      source_.reader()->check_in_place(*record, scratch_);
  if (!found) return {};
  note_cached(found->size());
  return *found;
}

std::span<const std::byte> DataSetReader::find_mel(std::uint32_t utterance,
                                                   config::MelDtype dtype) {
  if (dtype != source_.cache_dtype()) return {};
  return find_record(source_.routes()[utterance].mel);
}

std::span<const std::byte> DataSetReader::find_pcm(std::uint32_t utterance) {
  const std::span<const std::byte> found = find_record(source_.routes()[utterance].pcm);
  return check_planned(utterance, found.size() / sizeof(std::int16_t))
             ? found
             : std::span<const std::byte>();
}

Result<std::uint32_t> DataSetReader::write_mel(std::uint32_t utterance,
                                               std::span<const std::int16_t> samples,
                                               const MelTarget& out) {
  const audio::LogMel& log_mel = source_.spec().mel();
  const std::size_t num_frames = log_mel.num_frames(samples.size());
  if (Result<void> planned = check_planned(utterance, samples.size()); !planned)
    return planned.error();
  if (!workspace_) workspace_.emplace(log_mel.make_workspace(source_.max_samples()));
  const std::size_t num_values = num_frames * log_mel.num_mels();
  const bool same_format = out.dtype == source_.cache_dtype();
  if (!same_format) {
    mel_.resize(std::max(mel_.size(), num_values * config::bytes_per_value(source_.cache_dtype())));
  }
  log_mel.run(samples,
              {.data = same_format ? out.values : mel_.data(),
               .dtype = source_.cache_dtype(),
               .row_stride = log_mel.num_mels(),
               .rows = num_frames},
              *workspace_);
  if (!same_format) {
    // First rounded to the cache's format, so that what is computed now equals what is stored.
    cache::copy_without_crc({.payload = std::span(mel_).first(
                                 num_values * config::bytes_per_value(source_.cache_dtype())),
                             .from = cache::element_of(source_.cache_dtype()),
                             .to = cache::element_of(out.dtype),
                             .out = out.values});
  }
  auto* const end =
      static_cast<std::byte*>(out.values) + num_values * config::bytes_per_value(out.dtype);
  cache::fill_values(end, cache::element_of(out.dtype),
                     std::size_t{out.num_frames} * log_mel.num_mels() - num_values, out.padding);
  return static_cast<std::uint32_t>(num_frames);
}

Result<std::uint32_t> DataSetReader::read_array(std::uint32_t utterance, std::size_t array,
                                                std::span<std::byte> out) {
  const ArrayRoute& route = source_.array_routes()[array];
  if (const std::optional<cache::RecordRef>& record = route.rows[utterance].record) {
    const cache::ArrayShape shape = source_.reader()->info(*record).shape;
    const std::size_t size_bytes = shape.axes[0] * route.kind.bytes_per_step();
    Result<void> read = source_.reader()->read_into(*record, out.first(size_bytes), scratch_);
    if (read) return shape.axes[0];
    if (Result<void> allowed = fall_back(utterance, read.error()); !allowed) return allowed.error();
    if (route.sources[utterance] == ArrayRoute::kNoSource) return read.error();
  }
  if (route.sources[utterance] == ArrayRoute::kNoSource) return std::uint32_t{0};
  return make_array(utterance, array, out);
}

Result<std::uint32_t> DataSetReader::make_array(std::uint32_t utterance, std::size_t array,
                                                std::span<std::byte> out) {
  const ArrayRoute& route = source_.array_routes()[array];
  const std::uint32_t source = route.sources[utterance];
  const cache::ArrayMaker::Header& indexed = route.maker->header(source);
  array_workers_.resize(source_.array_routes().size());
  if (array_workers_[array] == nullptr) array_workers_[array] = route.maker->make_worker();
  const std::string path = route.maker->path(source);
  const Result<void> done = array_workers_[array]->make(source, made_);
  if (!done) return in_source(done.error(), path);
  const auto stamp = route.maker->stamp(source);
  if (!stamp) return in_source(stamp.error(), path);
  const bool is_same = *stamp && is_same_mark(**stamp, indexed.stamp);
  if (!is_same || !indexed.shape || made_.shape != *indexed.shape) {
    return Error{.code = &kFeedFileChanged,
                 .place = {.file = path},
                 .promised = (indexed.shape ? indexed.shape->text() : std::string("an array")) +
                             " of the size and time, as when indexed",
                 .found = made_.shape.text() + (is_same ? "" : " in a file written since")};
  }
  std::copy(made_.payload().begin(), made_.payload().end(), out.begin());
  return made_.shape.axes[0];
}

std::optional<std::uint32_t> DataSetReader::count_frames(std::uint32_t utterance) {
  const Samples samples = load_samples(utterance, nullptr);
  if (!samples) return std::nullopt;
  return static_cast<std::uint32_t>(source_.spec().mel().num_frames(samples->size()));
}

}  // namespace stoker::feed
