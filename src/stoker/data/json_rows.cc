#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stoker/data/errors.h"
#include "stoker/data/row_readers.h"

namespace stoker::data {
namespace {

using nlohmann::json;

Error wrong_json(const Line& line, std::uint64_t at, std::string promised, std::string found) {
  return {.code = &kMetaJson,
          .place = {.byte = line.at_bytes + at},
          .promised = std::move(promised),
          .found = std::move(found)};
}

// One manifest line: the strings it holds, and what is wrong with it.
class Manifest {
 public:
  Manifest(const json& object, const Line& line) : object_(object), line_(line) {}

  std::string text(const char* key, bool required) {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) {
      if (required) fail(fmt::format("a key \"{}\"", key), "none");
      return {};
    }
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number_integer() && !required) return found->dump();
    fail(fmt::format("a string for \"{}\"", key), found->type_name());
    return {};
  }

  std::optional<double> number(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return std::nullopt;
    if (found->is_number() && std::isfinite(found->get<double>()) && found->get<double>() >= 0)
      return found->get<double>();
    fail(fmt::format("a number from 0 for \"{}\"", key), found->dump().substr(0, 40));
    return std::nullopt;
  }

  std::optional<Error>& error() { return error_; }

 private:
  void fail(std::string promised, std::string found) {
    if (!error_) error_ = wrong_json(line_, 0, std::move(promised), std::move(found));
  }

  const json& object_;
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

void read_json_row(const Line& line, RowGate& gate) {
  // Without exceptions: a bad line is a value, and fuzzers make millions of them.
  const json object = json::parse(line.text, nullptr, false);
  if (!object.is_object())
    return gate.reject(
        {}, line.number,
        wrong_json(line, 0, "one JSON object",
                   object.is_discarded() ? "text that is not JSON" : object.type_name()));
  Manifest manifest(object, line);
  const std::string path = manifest.text("audio_filepath", true);
  const std::string text = manifest.text("text", true);
  const std::string speaker = manifest.text("speaker", false);
  const std::string language = manifest.text("lang", false);
  const std::string given_id = manifest.text("id", false);
  const auto offset_s = manifest.number("offset");
  const auto duration_s = manifest.number("duration");
  const std::string_view file = without_root(path, gate.rules().root);
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
  RowGate gate(rules, sink);
  Line line;
  for (;;) {
    auto more = lines.next(line);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    auto use = screen_line(line, gate);
    if (!use.ok()) return use.error();
    if (*use == LineUse::kRow) read_json_row(line, gate);
  }
}

}  // namespace stoker::data
