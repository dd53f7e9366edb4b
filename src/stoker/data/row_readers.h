// Readers of the layouts people have: each turns one metadata file into rows.
#pragma once

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/line_reader.h"
#include "stoker/data/row.h"
#include "stoker/data/row_gate.h"

namespace stoker::data {

// `id|text|normalised`, one row a line, no quoting (docs/format/metadata.md).
Result<void> read_pipe_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// CSV or TSV with a header line; rules.columns maps it ("audio=path,text=sentence").
Result<void> read_table_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// NeMo manifests: one JSON object a line with audio_filepath, text, duration, offset.
Result<void> read_json_rows(LineReader& lines, const RowRules& rules, const RowSink& sink);

// A Kaldi folder: `lines` reads its file text; wav.scp, segments and utt2spk lie beside it.
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
