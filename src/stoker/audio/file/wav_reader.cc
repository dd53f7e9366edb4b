#include "stoker/audio/file/wav_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/audio/file/sound_kind.h"
#include "stoker/base/bytes.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

constexpr std::uint64_t kRiffBytes = 12;
constexpr std::uint64_t kChunkHeaderBytes = 8;
constexpr std::uint64_t kSmallestFileBytes = 44;
constexpr std::uint32_t kOpenSize = 0xFFFFFFFF;

using ChunkId = std::array<char, 4>;

struct Chunk {
  ChunkId id{};
  std::uint32_t size_bytes = 0;
  std::uint64_t at_bytes = 0;  // of the chunk's header
  std::uint64_t body_at_bytes() const { return at_bytes + kChunkHeaderBytes; }
  std::string_view name() const { return {id.data(), id.size()}; }
};

class MemoryBytes final : public WavBytes {
 public:
  explicit MemoryBytes(std::span<const std::byte> file) : file_(file) {}
  std::uint64_t size_bytes() const noexcept override { return file_.size(); }
  Result<void> read(std::span<std::byte> into, std::uint64_t at_bytes) override {
    std::memcpy(into.data(), file_.data() + at_bytes, into.size());
    return {};
  }

 private:
  std::span<const std::byte> file_;
};

Error wrong(const ErrorCode& code, std::uint64_t at_bytes, std::string promised,
            std::string found) {
  return {.code = &code,
          .place = {.byte = at_bytes},
          .promised = std::move(promised),
          .found = std::move(found)};
}

std::string bytes_word(std::uint64_t size_bytes) {
  return fmt::format("{} byte{}", grouped(size_bytes), size_bytes == 1 ? "" : "s");
}

bool is_printable_id(const ChunkId& id) {
  return std::all_of(id.begin(), id.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

bool is_known_id(const ChunkId& id) {
  static constexpr std::array<std::string_view, 16> kKnown{
      "fmt ", "data", "LIST", "fact", "JUNK", "junk", "PAD ", "bext",
      "cue ", "smpl", "inst", "id3 ", "ID3 ", "iXML", "PEAK", "_PMX"};
  const std::string_view name(id.data(), id.size());
  return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
}

// The walk over the chunks of one file.
class Walk {
 public:
  Walk(WavBytes& bytes, const SoundPolicy& policy) : bytes_(bytes), policy_(policy) {}

  Result<WavHeader> run();

 private:
  std::optional<Error> check_start();
  std::optional<Error> visit_chunks();
  Result<std::optional<Chunk>> read_chunk(std::uint64_t at_bytes);
  std::optional<Error> visit(const Chunk& chunk);
  std::optional<Error> visit_fmt(const Chunk& chunk);
  std::optional<Error> visit_data(const Chunk& chunk);
  std::optional<Error> step_over(const Chunk& chunk);
  std::optional<Error> find_missing_pad(const Chunk& chunk);
  std::optional<Error> check_end();
  Result<ChunkId> read_id(std::uint64_t at_bytes);
  bool is_past_riff_end(std::uint64_t at_bytes) const;

  WavBytes& bytes_;
  const SoundPolicy& policy_;
  std::uint32_t riff_bytes_ = 0;
  std::uint64_t at_bytes_ = kRiffBytes;
  std::optional<WavFormat> format_;
  std::optional<Chunk> data_;
  std::uint64_t data_bytes_ = 0;
  std::uint32_t oddities_ = 0;
};

Result<WavHeader> Walk::run() {
  if (auto error = check_start()) return std::move(*error);
  if (auto error = visit_chunks()) return std::move(*error);
  if (auto error = check_end()) return std::move(*error);
  const std::uint64_t num_samples = data_bytes_ / format_->block_bytes;
  return WavHeader{.format = *format_,
                   .num_samples = num_samples,
                   .data_at_bytes = data_->body_at_bytes(),
                   .data_bytes = num_samples * format_->block_bytes,
                   .oddities = oddities_ | format_->oddities};
}

std::optional<Error> Walk::check_start() {
  const std::uint64_t file_bytes = bytes_.size_bytes();
  if (file_bytes > policy_.max_file_bytes)
    return wrong(kWavTooBig, 0, "at most " + bytes_word(policy_.max_file_bytes),
                 bytes_word(file_bytes));
  std::array<std::byte, 64> head{};
  const auto view = std::span(head).first(std::min<std::uint64_t>(head.size(), file_bytes));
  if (auto read = bytes_.read(view, 0); !read.ok()) return read.error();
  const std::string_view other = sound_kind_name(view);
  if (other.empty() && file_bytes >= kSmallestFileBytes) {
    riff_bytes_ = load_le<std::uint32_t>(head.data() + 4);
    return std::nullopt;
  }
  if (!other.empty() && other != kUnknownKind)
    return wrong(kWavKind, 0, "a RIFF/WAVE file", std::string(other));
  if (file_bytes < kSmallestFileBytes)
    return wrong(kWavEmpty, 0, "a header of at least 44 bytes", bytes_word(file_bytes));
  return wrong(kWavKind, 0, "a RIFF/WAVE file",
               "\"" + escape_control(view_text(view.first(12))) + "\" at its start");
}

// Bytes behind the end that RIFF promises belong to no chunk, where that end is a credible one.
bool Walk::is_past_riff_end(std::uint64_t at_bytes) const {
  if (!data_ || data_bytes_ == 0) return false;
  const std::uint64_t riff_end = std::uint64_t{riff_bytes_} + kChunkHeaderBytes;
  return riff_end >= data_->body_at_bytes() + data_bytes_ && at_bytes >= riff_end;
}

std::optional<Error> Walk::visit_chunks() {
  for (std::size_t num_chunks = 0;; ++num_chunks) {
    if (num_chunks == kMaxWavChunks)
      return wrong(kWavChunks, at_bytes_, fmt::format("at most {} chunks", grouped(kMaxWavChunks)),
                   "more");
    auto chunk = read_chunk(at_bytes_);
    if (!chunk.ok()) return chunk.error();
    if (!chunk->has_value()) return std::nullopt;
    if (auto error = visit(**chunk)) return error;
  }
}

// The chunk at this place, or nothing when only bytes without meaning are left.
Result<std::optional<Chunk>> Walk::read_chunk(std::uint64_t at_bytes) {
  const std::uint64_t left_bytes = bytes_.size_bytes() - std::min(at_bytes, bytes_.size_bytes());
  if (left_bytes == 0) return std::optional<Chunk>();
  if (left_bytes < kChunkHeaderBytes || is_past_riff_end(at_bytes)) {
    oddities_ |= kOddTrailingBytes;
    return std::optional<Chunk>();
  }
  std::array<std::byte, kChunkHeaderBytes> raw{};
  if (auto read = bytes_.read(raw, at_bytes); !read.ok()) return read.error();
  Chunk chunk{.size_bytes = load_le<std::uint32_t>(raw.data() + 4), .at_bytes = at_bytes};
  std::memcpy(chunk.id.data(), raw.data(), 4);
  if (!is_printable_id(chunk.id) && data_) {
    oddities_ |= kOddTrailingBytes;
    return std::optional<Chunk>();
  }
  return std::optional<Chunk>(chunk);
}

std::optional<Error> Walk::visit(const Chunk& chunk) {
  if (chunk.name() == "data") return visit_data(chunk);
  const std::uint64_t left_bytes = bytes_.size_bytes() - chunk.body_at_bytes();
  if (chunk.size_bytes > left_bytes)
    return wrong(kWavChunk, chunk.at_bytes,
                 fmt::format("{} in chunk \"{}\"", bytes_word(chunk.size_bytes),
                             escape_control(chunk.name())),
                 bytes_word(left_bytes));
  if (chunk.name() == "fmt ")
    if (auto error = visit_fmt(chunk)) return error;
  return step_over(chunk);
}

std::optional<Error> Walk::visit_fmt(const Chunk& chunk) {
  if (format_) return wrong(kWavDupFmt, chunk.at_bytes, "one fmt chunk", "a second one");
  if (data_)
    return wrong(kWavOrder, chunk.at_bytes, "fmt before data",
                 fmt::format("data at {} before fmt", grouped(data_->at_bytes)));
  std::array<std::byte, kMaxWavFmtBytes> body{};
  const auto view = std::span(body).first(std::min<std::size_t>(chunk.size_bytes, kMaxWavFmtBytes));
  if (auto read = bytes_.read(view, chunk.body_at_bytes()); !read.ok()) return read.error();
  auto format = parse_wav_format(view, chunk.body_at_bytes(), policy_);
  if (!format.ok()) return format.error();
  format_ = *format;
  return std::nullopt;
}

std::optional<Error> Walk::visit_data(const Chunk& chunk) {
  if (data_)
    return wrong(kWavDupData, chunk.at_bytes, "one data chunk",
                 fmt::format("the first at {}, a second one", grouped(data_->at_bytes)));
  const std::uint64_t left_bytes = bytes_.size_bytes() - chunk.body_at_bytes();
  data_ = chunk;
  data_bytes_ = chunk.size_bytes;
  if (chunk.size_bytes == kOpenSize) {
    if (!policy_.allow_streamed)
      return wrong(kWavStreamed, chunk.at_bytes + 4, "a data size",
                   fmt::format("0xFFFFFFFF, left open by a streaming writer, and {} after it",
                               bytes_word(left_bytes)));
    oddities_ |= kOddStreamed;
    data_bytes_ = left_bytes;
    at_bytes_ = bytes_.size_bytes();
    return std::nullopt;
  }
  if (chunk.size_bytes > left_bytes)
    return wrong(kWavTrunc, chunk.at_bytes + 4, bytes_word(chunk.size_bytes) + " of samples",
                 bytes_word(left_bytes));
  return step_over(chunk);
}

std::optional<Error> Walk::step_over(const Chunk& chunk) {
  at_bytes_ = chunk.body_at_bytes() + chunk.size_bytes;
  if (chunk.size_bytes % 2 == 0 || at_bytes_ >= bytes_.size_bytes()) return std::nullopt;
  std::array<std::byte, 1> pad{};
  if (auto read = bytes_.read(pad, at_bytes_); !read.ok()) return read.error();
  if (pad[0] != std::byte{0}) return find_missing_pad(chunk);
  ++at_bytes_;
  return std::nullopt;
}

// The byte after an odd chunk is not zero: a pad byte of another value, or the next chunk at once.
// Only a chunk id that is known, at one of the two places, decides.
std::optional<Error> Walk::find_missing_pad(const Chunk& chunk) {
  auto unpadded = read_id(at_bytes_);
  auto padded = read_id(at_bytes_ + 1);
  if (!unpadded.ok()) return unpadded.error();
  if (!padded.ok()) return padded.error();
  if (is_known_id(*unpadded) == is_known_id(*padded)) {
    if (is_past_riff_end(at_bytes_)) return std::nullopt;
    return wrong(kWavPad, at_bytes_,
                 fmt::format("a pad byte after chunk \"{}\" of {}", escape_control(chunk.name()),
                             bytes_word(chunk.size_bytes)),
                 "none, and no known chunk follows");
  }
  if (is_known_id(*unpadded))
    oddities_ |= kOddMissingPad;
  else
    ++at_bytes_;
  return std::nullopt;
}

Result<ChunkId> Walk::read_id(std::uint64_t at_bytes) {
  ChunkId id{};
  if (at_bytes + id.size() > bytes_.size_bytes()) return id;
  if (auto read = bytes_.read(std::as_writable_bytes(std::span(id)), at_bytes); !read.ok())
    return read.error();
  return id;
}

std::optional<Error> Walk::check_end() {
  if (!format_)
    return wrong(kWavNoFmt, kRiffBytes, "a fmt chunk",
                 data_ ? "data without one" : "neither fmt nor data");
  if (!data_) return wrong(kWavNoData, bytes_.size_bytes(), "a data chunk", "none");
  if (data_bytes_ < format_->block_bytes)
    return wrong(kWavEmpty, data_->at_bytes + 4, "at least one sample",
                 fmt::format("data of {}", bytes_word(data_bytes_)));
  if (data_bytes_ % format_->block_bytes != 0) {
    if (!policy_.allow_odd_data)
      return wrong(kWavOddData, data_->at_bytes + 4,
                   fmt::format("a multiple of {} (block_align)", bytes_word(format_->block_bytes)),
                   bytes_word(data_bytes_));
    oddities_ |= kOddDataBytes;
  }
  // A final pad byte is counted by some writers and not by others; both are right enough.
  const std::uint64_t riff_end = std::uint64_t{riff_bytes_} + kChunkHeaderBytes;
  const std::uint64_t file_bytes = bytes_.size_bytes();
  if (riff_end != file_bytes && riff_end != file_bytes + 1 && riff_end + 1 != file_bytes)
    oddities_ |= kOddRiffSize;
  return std::nullopt;
}

}  // namespace

Result<WavHeader> parse_wav(WavBytes& bytes, const SoundPolicy& policy) {
  return Walk(bytes, policy).run();
}

Result<WavHeader> parse_wav(std::span<const std::byte> file, const SoundPolicy& policy) {
  MemoryBytes bytes(file);
  return parse_wav(bytes, policy);
}

}  // namespace stoker::audio
