#include "stoker/data/utterance.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/base/digest/digest.h"
#include "stoker/base/invariant.h"
#include "stoker/base/io/io.h"

namespace stoker::data {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;

char* copy_chars(char* to, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

std::uint64_t file_mark(const FileInfo& file) noexcept {
  const std::array<std::uint64_t, 2> facts{file.size_bytes,
                                           static_cast<std::uint64_t>(file.mtime_ns)};
  const std::uint64_t mark = hash64({reinterpret_cast<const char*>(facts.data()), sizeof(facts)});
  return mark == 0 ? 1 : mark;
}

Utterance UtteranceTable::operator[](std::size_t index) const noexcept {
  const Row& row = row_at(index);
  const char* at = row.strings;
  Utterance out;
  out.id = {at, row.id_bytes};
  at += row.id_bytes;
  out.text = {at, row.text_bytes};
  at += row.text_bytes;
  out.raw_text = row.raw_is_text ? out.text : std::string_view(at, row.raw_bytes);
  at += row.raw_is_text ? 0 : row.raw_bytes;
  out.file = {at, row.file_bytes};
  out.first_sample = row.first_sample;
  out.num_samples = row.num_samples;
  out.rate_hz = row.rate_hz;
  out.speaker = row.speaker;
  out.language = row.language;
  out.source = row.source;
  out.line = row.line;
  out.mark = row.mark;
  out.is_segment = row.is_segment;
  return out;
}

void UtteranceTable::append(const Utterance& row) {
  const bool raw_is_text = row.raw_text == row.text;
  const std::size_t needed =
      row.id.size() + row.text.size() + row.file.size() + (raw_is_text ? 0 : row.raw_text.size());
  char* strings = reserve_chars(needed);
  char* at = copy_chars(strings, row.id);
  at = copy_chars(at, row.text);
  if (!raw_is_text) at = copy_chars(at, row.raw_text);
  copy_chars(at, row.file);
  const auto size32 = [](std::string_view text) { return static_cast<std::uint32_t>(text.size()); };
  if (num_rows_ == blocks_.size() * kBlockRows)
    blocks_.push_back(std::make_unique_for_overwrite<Row[]>(kBlockRows));
  row_at(num_rows_++) = {.strings = strings,
                         .first_sample = row.first_sample,
                         .num_samples = row.num_samples,
                         .line = row.line,
                         .mark = row.mark,
                         .id_bytes = size32(row.id),
                         .text_bytes = size32(row.text),
                         .raw_bytes = size32(row.raw_text),
                         .file_bytes = size32(row.file),
                         .rate_hz = row.rate_hz,
                         .speaker = row.speaker,
                         .language = static_cast<std::uint16_t>(row.language),
                         .source = static_cast<std::uint16_t>(row.source),
                         .raw_is_text = raw_is_text,
                         .is_segment = row.is_segment};
}

UtteranceTable::Row& UtteranceTable::row_at(std::size_t index) noexcept {
  check_invariant(index < num_rows_, "utterance index out of range");
  return blocks_[index / kBlockRows][index % kBlockRows];
}

const UtteranceTable::Row& UtteranceTable::row_at(std::size_t index) const noexcept {
  check_invariant(index < num_rows_, "utterance index out of range");
  return blocks_[index / kBlockRows][index % kBlockRows];
}

void UtteranceTable::set_sound(std::size_t index, const Sound& sound) noexcept {
  Row& row = row_at(index);
  row.first_sample = sound.first_sample;
  row.num_samples = sound.num_samples;
  row.rate_hz = sound.rate_hz;
  row.mark = sound.mark;
}

void UtteranceTable::set_speaker(std::size_t index, std::uint32_t speaker) noexcept {
  row_at(index).speaker = speaker;
}

void UtteranceTable::keep_only(const std::vector<std::uint8_t>& flags) {
  check_invariant(flags.size() == num_rows_, "one flag a row");
  std::size_t kept = 0;
  for (std::size_t i = 0; i < num_rows_; ++i)
    if (flags[i] != 0) row_at(kept++) = row_at(i);
  num_rows_ = kept;
  blocks_.resize((kept + kBlockRows - 1) / kBlockRows);
}

std::size_t UtteranceTable::memory_bytes() const noexcept {
  return blocks_.size() * kBlockRows * sizeof(Row) + arena_bytes_;
}

char* UtteranceTable::reserve_chars(std::size_t size_bytes) {
  if (size_bytes > chunk_left_bytes_) {
    const std::size_t chunk_bytes = std::max(size_bytes, kChunkBytes);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_bytes));
    chunk_next_ = chunks_.back().get();
    chunk_left_bytes_ = chunk_bytes;
    arena_bytes_ += chunk_bytes;
  }
  char* out = chunk_next_;
  chunk_next_ += size_bytes;
  chunk_left_bytes_ -= size_bytes;
  return out;
}

}  // namespace stoker::data
