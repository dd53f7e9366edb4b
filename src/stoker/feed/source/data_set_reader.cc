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

namespace stoker::feed {
namespace {

Error changed_since(const data::Utterance& utterance, std::string promised, std::string found) {
  return {.code = &kFeedFileChanged,
          .place = {.file = std::string(utterance.file)},
          .promised = std::move(promised),
          .found = std::move(found)};
}

// A source that is gone, closed to this user or no file any more is the data's fault; storage that
// fails is not.
Error in_source(Error error, const std::string& file) {
  if (error.code != &kIoMissing && error.code != &kIoKind && error.code != &kIoAccess) return error;
  return {.code = &kFeedFileChanged,
          .place = {.file = file},
          .promised = "a file that can be read, as when indexed",
          .found = std::move(error.found)};
}

Result<void> check_still(const File& file, const audio::SoundInfo& info) {
  const Result<FileInfo> after = file.info();
  if (!after) return after.error();
  if (data::file_mark(*after) == data::file_mark(info.file)) return {};
  return Error{.code = &kFeedFileChanged,
               .place = {.file = file.path()},
               .promised = "samples that stay while they are read",
               .found = "the file was written to meanwhile"};
}

bool is_same_mark(const cache::SourceStamp& a, const cache::SourceStamp& b) {
  return a.size_bytes == b.size_bytes && a.mtime_ns == b.mtime_ns;
}

}  // namespace

DataSetReader::DataSetReader(const DataSetSource& store)
    : store_(store), speech_(store.speech_rule()) {}

void DataSetReader::prefetch(std::uint32_t row) const {
  const RecordRoute& route = store_.routes()[row];
  if (route.mel) store_.reader()->prefetch(*route.mel);
}

void DataSetReader::prefetch_tokens(std::uint32_t row) const {
  const RecordRoute& route = store_.routes()[row];
  if (route.tokens) store_.reader()->prefetch(*route.tokens);
}

Result<std::uint32_t> DataSetReader::read_tokens(std::uint32_t row, std::span<std::int32_t> out) {
  const RecordRoute& route = store_.routes()[row];
  if (!route.tokens) {
    if (const Error* fault = store_.routes().text_fault(row)) return Error(*fault);
    const std::span<const std::int32_t> tokens = store_.routes().tokens(row);
    std::copy(tokens.begin(), tokens.end(), out.begin());
    return static_cast<std::uint32_t>(tokens.size());
  }
  const std::uint32_t count = store_.reader()->info(*route.tokens).shape.axes[0];
  Result<void> read = store_.reader()->read_tokens_into(*route.tokens, out.first(count), scratch_);
  if (read) return count;
  if (Result<void> allowed = fall_back(row, read.error()); !allowed) return allowed.error();
  Result<std::uint32_t> made = make_tokens(row, count, out);
  return made ? made : read.error();
}

Result<std::uint32_t> DataSetReader::make_tokens(std::uint32_t row, std::uint32_t count,
                                                 std::span<std::int32_t> out) {
  if (token_worker_ == nullptr) {
    token_worker_ = find_maker(store_.wanted(), cache::RecordKind::kTokens)->make_worker();
  }
  const Result<void> done = token_worker_->make(store_.wanted().rows().place_of(row), made_);
  if (!done) return done.error();
  const std::span<const std::byte> tokens = made_.payload();
  if (tokens.size() != count * sizeof(std::int32_t)) {
    return changed_since(store_.index()[row], grouped(count) + " tokens as planned",
                         grouped(tokens.size() / sizeof(std::int32_t)));
  }
  if (count > 0) std::memcpy(out.data(), tokens.data(), tokens.size());
  return count;
}

Result<std::uint32_t> DataSetReader::read_mel(std::uint32_t row, const MelTarget& out,
                                              pipeline::FillContext& context) {
  const cache::RecordRef* const record = store_.mel_record(row);
  if (record == nullptr) return make_mel(row, out, context);
  const Result<void> read = read_cached_mel(*record, out);
  if (read) return store_.reader()->info(*record).shape.axes[0];
  if (const Result<void> allowed = fall_back(row, read.error()); !allowed) return allowed.error();
  // Only on the path of the other records: where this processor lacks it, the run ends.
  if (store_.numeric_path() != simd_level_name(store_.wanted().mel().level())) return read.error();
  const Result<std::uint32_t> made = make_mel(row, out, context);
  // The record is bad and its source cannot replace it: that is the storage's fault.
  if (!made) return read.error();
  return *made;
}

Result<void> DataSetReader::read_cached_mel(const cache::RecordRef& record, const MelTarget& out) {
  return store_.reader()->read_mel_into(
      record,
      {.row = out.values,
       .element = cache::element_of(out.dtype),
       .num_values = std::size_t{out.num_frames} * store_.num_mels(),
       .padding = out.padding},
      scratch_);
}

// A bad record may be made again from its source, unless the user forbids it.
Result<void> DataSetReader::fall_back(std::uint32_t row, const Error& error) const {
  if (error.code->exit != ExitCode::kStorage || !store_.fallback_account().are_allowed())
    return error;
  store_.fallback_account().take(
      {"cache record", "source", std::string(error.code->name)},
      error_line(error) + "; " + std::string(store_.id(row)) + " is computed from its source");
  return {};
}

Result<std::uint32_t> DataSetReader::make_mel(std::uint32_t row, const MelTarget& out,
                                              pipeline::FillContext& context) {
  const Samples samples = load_changed(row, context);
  if (!samples) return samples.error();
  context.enter(kMel);
  Result<std::uint32_t> frames = write_mel(row, *samples, out);
  context.enter(kFetch);
  return frames;
}

DataSetReader::Samples DataSetReader::load_samples(std::uint32_t row,
                                                   pipeline::FillContext* context) {
  const RecordRoute& route = store_.routes()[row];
  if (route.pcm) {
    Samples samples = load_record(*route.pcm);
    if (samples) return samples;
    if (Result<void> allowed = fall_back(row, samples.error()); !allowed) return allowed.error();
  }
  if (context != nullptr) context->enter(kDecode);
  return load_file(row);
}

DataSetReader::Samples DataSetReader::load_changed(std::uint32_t row,
                                                   pipeline::FillContext& context) {
  Samples samples = load_samples(row, &context);
  const Augmentation* const augmentation = store_.augmentation().get();
  if (!samples || augmentation == nullptr) return samples;
  changed_.resize(samples->size());
  augmentation->apply({hash64(store_.id(row)), epoch_}, *samples, changed_);
  return std::span<const std::int16_t>(changed_);
}

DataSetReader::Samples DataSetReader::load_record(const cache::RecordRef& record) {
  const std::size_t count = store_.reader()->info(record).shape.axes[0];
  if (pcm_.size() < count) pcm_.resize(std::max<std::size_t>(count, store_.max_samples()));
  return read_record(record, std::span(pcm_).first(count));
}

DataSetReader::Samples DataSetReader::read_record(const cache::RecordRef& record,
                                                  std::span<std::int16_t> out) {
  Result<void> read = store_.reader()->read_into(record, std::as_writable_bytes(out), scratch_);
  if (!read) return read.error();
  return std::span<const std::int16_t>(out);
}

Result<void> DataSetReader::check_planned(std::uint32_t row, std::size_t num_samples) const {
  const std::size_t num_frames = store_.wanted().mel().num_frames(num_samples);
  if (num_frames == 0) {
    return Error{.code = &cache::kNoFrames,
                 .place = {.file = std::string(store_.index()[row].file)},
                 .promised = "enough samples for one frame",
                 .found = grouped(num_samples) + " samples are left"};
  }
  if (num_frames == store_.num_frames(row) && num_samples <= store_.max_samples()) return {};
  return changed_since(store_.index()[row], grouped(store_.num_frames(row)) + " frames as planned",
                       grouped(num_frames));
}

Result<std::span<std::int16_t>> DataSetReader::find_room(std::uint32_t row, std::size_t num_samples,
                                                         std::span<std::int16_t> out) const {
  if (Result<void> planned = check_planned(row, num_samples); !planned) return planned.error();
  if (num_samples > out.size()) {
    return changed_since(store_.index()[row],
                         "at most " + grouped(out.size()) + " samples as planned",
                         grouped(num_samples));
  }
  return out.first(num_samples);
}

Result<std::uint32_t> DataSetReader::read_pcm(std::uint32_t row, std::span<std::int16_t> out,
                                              pipeline::FillContext& context) {
  const std::optional<cache::RecordRef>& record = store_.routes()[row].pcm;
  if (record) {
    // Straight into the batch: no second copy of samples that lie in the cache.
    const std::uint32_t count = store_.reader()->info(*record).shape.axes[0];
    const auto room = find_room(row, count, out);
    if (!room) return room.error();
    const Samples read = read_record(*record, *room);
    if (read) return count;
    if (Result<void> allowed = fall_back(row, read.error()); !allowed) return allowed.error();
  }
  context.enter(kDecode);
  Result<std::uint32_t> count = read_file_pcm(row, out);
  context.enter(kFetch);
  return count;
}

// Straight into the batch where the file's samples are the ones wanted.
Result<std::uint32_t> DataSetReader::read_file_pcm(std::uint32_t row, std::span<std::int16_t> out) {
  const Result<Sound> sound = open_sound(row);
  if (!sound) return sound.error();
  const auto& [utterance, file, info] = *sound;
  if (speech_.only_reads(info)) {
    const auto room = find_room(row, utterance.num_samples, out);
    if (!room) return room.error();
    const Result<void> read = speech_.stream(file, info, utterance.first_sample, *room);
    if (!read) return read.error();
    if (Result<void> still = check_still(file, info); !still) return still.error();
    return static_cast<std::uint32_t>(room->size());
  }
  const Samples samples = speech_.load(file, info, utterance.first_sample, utterance.num_samples);
  if (!samples) return samples.error();
  if (Result<void> still = check_still(file, info); !still) return still.error();
  const auto room = find_room(row, samples->size(), out);
  if (!room) return room.error();
  std::copy(samples->begin(), samples->end(), room->begin());
  return static_cast<std::uint32_t>(room->size());
}

// A record that is bad is met again, and dealt with, when it is read instead.
std::span<const std::byte> DataSetReader::find_record(
    const std::optional<cache::RecordRef>& record) {
  if (!record) return {};
  const Result<std::span<const std::byte>> found =
      store_.reader()->check_in_place(*record, scratch_);
  return found ? *found : std::span<const std::byte>();
}

std::span<const std::byte> DataSetReader::find_mel(std::uint32_t row, config::MelDtype dtype) {
  if (dtype != store_.cache_dtype()) return {};
  return find_record(store_.routes()[row].mel);
}

std::span<const std::byte> DataSetReader::find_pcm(std::uint32_t row) {
  const std::span<const std::byte> found = find_record(store_.routes()[row].pcm);
  return check_planned(row, found.size() / sizeof(std::int16_t)) ? found
                                                                 : std::span<const std::byte>();
}

Result<DataSetReader::Sound> DataSetReader::open_sound(std::uint32_t row) {
  const data::Utterance utterance = store_.index()[row];
  Result<File> file = store_.index().open_sound(utterance);
  if (!file) return in_source(file.error(), std::string(utterance.file));
  const Result<audio::SoundInfo> info = audio::read_sound_info(*file, store_.sound_policy());
  if (!info) return in_source(info.error(), file->path());
  if (Result<void> same = check_info(row, *info); !same) return same.error();
  return Sound{utterance, std::move(file).value(), *info};
}

Result<void> DataSetReader::check_info(std::uint32_t row, const audio::SoundInfo& info) {
  const data::Utterance utterance = store_.index()[row];
  const std::uint64_t wanted = utterance.first_sample + utterance.num_samples;
  const bool has_samples =
      utterance.is_segment ? info.num_samples >= wanted : info.num_samples == wanted;
  if (info.rate_hz != utterance.rate_hz || !has_samples) {
    return changed_since(
        utterance,
        grouped(wanted) + " samples at " + grouped(utterance.rate_hz) + " Hz when indexed",
        grouped(info.num_samples) + " at " + grouped(info.rate_hz) + " Hz now");
  }
  const bool is_same = utterance.mark == 0 || utterance.mark == data::file_mark(info.file);
  if (is_same || has_same_content(row)) return {};
  return changed_since(utterance, "size and time of the last change as when indexed",
                       "others, and no cached record that shows the content to be the same");
}

// A file that was only touched or copied back holds what its record was made from.
bool DataSetReader::has_same_content(std::uint32_t row) {
  const RecordRoute& route = store_.routes()[row];
  const auto kind = route.pcm ? cache::RecordKind::kPcm : cache::RecordKind::kMel;
  const std::optional<cache::RecordRef>& record = route.pcm ? route.pcm : route.mel;
  const cache::RecordMaker* const maker = find_maker(store_.wanted(), kind);
  if (!record || maker == nullptr) return false;
  const Result<cache::RecordHeader> known = store_.reader()->check(*record, scratch_);
  if (!known) return false;
  const Result<Digest128> now = maker->source_digest(store_.wanted().rows().place_of(row));
  return now && *now == known->source;
}

DataSetReader::Samples DataSetReader::load_file(std::uint32_t row) {
  const Result<Sound> sound = open_sound(row);
  if (!sound) return sound.error();
  Samples samples = speech_.load(sound->file, sound->info, sound->utterance.first_sample,
                                 sound->utterance.num_samples);
  if (!samples) return samples;
  if (Result<void> still = check_still(sound->file, sound->info); !still) return still.error();
  return samples;
}

Result<std::uint32_t> DataSetReader::write_mel(std::uint32_t row,
                                               std::span<const std::int16_t> samples,
                                               const MelTarget& out) {
  const audio::LogMel& log_mel = store_.wanted().mel();
  const std::size_t num_frames = log_mel.num_frames(samples.size());
  if (Result<void> planned = check_planned(row, samples.size()); !planned) return planned.error();
  if (!workspace_) workspace_.emplace(log_mel.make_workspace(store_.max_samples()));
  const std::size_t num_values = num_frames * log_mel.num_mels();
  const bool same_format = out.dtype == store_.cache_dtype();
  if (!same_format) {
    mel_.resize(std::max(mel_.size(), num_values * config::bytes_per_value(store_.cache_dtype())));
  }
  log_mel.run(samples,
              {.data = same_format ? out.values : mel_.data(),
               .dtype = store_.cache_dtype(),
               .row_stride = log_mel.num_mels(),
               .rows = num_frames},
              *workspace_);
  if (!same_format) {
    // First rounded to the cache's format, so that what is computed now equals what is stored.
    cache::copy_without_crc({.payload = std::span(mel_).first(
                                 num_values * config::bytes_per_value(store_.cache_dtype())),
                             .from = cache::element_of(store_.cache_dtype()),
                             .to = cache::element_of(out.dtype),
                             .out = out.values});
  }
  auto* const end =
      static_cast<std::byte*>(out.values) + num_values * config::bytes_per_value(out.dtype);
  cache::fill_values(end, cache::element_of(out.dtype),
                     std::size_t{out.num_frames} * log_mel.num_mels() - num_values, out.padding);
  return static_cast<std::uint32_t>(num_frames);
}

Result<std::uint32_t> DataSetReader::read_audio(std::uint32_t row, std::span<float> out,
                                                pipeline::FillContext& context) {
  const Samples samples = load_changed(row, context);
  if (!samples) return samples.error();
  const std::size_t count = std::min(samples->size(), out.size());
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>((*samples)[i]) / 32768.0F;
  return static_cast<std::uint32_t>(count);
}

Result<std::uint32_t> DataSetReader::read_array(std::uint32_t row, std::size_t array,
                                                std::span<std::byte> out) {
  const ArrayRoute& route = store_.array_routes()[array];
  if (const std::optional<cache::RecordRef>& record = route.rows[row].record) {
    const cache::ArrayShape shape = store_.reader()->info(*record).shape;
    const std::size_t size_bytes = shape.axes[0] * route.kind.bytes_per_step();
    Result<void> read = store_.reader()->read_into(*record, out.first(size_bytes), scratch_);
    if (read) return shape.axes[0];
    if (Result<void> allowed = fall_back(row, read.error()); !allowed) return allowed.error();
    if (route.sources[row] == ArrayRoute::kNoSource) return read.error();
  }
  if (route.sources[row] == ArrayRoute::kNoSource) return std::uint32_t{0};
  return make_array(row, array, out);
}

Result<std::uint32_t> DataSetReader::make_array(std::uint32_t row, std::size_t array,
                                                std::span<std::byte> out) {
  const ArrayRoute& route = store_.array_routes()[array];
  const std::uint32_t source = route.sources[row];
  const cache::ArrayMaker::Header& indexed = route.maker->header(source);
  array_workers_.resize(store_.array_routes().size());
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
                             " of the size and time when indexed",
                 .found = made_.shape.text() + (is_same ? "" : " in a file written since")};
  }
  std::copy(made_.payload().begin(), made_.payload().end(), out.begin());
  return made_.shape.axes[0];
}

std::optional<std::uint32_t> DataSetReader::count_frames(std::uint32_t row) {
  const Samples samples = load_samples(row, nullptr);
  if (!samples) return std::nullopt;
  return static_cast<std::uint32_t>(store_.wanted().mel().num_frames(samples->size()));
}

}  // namespace stoker::feed
