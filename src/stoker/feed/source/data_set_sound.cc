// How a data set's samples come: from records of the cache, else from the sound files, which must
// be what they were when indexed.
#include <algorithm>
#include <utility>

#include "stoker/base/digest/digest.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/data_set_reader.h"
#include "stoker/feed/source/source_faults.h"

namespace stoker::feed {
namespace {

Result<void> check_still(const data::OpenSound& sound) {
  const Result<FileInfo> after = sound.file.info();
  if (!after) return after.error();
  if (data::file_mark(*after) == data::file_mark(sound.info.file)) return {};
  return Error{.code = &kFeedFileChanged,
               .place = {.file = sound.file.path()},
               .promised = "a file that does not change while it is read",
               .found = "one that was written to"};
}

bool is_coded(const data::OpenSound& sound) {
  return sound.info.format != audio::SoundFormat::kWav;
}

}  // namespace

DataSetReader::Samples DataSetReader::load_samples(std::uint32_t utterance,
                                                   pipeline::FillContext* context) {
  const RecordRoute& route = source_.routes()[utterance];
  if (route.pcm) {
    Samples samples = load_record(*route.pcm);
    if (samples) return samples;
    if (Result<void> allowed = fall_back(utterance, samples.error()); !allowed)
      return allowed.error();
  }
  return load_file(utterance, context);
}

DataSetReader::Samples DataSetReader::load_changed(std::uint32_t utterance,
                                                   pipeline::FillContext& context) {
  Samples samples = load_samples(utterance, &context);
  const Augmentation* const augmentation = source_.augmentation().get();
  if (!samples || augmentation == nullptr) return samples;
  context.enter(kAugment);
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
  note_cached(out.size_bytes());
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
  Result<std::uint32_t> count = read_file_pcm(utterance, out, context);
  context.enter(kFetch);
  return count;
}

// Straight into the batch where the file's samples are the ones wanted.
Result<std::uint32_t> DataSetReader::read_file_pcm(std::uint32_t utterance,
                                                   std::span<std::int16_t> out,
                                                   pipeline::FillContext& context) {
  const Result<data::OpenSound> sound = open_sound(utterance);
  if (!sound) return sound.error();
  if (loader_.only_reads(*sound)) {
    if (is_coded(*sound)) context.enter(kDecode);
    note_file(*sound);
    const auto room = find_room(utterance, sound->utterance.num_samples, out);
    if (!room) return room.error();
    const Result<void> read = loader_.read_into(*sound, *room);
    if (!read) return read.error();
    if (Result<void> still = check_still(*sound); !still) return still.error();
    return static_cast<std::uint32_t>(room->size());
  }
  const Samples samples = load_sound(*sound, &context);
  if (!samples) return samples.error();
  if (Result<void> still = check_still(*sound); !still) return still.error();
  const auto room = find_room(utterance, samples->size(), out);
  if (!room) return room.error();
  std::copy(samples->begin(), samples->end(), room->begin());
  return static_cast<std::uint32_t>(room->size());
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

// What is read of the file: a segment's share of it.
void DataSetReader::note_file(const data::OpenSound& sound) {
  ++counts_.num_made;
  const std::uint64_t all = std::max<std::uint64_t>(1, sound.info.num_samples);
  const std::uint64_t wanted = std::min(all, sound.utterance.num_samples);
  counts_.num_bytes += sound.info.file.size_bytes * wanted / all;
}

// Samples of a WAV file only have to be read; those of other files have to be decoded as well.
DataSetReader::Samples DataSetReader::load_sound(const data::OpenSound& sound,
                                                 pipeline::FillContext* context) {
  note_file(sound);
  if (context != nullptr && is_coded(sound)) context->enter(kDecode);
  if (Result<void> decoded = loader_.decode(sound); !decoded) return decoded.error();
  if (context != nullptr && !loader_.only_reads(sound)) context->enter(kResample);
  return loader_.finish(sound);
}

DataSetReader::Samples DataSetReader::load_file(std::uint32_t utterance,
                                                pipeline::FillContext* context) {
  const Result<data::OpenSound> sound = open_sound(utterance);
  if (!sound) return sound.error();
  Samples samples = load_sound(*sound, context);
  if (!samples) return samples;
  if (Result<void> still = check_still(*sound); !still) return still.error();
  return samples;
}

Result<std::uint32_t> DataSetReader::read_audio(std::uint32_t utterance, std::span<float> out,
                                                pipeline::FillContext& context) {
  const Samples samples = load_changed(utterance, context);
  if (!samples) return samples.error();
  context.enter(kAssemble);
  const std::size_t count = std::min(samples->size(), out.size());
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>((*samples)[i]) / 32768.0F;
  return static_cast<std::uint32_t>(count);
}

}  // namespace stoker::feed
