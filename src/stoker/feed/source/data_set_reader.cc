#include "stoker/feed/source/data_set_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/base/digest/digest.h"
#include "stoker/base/errors.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/array_routes.h"

namespace stoker::feed {
namespace {

Error changed_since(const data::Utterance& indexed, std::string promised, std::string found) {
  return {.code = &kFeedFileChanged,
          .place = {.file = std::string(indexed.file)},
          .promised = std::move(promised),
          .found = std::move(found)};
}

// A source that is gone, closed to this user or no file any more is the data's fault; storage that
// fails is not.
Error in_source(Error error, const std::string& file) {
  if (error.code != &kIoMissing && error.code != &kIoKind && error.code != &kIoAccess) return error;
  return {.code = &kFeedFileChanged,
          .place = {.file = file},
          .promised = "a readable file, as when indexed",
          .found = "none (" + error.found + ")"};
}

Result<void> check_still(const data::OpenSound& sound) {
  const Result<FileInfo> after = sound.file.info();
  if (!after) return after.error();
  if (data::file_mark(*after) == data::file_mark(sound.info.file)) return {};
  return Error{.code = &kFeedFileChanged,
               .place = {.file = sound.file.path()},
               .promised = "a file that does not change while it is read",
               .found = "one that was written to"};
}

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
  if (read) return source_.reader()->info(*record).shape.axes[0];
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

DataSetReader::Samples DataSetReader::load_samples(std::uint32_t utterance,
                                                   pipeline::FillContext* context) {
  const RecordRoute& route = source_.routes()[utterance];
  if (route.pcm) {
    Samples samples = load_record(*route.pcm);
    if (samples) return samples;
    if (Result<void> allowed = fall_back(utterance, samples.error()); !allowed)
      return allowed.error();
  }
  if (context != nullptr) context->enter(kDecode);
  return load_file(utterance);
}

DataSetReader::Samples DataSetReader::load_changed(std::uint32_t utterance,
                                                   pipeline::FillContext& context) {
  Samples samples = load_samples(utterance, &context);
  const Augmentation* const augmentation = source_.augmentation().get();
  if (!samples || augmentation == nullptr) return samples;
  changed_.resize(samples->size());
  augmentation->apply({hash64(source_.id(utterance)), epoch_}, *samples, changed_);
  return std::span<const std::int16_t>(changed_);
}

DataSetReader::Samples DataSetReader::load_record(const cache::RecordRef& record) {
  const std::size_t count = source_.reader()->info(record).shape.axes[0];
  if (pcm_.size() < count) pcm_.resize(std::max<std::size_t>(count, source_.max_samples()));
  return read_record(record, std::span(pcm_).first(count));
}

DataSetReader::Samples DataSetReader::read_record(const cache::RecordRef& record,
                                                  std::span<std::int16_t> out) {
  Result<void> read = source_.reader()->read_into(record, std::as_writable_bytes(out), scratch_);
  if (!read) return read.error();
  return std::span<const std::int16_t>(out);
}

Result<void> DataSetReader::check_planned(std::uint32_t utterance, std::size_t num_samples) const {
  const std::size_t num_frames = source_.spec().mel().num_frames(num_samples);
  if (num_frames == 0) {
    return Error{.code = &cache::kNoFrames,
                 .place = {.file = std::string(source_.index()[utterance].file)},
                 .promised = "enough samples for one frame",
                 .found = grouped(num_samples) + " samples"};
  }
  if (num_frames == source_.num_frames(utterance) && num_samples <= source_.max_samples())
    return {};
  return changed_since(source_.index()[utterance],
                       grouped(source_.num_frames(utterance)) + " frames as planned",
                       grouped(num_frames));
}

Result<std::span<std::int16_t>> DataSetReader::find_room(std::uint32_t utterance,
                                                         std::size_t num_samples,
                                                         std::span<std::int16_t> out) const {
  if (Result<void> planned = check_planned(utterance, num_samples); !planned)
    return planned.error();
  if (num_samples > out.size()) {
    return changed_since(source_.index()[utterance],
                         "at most " + grouped(out.size()) + " samples as planned",
                         grouped(num_samples));
  }
  return out.first(num_samples);
}

Result<std::uint32_t> DataSetReader::read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                              pipeline::FillContext& context) {
  const std::optional<cache::RecordRef>& record = source_.routes()[utterance].pcm;
  if (record) {
    // Straight into the batch: no second copy of samples that are in the cache.
    const std::uint32_t count = source_.reader()->info(*record).shape.axes[0];
    const auto room = find_room(utterance, count, out);
    if (!room) return room.error();
    const Samples read = read_record(*record, *room);
    if (read) return count;
    if (Result<void> allowed = fall_back(utterance, read.error()); !allowed) return allowed.error();
  }
  context.enter(kDecode);
  Result<std::uint32_t> count = read_file_pcm(utterance, out);
  context.enter(kFetch);
  return count;
}

// Straight into the batch where the file's samples are the ones wanted.
Result<std::uint32_t> DataSetReader::read_file_pcm(std::uint32_t utterance,
                                                   std::span<std::int16_t> out) {
  const Result<data::OpenSound> sound = open_sound(utterance);
  if (!sound) return sound.error();
  if (loader_.only_reads(*sound)) {
    const auto room = find_room(utterance, sound->utterance.num_samples, out);
    if (!room) return room.error();
    const Result<void> read = loader_.read_into(*sound, *room);
    if (!read) return read.error();
    if (Result<void> still = check_still(*sound); !still) return still.error();
    return static_cast<std::uint32_t>(room->size());
  }
  const Samples samples = loader_.load(*sound);
  if (!samples) return samples.error();
  if (Result<void> still = check_still(*sound); !still) return still.error();
  const auto room = find_room(utterance, samples->size(), out);
  if (!room) return room.error();
  std::copy(samples->begin(), samples->end(), room->begin());
  return static_cast<std::uint32_t>(room->size());
}

// A record that is bad is met again, and dealt with, when it is read instead.
std::span<const std::byte> DataSetReader::find_record(
    const std::optional<cache::RecordRef>& record) {
  if (!record) return {};
  const Result<std::span<const std::byte>> found =
      source_.reader()->check_in_place(*record, scratch_);
  return found ? *found : std::span<const std::byte>();
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

Result<data::OpenSound> DataSetReader::open_sound(std::uint32_t utterance) {
  const data::Utterance indexed = source_.index()[utterance];
  Result<data::OpenSound> sound = loader_.open(indexed);
  if (!sound) return in_source(sound.error(), std::string(indexed.file));
  if (Result<void> same = check_info(utterance, sound->info); !same) return same.error();
  return sound;
}

Result<void> DataSetReader::check_info(std::uint32_t utterance, const audio::SoundInfo& info) {
  const data::Utterance indexed = source_.index()[utterance];
  const std::uint64_t wanted = indexed.first_sample + indexed.num_samples;
  const bool has_samples =
      indexed.is_segment ? info.num_samples >= wanted : info.num_samples == wanted;
  if (info.rate_hz != indexed.rate_hz || !has_samples) {
    return changed_since(
        indexed,
        grouped(wanted) + " samples at " + grouped(indexed.rate_hz) + " Hz, as when indexed",
        grouped(info.num_samples) + " at " + grouped(info.rate_hz) + " Hz");
  }
  const bool is_same = indexed.mark == 0 || indexed.mark == data::file_mark(info.file);
  if (is_same || has_same_content(utterance)) return {};
  return changed_since(indexed, "size and time of the last change, as when indexed",
                       "others, and no cached record that proves equal content");
}

// A file that was only touched or copied back holds what its record was made from.
bool DataSetReader::has_same_content(std::uint32_t utterance) {
  const RecordRoute& route = source_.routes()[utterance];
  const std::optional<cache::RecordRef>& record = route.pcm ? route.pcm : route.mel;
  if (!record) return false;
  const Result<cache::RecordHeader> known = source_.reader()->check(*record, scratch_);
  if (!known) return false;
  const Result<Digest128> now = loader_.digest(source_.index()[utterance]);
  return now && *now == known->source;
}

DataSetReader::Samples DataSetReader::load_file(std::uint32_t utterance) {
  const Result<data::OpenSound> sound = open_sound(utterance);
  if (!sound) return sound.error();
  Samples samples = loader_.load(*sound);
  if (!samples) return samples;
  if (Result<void> still = check_still(*sound); !still) return still.error();
  return samples;
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

Result<std::uint32_t> DataSetReader::read_audio(std::uint32_t utterance, std::span<float> out,
                                                pipeline::FillContext& context) {
  const Samples samples = load_changed(utterance, context);
  if (!samples) return samples.error();
  const std::size_t count = std::min(samples->size(), out.size());
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>((*samples)[i]) / 32768.0F;
  return static_cast<std::uint32_t>(count);
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
