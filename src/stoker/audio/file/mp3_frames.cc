// The framing of MPEG-1 and MPEG-2 audio, layer III: ISO/IEC 11172-3, 2.4.1.3, and the Xing header
// convention.
#include "stoker/audio/file/coded_sound.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "stoker/audio/file/coded_errors.h"
#include "stoker/base/bytes.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::array<std::uint32_t, 15> kBitratesMpeg1{0,   32,  40,  48,  56,  64,  80, 96,
                                                       112, 128, 160, 192, 224, 256, 320};
constexpr std::array<std::uint32_t, 15> kBitratesMpeg2{0,  8,  16, 24,  32,  40,  48, 56,
                                                       64, 80, 96, 112, 128, 144, 160};
constexpr std::array<std::uint32_t, 3> kRatesHz{44100, 48000, 32000};

struct FrameHead {
  std::uint32_t size_bytes = 0;
  std::uint32_t rate_hz = 0;
  std::uint32_t samples = 0;
  std::uint32_t side_bytes = 0;  // after the header; a Xing tag follows them
  bool usable = false;           // layer III with a stated bit rate
};

std::uint32_t big_endian32(Bytes bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes.first(4))
    value = value << 8U | std::to_integer<std::uint32_t>(byte);
  return value;
}

// A header, or nothing where the sync code or a reserved field says there is none.
std::optional<FrameHead> parse_head(Bytes bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const std::uint32_t word = big_endian32(bytes);
  const std::uint32_t version = word >> 19U & 3U;
  const std::uint32_t layer = word >> 17U & 3U;
  const std::uint32_t bitrate_code = word >> 12U & 15U;
  const std::uint32_t rate_code = word >> 10U & 3U;
  if (word >> 21U != 0x7FF || version == 1 || layer == 0 || bitrate_code == 15 || rate_code == 3)
    return std::nullopt;
  const bool mpeg1 = version == 3;
  FrameHead head;
  head.rate_hz = kRatesHz[rate_code] >> (mpeg1 ? 0U : version == 2 ? 1U : 2U);
  head.samples = mpeg1 ? 1152 : 576;
  head.usable = layer == 1 && bitrate_code != 0;
  const std::uint32_t kbps = (mpeg1 ? kBitratesMpeg1 : kBitratesMpeg2)[bitrate_code];
  head.size_bytes = head.samples / 8 * kbps * 1000 / head.rate_hz + (word >> 9U & 1U);
  const bool mono = (word >> 6U & 3U) == 3;
  head.side_bytes = mpeg1 ? (mono ? 17 : 32) : (mono ? 9 : 17);
  return head;
}

// The frame count of a Xing or Info tag in the first frame; 0 when the tag does not state it.
std::optional<std::uint64_t> promised_frames(Bytes frame, const FrameHead& head) {
  const std::size_t at = 4 + head.side_bytes;
  if (frame.size() < at + 12) return std::nullopt;
  const std::string_view tag = view_text(frame.subspan(at, 4));
  if (tag != "Xing" && tag != "Info") return std::nullopt;
  const bool has_count = (big_endian32(frame.subspan(at + 4)) & 1U) != 0;
  return has_count ? big_endian32(frame.subspan(at + 8)) : 0;
}

class Walk {
 public:
  explicit Walk(ByteWindow& window) : window_(&window) {}

  Result<Mp3Stream> run() {
    if (Result<void> tags = find_sound(); !tags) return tags.error();
    while (at_ < end_) {
      if (Result<void> frame = one_frame(); !frame) return frame.error();
    }
    if (stream_.states_length && stream_.num_frames != promised_)
      return fault(kMp3Trunc, fmt::format("{} frames by the header", grouped(promised_)),
                   grouped(stream_.num_frames));
    return stream_;
  }

 private:
  Error fault(const ErrorCode& code, std::string promised, std::string found) const {
    return {&code, {window_->file().path(), {}, {}, at_}, std::move(promised), std::move(found), "",
            ""};
  }

  // Sets at_ and end_ to what is between the tags.
  Result<void> find_sound() {
    end_ = window_->size_bytes();
    Result<Bytes> head = window_->view(0, 10);
    if (!head) return std::move(head).error();
    if (head->size() == 10 && view_text(head->first(3)) == "ID3") {
      for (std::size_t i = 6; i < 10; ++i)
        at_ = at_ << 7U | (std::to_integer<std::uint64_t>((*head)[i]) & 0x7FU);
      at_ += 10;
    }
    if (end_ >= 128) {
      Result<Bytes> tag = window_->view(end_ - 128, 3);
      if (!tag) return std::move(tag).error();
      if (view_text(*tag) == "TAG") end_ -= 128;
    }
    if (end_ >= 32) {
      Result<Bytes> ape = window_->view(end_ - 32, 32);
      if (!ape) return std::move(ape).error();
      if (ape->size() == 32 && view_text(ape->first(8)) == "APETAGEX")
        end_ -= std::min<std::uint64_t>(end_, load_le<std::uint32_t>(ape->data() + 12) + 32ULL);
    }
    if (at_ >= end_) return fault(kMp3Trunc, "frames after the tag", "the end of the file");
    return {};
  }

  Result<void> one_frame() {
    Result<Bytes> bytes = window_->view(at_, 4);
    if (!bytes) return std::move(bytes).error();
    const std::optional<FrameHead> head = parse_head(*bytes);
    if (!head)
      return fault(kMp3Sync, fmt::format("the header of frame {}", stream_.num_frames),
                   "other bytes");
    if (!head->usable)
      return fault(kMp3Kind, "layer III with a stated bit rate", "another layer, or free format");
    if (stream_.rate_hz != 0 && head->rate_hz != stream_.rate_hz)
      return fault(kMp3Sync, fmt::format("a frame at {} Hz", stream_.rate_hz),
                   fmt::format("{} Hz", head->rate_hz));
    if (at_ + head->size_bytes > end_)
      return fault(kMp3Trunc, fmt::format("a frame of {} bytes", head->size_bytes),
                   fmt::format("{} bytes", end_ - at_));
    return count_frame(*head);
  }

  Result<void> count_frame(const FrameHead& head) {
    if (stream_.rate_hz == 0) {
      stream_.rate_hz = head.rate_hz;
      stream_.samples_per_frame = head.samples;
      Result<Bytes> frame = window_->view(at_, head.size_bytes);
      if (!frame) return std::move(frame).error();
      const std::optional<std::uint64_t> promised = promised_frames(*frame, head);
      if (promised) {  // the tag's own frame is silent and not counted
        stream_.states_length = *promised != 0;
        promised_ = *promised;
        at_ += head.size_bytes;
        return {};
      }
    }
    ++stream_.num_frames;
    at_ += head.size_bytes;
    return {};
  }

  ByteWindow* window_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t promised_ = 0;
  Mp3Stream stream_;
};

}  // namespace

Result<Mp3Stream> check_mp3_frames(ByteWindow& window) { return Walk(window).run(); }

}  // namespace stoker::audio
