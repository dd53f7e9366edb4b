#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "stoker/config/errors.h"
#include "stoker/config/layers.h"
#include "stoker/config/nearest_name.h"

namespace stoker::config {
namespace {

// Variables that are read elsewhere, before or beside any settings.
constexpr std::array<std::string_view, 6> kOtherVariables{
    "STOKER_SIMD",      "STOKER_CACHE",      "STOKER_TRAIN_LIBRARY",
    "STOKER_TEST_DATA", "STOKER_TEST_SEEDS", "STOKER_VENV"};

[[noreturn]] void refuse_unknown(const Place& place, std::string_view what, std::string_view name,
                                 const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  raise({.code = &kConfigUnknown,
         .place = place,
         .found = fmt::format("unknown {} \"{}\"", what, name),
         .cure = nearest ? fmt::format("did you mean {}?", *nearest) : std::string()});
}

std::vector<std::string> keys_of(std::string_view section) {
  std::vector<std::string> keys;
  for (const std::string& path : known_paths())
    if (path.starts_with(section) && path.size() > section.size() && path[section.size()] == '.')
      keys.push_back(path.substr(section.size() + 1));
  return keys;
}

std::vector<std::string> top_names() {
  std::vector<std::string> names = section_names();
  for (const std::string& path : known_paths()) {
    const std::size_t dot = path.find('.');
    names.push_back(dot == path.npos ? path : path.substr(dot + 1));
  }
  return names;
}

// What a name may have been meant to be: in full where it is, else without its section.
std::vector<std::string> names_like(std::string_view path) {
  if (path.find('.') == path.npos) return top_names();
  const auto paths = known_paths();
  return {paths.begin(), paths.end()};
}

ValueSource file_source(const YamlNode& key) { return {SourceKind::kFile, key.place}; }

// A key may be written in the wrong section (max_mel_frames under training): name where it belongs.
void add_section(const YamlNode& section, const YamlNode& content, std::vector<GivenValue>& out) {
  for (const auto& [key, value] : content.entries) {
    const std::string path = section.text + "." + key.text;
    const auto name = find_name(path);
    if (!name) {
      const auto elsewhere = find_bare_name(key.text);
      if (elsewhere && !elsewhere->is_of_myxtts())
        raise({.code = &kConfigUnknown,
               .place = key.place,
               .found = fmt::format("unknown key \"{}\"", path),
               .cure = fmt::format("did you mean {}?", elsewhere->path)});
      refuse_unknown(key.place, fmt::format("key in {}:", section.text), key.text,
                     keys_of(section.text));
    }
    out.push_back({*name, value, file_source(key)});
  }
}

void add_top(const YamlNode& key, const YamlNode& value, std::vector<GivenValue>& out,
             std::vector<std::string>& notices) {
  if (const auto whole = find_name(key.text)) {
    out.push_back({*whole, value, file_source(key)});
    return;
  }
  const auto bare = find_bare_name(key.text);
  if (!bare && is_section(key.text))
    raise({.code = &kConfigValue,
           .place = value.place,
           .promised = fmt::format("a section with keys for {}", key.text),
           .found = value.kind == YamlNode::Kind::kList ? "a list" : "a single value"});
  if (!bare) refuse_unknown(key.place, "key", key.text, top_names());
  notices.push_back(fmt::format("{}: {} is outside its section; read as {}",
                                source_text(file_source(key)), key.text, bare->path));
  out.push_back({*bare, value, file_source(key)});
}

std::string variable_path(std::string_view variable) {
  std::string path;
  variable.remove_prefix(std::string_view("STOKER_").size());
  for (std::size_t i = 0; i < variable.size(); ++i) {
    if (variable.substr(i, 2) == "__") {
      path += '.';
      ++i;
    } else {
      path += static_cast<char>(std::tolower(static_cast<unsigned char>(variable[i])));
    }
  }
  return path;
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names(kOtherVariables.begin(), kOtherVariables.end());
  for (const std::string& path : known_paths()) {
    std::string name = "STOKER_";
    for (const char c : path)
      name += c == '.' ? "__" : std::string(1, static_cast<char>(std::toupper(c)));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<GivenValue> file_values(const YamlNode& root, std::vector<std::string>& notices) {
  if (root.kind != YamlNode::Kind::kMap)
    raise({.code = &kConfigYaml,
           .place = root.place,
           .promised = "sections of keys",
           .found = "a single value or a list"});
  std::vector<GivenValue> values;
  for (const auto& [key, value] : root.entries) {
    const bool section =
        is_section(key.text) && (value.kind == YamlNode::Kind::kMap || value.is_null());
    if (section)
      add_section(key, value, values);
    else
      add_top(key, value, values, notices);
  }
  return values;
}

std::vector<GivenValue> environment_values(
    const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<GivenValue> values;
  for (const auto& [variable, text] : environment) {
    if (std::find(kOtherVariables.begin(), kOtherVariables.end(), variable) !=
        kOtherVariables.end())
      continue;
    const Place place{.file = "environment " + variable};
    const auto name = find_name(variable_path(variable));
    if (!name) refuse_unknown(place, "variable", variable, variable_names());
    values.push_back({*name, parse_value(text, place.file), {SourceKind::kEnvironment, place}});
  }
  return values;
}

std::vector<GivenValue> command_line_values(const std::vector<Assignment>& assignments) {
  std::vector<GivenValue> values;
  for (const Assignment& given : assignments) {
    const Place place{.file = given.origin};
    const auto name = find_name(given.path);
    if (!name) refuse_unknown(place, "setting", given.path, top_names());
    values.push_back(
        {*name, parse_value(given.text, given.origin), {SourceKind::kCommandLine, place}});
  }
  return values;
}

std::vector<GivenValue> keyword_values(const std::vector<Assignment>& keywords) {
  std::vector<GivenValue> values;
  for (const Assignment& given : keywords) {
    const Place place{.file = given.origin};
    auto name = find_name(given.path);
    if (!name) name = find_bare_name(given.path);
    if (!name) refuse_unknown(place, "setting", given.path, names_like(given.path));
    values.push_back(
        {*name, parse_value(given.text, given.origin), {SourceKind::kCommandLine, place}});
  }
  return values;
}

std::vector<GivenValue> set_values(const std::vector<std::string>& set) {
  std::vector<GivenValue> values;
  for (const std::string& given : set) {
    const std::size_t equals = given.find('=');
    const std::string path = given.substr(0, equals);
    const Place place{.file = "--set " + path};
    if (equals == given.npos)
      raise({.code = &kConfigValue,
             .place = place,
             .promised = "--set section.key=value",
             .found = fmt::format("\"{}\"", given)});
    auto name = find_name(path);
    if (!name) name = find_bare_name(path);
    if (!name) refuse_unknown(place, "setting", path, names_like(path));
    values.push_back(
        {*name, parse_value(given.substr(equals + 1), place.file), {SourceKind::kSet, place}});
  }
  return values;
}

}  // namespace stoker::config
