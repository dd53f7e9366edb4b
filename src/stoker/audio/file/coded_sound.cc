#include "stoker/audio/file/coded_sound.h"

#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "stoker/audio/file/coded_errors.h"
#include "stoker/audio/file/md5.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

Error sound_error(const ErrorCode& code, const File& file, std::string promised,
                  std::string found) {
  return {&code, {file.path(), {}, {}, {}}, std::move(promised), std::move(found), "", ""};
}

// libsndfile reads through these, so that every byte passes our file seam.
struct VirtualFile {
  const File* file;
  sf_count_t size_bytes;
  sf_count_t at = 0;
  static sf_count_t length(void* self) { return static_cast<VirtualFile*>(self)->size_bytes; }
  static sf_count_t tell(void* self) { return static_cast<VirtualFile*>(self)->at; }
  static sf_count_t write(const void*, sf_count_t, void*) { return 0; }
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    auto& view = *static_cast<VirtualFile*>(self);
    const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? view.at : view.size_bytes;
    view.at = std::clamp<sf_count_t>(base + offset, 0, view.size_bytes);
    return view.at;
  }
  static sf_count_t read(void* into, sf_count_t count, void* self) {
    auto& view = *static_cast<VirtualFile*>(self);
    const std::span out(static_cast<std::byte*>(into), static_cast<std::size_t>(count));
    const Result<std::size_t> got = view.file->read_at(out, static_cast<std::uint64_t>(view.at));
    if (!got) return 0;
    view.at += static_cast<sf_count_t>(*got);
    return static_cast<sf_count_t>(*got);
  }
};

struct CloseSound {
  void operator()(SNDFILE* sound) const noexcept { sf_close(sound); }
};

// An open decoder over a File; not movable, because libsndfile keeps the address of its view.
class Decoder {
 public:
  Decoder(const File& file, std::uint64_t size_bytes)
      : view_{&file, static_cast<sf_count_t>(size_bytes)} {
    static SF_VIRTUAL_IO calls{VirtualFile::length, VirtualFile::seek, VirtualFile::read,
                               VirtualFile::write, VirtualFile::tell};
    sound_.reset(sf_open_virtual(&calls, SFM_READ, &format_, &view_));
  }

  bool is_open() const noexcept { return sound_ != nullptr; }
  SNDFILE* sound() const noexcept { return sound_.get(); }
  const SF_INFO& format() const noexcept { return format_; }
  std::string complaint() const { return sf_strerror(sound_.get()); }

 private:
  VirtualFile view_;
  SF_INFO format_{};
  std::unique_ptr<SNDFILE, CloseSound> sound_;
};

Result<void> check_structure(ByteWindow& window, SoundFormat format, SoundInfo& info) {
  if (format == SoundFormat::kFlac) {
    Result<FlacStream> stream = check_flac_stream(window);
    if (!stream) return std::move(stream).error();
    info.num_samples = stream->num_samples;
  } else if (format == SoundFormat::kOgg) {
    Result<OggStream> stream = check_ogg_pages(window);
    if (!stream) return std::move(stream).error();
  } else {
    Result<Mp3Stream> stream = check_mp3_frames(window);
    if (!stream) return std::move(stream).error();
  }
  return {};
}

Result<void> check_decoder(const File& file, const Decoder& decoder, const SoundPolicy& policy) {
  if (!decoder.is_open())
    return sound_error(kCodedDecode, file, "a readable stream", decoder.complaint());
  if (decoder.format().frames <= 0) return sound_error(kCodedEmpty, file, "samples", "none");
  if (decoder.format().channels > 1 && !policy.allow_mix)
    return sound_error(kCodedChannels, file, "one channel",
                       fmt::format("{} channels", decoder.format().channels));
  return {};
}

// Fills `out` with interleaved samples of the asked range.
template <class Sample, class Read>
Result<void> decode_range(const File& file, const Decoder& decoder, std::uint64_t first_sample,
                          std::span<Sample> out, const Read& read) {
  if (first_sample != 0 &&
      sf_seek(decoder.sound(), static_cast<sf_count_t>(first_sample), SEEK_SET) < 0)
    return sound_error(kCodedDecode, file, fmt::format("sample {}", grouped(first_sample)),
                       decoder.complaint());
  const auto num_channels = static_cast<std::size_t>(decoder.format().channels);
  const std::size_t num_samples = out.size() / num_channels;
  for (std::size_t done = 0; done < num_samples;) {
    const sf_count_t got = read(decoder.sound(), out.data() + done * num_channels,
                                static_cast<sf_count_t>(num_samples - done));
    if (got <= 0)
      return sound_error(kCodedDecode, file,
                         fmt::format("{} samples", grouped(first_sample + num_samples)),
                         fmt::format("{} from the decoder", grouped(first_sample + done)));
    done += static_cast<std::size_t>(got);
  }
  return {};
}

// FLAC's MD5 is over the samples as little-endian integers of whole bytes.
std::array<std::byte, 16> md5_of(std::span<const int> samples, std::uint32_t bits_per_sample) {
  constexpr std::size_t kPieceSamples = 4096;
  const std::size_t width = (bits_per_sample + 7) / 8;
  std::vector<std::byte> bytes(kPieceSamples * width);
  Md5 md5;
  for (std::size_t first = 0; first < samples.size(); first += kPieceSamples) {
    const std::size_t count = std::min(kPieceSamples, samples.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const int value = samples[first + i] >> (32U - bits_per_sample);
      for (std::size_t b = 0; b < width; ++b)
        bytes[i * width + b] = static_cast<std::byte>(value >> (8U * b));
    }
    md5.add(std::span<const std::byte>(bytes).first(count * width));
  }
  return md5.finish();
}

Result<void> decode_flac(const File& file, const Decoder& decoder, const SoundInfo& info,
                         std::uint64_t first_sample, std::span<int> out) {
  ByteWindow window(file, info.file_bytes);
  Result<FlacStream> stream = read_flac_head(window);
  if (!stream) return std::move(stream).error();
  Result<void> decoded = decode_range(file, decoder, first_sample, out, sf_readf_int);
  const bool whole = first_sample == 0 && out.size() == info.num_samples * info.num_channels;
  if (decoded && whole && stream->has_md5() && md5_of(out, stream->bits_per_sample) != stream->md5)
    return sound_error(kFlacDigest, file, "the encoder's MD5 of the samples", "another MD5");
  return decoded;
}

template <class Sample>
std::span<Sample> scratch_as(std::vector<std::byte>& scratch, std::size_t count) {
  if (scratch.size() < count * sizeof(Sample)) scratch.resize(count * sizeof(Sample));
  return {reinterpret_cast<Sample*>(scratch.data()), count};
}

}  // namespace

Result<SoundInfo> read_coded_info(const File& file, SoundFormat format, const SoundPolicy& policy) {
  Result<FileInfo> stat = file.info();
  if (!stat) return std::move(stat).error();
  SoundInfo info{.format = format,
                 .sample_format = SampleFormat::kCoded,
                 .file_bytes = stat->size_bytes,
                 .file = *stat};
  ByteWindow window(file, info.file_bytes);
  if (Result<void> sound = check_structure(window, format, info); !sound) return sound.error();
  const Decoder decoder(file, info.file_bytes);
  if (Result<void> usable = check_decoder(file, decoder, policy); !usable) return usable.error();
  const auto decoded = static_cast<std::uint64_t>(decoder.format().frames);
  if (info.num_samples != 0 && info.num_samples != decoded)
    return sound_error(kCodedDecode, file, fmt::format("{} samples", grouped(info.num_samples)),
                       fmt::format("{} from the decoder", grouped(decoded)));
  info.num_samples = decoded;
  info.rate_hz = static_cast<std::uint32_t>(decoder.format().samplerate);
  info.num_channels = static_cast<std::uint32_t>(decoder.format().channels);
  return info;
}

Result<InterleavedSamples> load_coded(const File& file, const SoundInfo& info,
                                      std::uint64_t first_sample, std::size_t count,
                                      std::vector<std::byte>& scratch) {
  const Decoder decoder(file, info.file_bytes);
  if (!decoder.is_open())
    return sound_error(kCodedDecode, file, "a readable stream", decoder.complaint());
  if (static_cast<std::uint32_t>(decoder.format().channels) != info.num_channels)
    return sound_error(kCodedDecode, file, fmt::format("{} channels", info.num_channels),
                       fmt::format("{}; the file changed", decoder.format().channels));
  const std::size_t num_values = count * info.num_channels;
  if (info.format == SoundFormat::kFlac) {
    const std::span<int> out = scratch_as<int>(scratch, num_values);
    if (Result<void> done = decode_flac(file, decoder, info, first_sample, out); !done)
      return done.error();
    return InterleavedSamples{SampleFormat::kS32, info.num_channels, std::as_bytes(out)};
  }
  const std::span<float> out = scratch_as<float>(scratch, num_values);
  if (Result<void> done = decode_range(file, decoder, first_sample, out, sf_readf_float); !done)
    return done.error();
  return InterleavedSamples{SampleFormat::kF32, info.num_channels, std::as_bytes(out)};
}

}  // namespace stoker::audio
