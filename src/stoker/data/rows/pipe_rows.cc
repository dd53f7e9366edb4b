#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "stoker/data/errors.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {
namespace {

bool is_header(std::string_view line) {
  std::string start(line.substr(0, 8));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return start.starts_with("id|") || start.starts_with("fileid|") || start.starts_with("wav_id|");
}

// Up to three fields; `num_fields` counts them all.
struct Fields {
  std::array<std::string_view, 3> field;
  std::size_t num_fields = 1;
};

Fields split_pipes(std::string_view line) {
  Fields out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t bar = line.find('|', at);
    // The third field is the rest of the line, so that joined extra pipes are already in it.
    if (out.num_fields <= 3)
      out.field[out.num_fields - 1] = out.num_fields == 3 || bar == std::string_view::npos
                                          ? line.substr(at)
                                          : line.substr(at, bar - at);
    if (bar == std::string_view::npos) return out;
    at = bar + 1;
    ++out.num_fields;
  }
}

Error wrong_fields(const Line& line, std::size_t num_fields) {
  return {.code = &kMetaFields,
          .place = {.byte = line.at_bytes},
          .promised = "id|text|normalised or id|text",
          .found = fmt::format("{} field{}", num_fields, num_fields == 1 ? "" : "s")};
}

void read_pipe_row(const Line& line, RowGate& gate) {
  const Fields fields = split_pipes(line.text);
  const auto [named, second, third] = fields.field;
  // Some data sets write the whole path of the sound in place of an id.
  const std::string_view id = named.starts_with('/') ? without_root(named, gate.rules()) : named;
  if (fields.num_fields < 2 ||
      (fields.num_fields > 3 && gate.rules().extra_pipes == ExtraPipes::kReject))
    return gate.reject(fields.num_fields < 2 ? std::string_view() : id, line.number,
                       wrong_fields(line, fields.num_fields));
  if (fields.num_fields == 2) gate.note("two fields: normalised = text");
  if (fields.num_fields > 3) gate.note("extra pipes joined");
  const std::string_view text = fields.num_fields == 2 ? second : third;
  const auto offset_of = [&](std::string_view field) {
    return line.at_bytes + static_cast<std::uint64_t>(field.data() - line.text.data());
  };
  gate.pass(
      {.id = id, .text = text, .raw_text = second, .line = line.number, .at_bytes = line.at_bytes},
      {.id_bytes = line.at_bytes, .text_bytes = offset_of(text), .raw_bytes = offset_of(second)});
}

}  // namespace

Result<void> read_pipe_rows(LineReader& lines, const RowRules& rules, const RowSink& sink) {
  RowGate gate(rules, sink);
  return for_each_row(lines, gate, [&](const Line& line) -> Result<void> {
    if (line.number != 1 || !is_header(line.text)) read_pipe_row(line, gate);
    return {};
  });
}

}  // namespace stoker::data
