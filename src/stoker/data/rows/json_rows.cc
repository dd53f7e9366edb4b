#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stoker/data/errors.h"
#include "stoker/data/rows/column_names.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {
namespace {

using nlohmann::json;

Error wrong_json(const Line& line, std::uint64_t at, std::string promised, std::string found) {
  return {.code = &kMetaJson,
          .place = {.byte = line.at_bytes + at},
          .promised = std::move(promised),
          .found = std::move(found)};
}

std::string keys_text(const json& object) {
  std::string out;
  for (const auto& [key, value] : object.items())
    out += (out.empty() ? "" : ", ") + escape_control(key);
  return out.substr(0, 200);
}

// One manifest line: the strings it holds, and what is wrong with it.
class Manifest {
 public:
  Manifest(const json& object, const ColumnNames& names, const Line& line)
      : object_(object), names_(names), line_(line) {}

  std::string text(Column column, bool required) {
    const json* value = find(column);
    if (value == nullptr) {
      if (required) fail_without(column);
      return {};
    }
    if (value->is_string()) return value->get<std::string>();
    if (value->is_number_integer() && !required) return value->dump();
    fail(fmt::format("a string for \"{}\"", column_meaning(column)), value->type_name());
    return {};
  }

  std::optional<double> number(Column column) {
    const json* value = find(column);
    if (value == nullptr) return std::nullopt;
    if (value->is_number() && std::isfinite(value->get<double>()) && value->get<double>() >= 0)
      return value->get<double>();
    fail(fmt::format("a number from 0 for \"{}\"", column_meaning(column)),
         value->dump().substr(0, 40));
    return std::nullopt;
  }

  std::optional<Error>& error() { return error_; }

 private:
  // Null where the key is absent or its value is null.
  const json* find(Column column) const {
    if (!names_[column].empty()) return at(names_[column]);
    for (const std::string_view name : usual_column_names(column))
      if (const json* value = at(name)) return value;
    return nullptr;
  }

  const json* at(std::string_view key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  void fail(std::string promised, std::string found) {
    if (!error_) error_ = wrong_json(line_, 0, std::move(promised), std::move(found));
  }

  void fail_without(Column column) {
    if (error_) return;
    const std::string& named = names_[column];
    fail(fmt::format("a key \"{}\"",
                     named.empty() ? usual_column_names(column).front() : std::string_view(named)),
         "the keys " + keys_text(object_));
    error_->cure = "name the keys that hold them: --columns audio=KEY,text=KEY";
  }

  const json& object_;
  const ColumnNames& names_;
  const Line& line_;
  std::optional<Error> error_;
};

// Segments of one file need ids of their own: the start in milliseconds is added.
std::string id_of(const std::string& given, std::string_view file, std::optional<double> offset_s) {
  if (!given.empty()) return given;
  std::string id(without_sound_suffix(file));
  if (offset_s) id += fmt::format("#{}", std::llround(std::min(*offset_s, 1e12) * 1000.0));
  return id;
}

Error not_an_object(const Line& line, const json& value) {
  Error error = wrong_json(line, 0, "one JSON object",
                           value.is_discarded() ? "text that is not JSON" : value.type_name());
  if (line.text.starts_with('['))
    error.cure = "write one object a line: jq -c '.[]' LIST.json > manifest.jsonl";
  return error;
}

void read_json_row(const Line& line, const ColumnNames& names, RowGate& gate) {
  // Without exceptions: a bad line is a value, and fuzzers make millions of them.
  const json object = json::parse(line.text, nullptr, false);
  if (!object.is_object()) return gate.reject({}, line.number, not_an_object(line, object));
  Manifest manifest(object, names, line);
  const std::string path = manifest.text(kAudio, true);
  const std::string text = manifest.text(kText, true);
  const std::string speaker = manifest.text(kSpeaker, false);
  const std::string language = manifest.text(kLanguage, false);
  const std::string given_id = manifest.text(kId, false);
  const auto offset_s = manifest.number(kOffset);
  const auto duration_s = manifest.number(kDuration);
  const std::string_view file = without_root(path, gate.rules());
  const std::string id = id_of(given_id, file, offset_s);
  if (manifest.error()) return gate.reject(id, line.number, std::move(*manifest.error()));
  gate.pass({.id = id,
             .text = text,
             .raw_text = text,
             .file = file,
             .speaker = speaker,
             .language = language,
             .offset_s = offset_s,
             .duration_s = duration_s,
             .line = line.number,
             .at_bytes = line.at_bytes},
            {line.at_bytes, line.at_bytes, line.at_bytes});
}

}  // namespace

Result<void> read_json_rows(LineReader& lines, const RowRules& rules, const RowSink& sink) {
  const Result<ColumnNames> names = parse_columns(rules.columns, rules.file);
  if (!names.ok()) return names.error();
  RowGate gate(rules, sink);
  return for_each_row(lines, gate, [&](const Line& line) -> Result<void> {
    read_json_row(line, *names, gate);
    return {};
  });
}

}  // namespace stoker::data
