// Readers of the layouts people have: each turns one metadata file into rows, which all pass one
// gate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/index_options.h"
#include "stoker/data/rows/line_reader.h"
#include "stoker/data/rows/row.h"

namespace stoker::data {

// One text file for each sound, and what its path says.
struct TextFiles {
  std::string folder{};        // of the texts, beneath the data set; empty = the data set itself
  std::string suffix{".txt"};  // of the texts that are rows
  // How many folders above a text is the one named after its speaker; 0 = none is. The id is then
  // the path instead of the file's name, and a text without a sound beside it is no row: it may be
  // a licence or a list.
  std::size_t speaker_above = 0;
};

// How rows are read, whatever the layout.
struct RowRules {
  std::string file{};  // the metadata file, for messages
  ExtraPipes extra_pipes = ExtraPipes::kReject;
  InvisibleCharacters invisible = InvisibleCharacters::kDrop;
  std::string columns{};     // for tables with a header and manifests
  std::string root{};        // absolute prefix that audio paths may carry
  std::string named_root{};  // the same as the user wrote it, before links were followed
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
  void tell_outside(const Row& row, const Error& error) const;

  const RowRules& rules_;
  const RowSink& sink_;
  std::string text_scratch_;
};

// `id|text|normalised`, one row a line, no quoting (docs/format/metadata.md).
Result<void> read_pipe_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// CSV or TSV with a header line; rules.columns maps it ("audio=path,text=sentence"), else the usual
// names do (column_names.h).
Result<void> read_table_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// NeMo manifests: one JSON object a line with audio_filepath, text, duration, offset, or the names
// that rules.columns gives.
Result<void> read_json_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// A Kaldi folder: `lines` reads its file text; wav.scp, segments and utt2spk are beside it.
Result<void> read_kaldi_rows(LineReader& lines, const File& folder, const RowRules& rules,
                             const RowSink& sink);

// A folder of text files, one for each sound: `folder` is the data set's. Gives the digest of all
// paths and texts.
Result<Digest128> read_text_file_rows(const File& folder, const TextFiles& texts,
                                      const RowRules& rules, const RowSink& sink);

// Gives every line that may be a row to `take`, in order, until one is an error. Blank lines are
// left out; lines that are too long or hold a lone CR are rejected. A file of old Mac lines is an
// error as a whole.
Result<void> for_each_row(LineReader& lines, RowGate& gate,
                          const std::function<Result<void>(const Line& line)>& take);

// A path as manifests write it, made relative: either form of the root is taken off.
std::string_view without_root(std::string_view path, const RowRules& rules) noexcept;

// "a/b.wav" without its suffix when that is a sound suffix.
std::string_view without_sound_suffix(std::string_view path) noexcept;

}  // namespace stoker::data
