// Readers of the layouts people have: each turns one metadata file into rows, which all pass one
// gate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/index_options.h"
#include "stoker/data/line_reader.h"
#include "stoker/data/row.h"

namespace stoker::data {

// How rows are read, whatever the layout.
struct RowRules {
  std::string file{};  // the metadata file, for messages
  ExtraPipes extra_pipes = ExtraPipes::kReject;
  InvisibleCharacters invisible = InvisibleCharacters::kDrop;
  std::string columns{};  // for tables with a header
  std::string root{};     // absolute prefix that audio paths may carry
};

// The gate through which the rows of every layout pass: id, path and text are checked here.
// Not thread-safe: keeps the scratch memory of one reader.
class RowGate {
 public:
  RowGate(const RowRules& rules, const RowSink& sink) : rules_(rules), sink_(sink) {}

  // Where the fields begin in the file; the line's start where a layout does not know better.
  struct At {
    std::uint64_t id_bytes = 0;
    std::uint64_t text_bytes = 0;
    std::uint64_t raw_bytes = 0;
  };

  // Hands the row to the sink as accepted or rejected.
  void pass(const Row& row, const At& at);
  void reject(std::string_view id, std::uint64_t line, Error error);
  void note(std::string_view rule) { sink_.note(rule); }

  const RowRules& rules() const noexcept { return rules_; }

 private:
  const RowRules& rules_;
  const RowSink& sink_;
  std::string text_scratch_;
};

// `id|text|normalised`, one row a line, no quoting (docs/format/metadata.md).
Result<void> read_pipe_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// CSV or TSV with a header line; rules.columns maps it ("audio=path,text=sentence").
Result<void> read_table_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// NeMo manifests: one JSON object a line with audio_filepath, text, duration, offset.
Result<void> read_json_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// A Kaldi folder: `lines` reads its file text; wav.scp, segments and utt2spk are beside it.
Result<void> read_kaldi_rows(LineReader& lines, const File& folder, const RowRules& rules,
                             const RowSink& sink);

// What every line must pass first: rejects lines that are too long or hold a lone CR, and tells
// blank ones apart. A file of old Mac lines is an error as a whole.
enum class LineUse { kRow, kSkip };
Result<LineUse> screen_line(const Line& line, RowGate& gate);

// A path as manifests write it, made relative: a leading `root` is taken off.
std::string_view without_root(std::string_view path, std::string_view root) noexcept;

// "a/b.wav" without its suffix when that is a sound suffix.
std::string_view without_sound_suffix(std::string_view path) noexcept;

}  // namespace stoker::data
