// One recording with its text, and the compact table that holds millions of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stoker {
struct FileInfo;
}

namespace stoker::data {

// Size and time of the last change as one number, never 0: where it differs, the file may hold
// something else. Without the inode, which some network file systems make up anew.
std::uint64_t file_mark(const FileInfo& file) noexcept;

// A borrowed row of an UtteranceTable: the views live as long as the table.
struct Utterance {
  std::string_view id{};        // unique in the index; "source/id" when there are several sources
  std::string_view text{};      // the normalised column, invisible characters dropped
  std::string_view raw_text{};  // the text column; equal to `text` where there was only one
  std::string_view file{};      // relative to the root of its source
  std::uint64_t first_sample = 0;  // where the utterance starts in the file
  std::uint64_t num_samples = 0;   // at the file's own rate, one channel
  std::uint32_t rate_hz = 0;       // of the file, before any resampling
  std::uint32_t speaker = 0;       // index into Index::speakers()
  std::uint32_t language = 0;      // index into Index::languages()
  std::uint32_t source = 0;        // index into Index::sources()
  std::uint64_t line = 0;          // of the metadata file, from 1
  std::uint64_t mark = 0;          // file_mark() when indexed; 0: the file was not looked at
  bool is_segment = false;         // a part of the file; otherwise the whole of it

  double duration_s() const noexcept {
    return rate_hz == 0 ? 0.0 : static_cast<double>(num_samples) / rate_hz;
  }
};

// Rows of fixed size, their strings in one arena: about 88 bytes a row beyond the text, and no
// row ever moves its strings. Not thread-safe while growing; const access is.
class UtteranceTable {
 public:
  std::size_t size() const noexcept { return num_rows_; }
  Utterance operator[](std::size_t index) const noexcept;

  // Copies the strings of `row`.
  void append(const Utterance& row);

  // What the audio file says about the row, known only after its header was read.
  struct Sound {
    std::uint64_t first_sample = 0;
    std::uint64_t num_samples = 0;
    std::uint32_t rate_hz = 0;
    std::uint64_t mark = 0;
  };
  void set_sound(std::size_t index, const Sound& sound) noexcept;
  void set_speaker(std::size_t index, std::uint32_t speaker) noexcept;
  // Keeps the rows whose flag is not zero, in order; precondition: one flag a row.
  void keep_only(const std::vector<std::uint8_t>& flags);

  std::size_t memory_bytes() const noexcept;

 private:
  struct Row {
    const char* strings;  // id, text, raw text (absent when equal to text), file
    std::uint64_t first_sample;
    std::uint64_t num_samples;
    std::uint64_t line;
    std::uint64_t mark;
    std::uint32_t id_bytes;
    std::uint32_t text_bytes;
    std::uint32_t raw_bytes;
    std::uint32_t file_bytes;
    std::uint32_t rate_hz;
    std::uint32_t speaker;
    std::uint16_t language;
    std::uint16_t source;
    bool raw_is_text;
    bool is_segment;
  };
  // Blocks instead of one vector: growing never copies, so memory never doubles.
  static constexpr std::size_t kBlockRows = 4096;
  Row& row_at(std::size_t index) noexcept;
  const Row& row_at(std::size_t index) const noexcept;
  char* reserve_chars(std::size_t size_bytes);

  std::vector<std::unique_ptr<Row[]>> blocks_;
  std::size_t num_rows_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_left_bytes_ = 0;
  char* chunk_next_ = nullptr;
  std::size_t arena_bytes_ = 0;
};

}  // namespace stoker::data
