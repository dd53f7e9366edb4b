#include "stoker/config/legacy/known_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "stoker/config/legacy/myxtts_tables.h"

namespace stoker::config {
namespace {

constexpr std::array<std::pair<std::string_view, MyxttsRule>, 11> kRules{{
    {"data.text_cleaners", MyxttsRule::kCleaners},
    {"data.memory_cache", MyxttsRule::kMemoryCache},
    {"data.mixed_precision", MyxttsRule::kMixedPrecision},
    {"model.mixed_precision", MyxttsRule::kMixedPrecision},
    {"training.enable_mixed_precision", MyxttsRule::kMixedPrecision},
    {"training.use_mixed_precision", MyxttsRule::kMixedPrecision},
    {"training.enable_graph_mode", MyxttsRule::kGraphMode},
    {"training.enable_eager_debug", MyxttsRule::kEagerDebug},
    {"data.enable_loudness_normalization", MyxttsRule::kLoudness},
    {"data.normalize_audio", MyxttsRule::kNormalize},
    {"data.enable_audio_normalization", MyxttsRule::kNormalize},
}};

using NameMap = std::map<std::string, KnownName, std::less<>>;

void add(NameMap& names, KnownName name) {
  std::string path = name.path;
  names.emplace(std::move(path), std::move(name));
}

void add_notices(NameMap& names, const MyxttsNotice& row) {
  std::string_view rest = row.names;
  while (!rest.empty()) {
    const std::string_view key = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    add(names, {.kind = KnownName::Kind::kNotice,
                .path = std::string(row.section) + "." + std::string(key),
                .notice = row.notice});
  }
}

NameMap make_names() {
  NameMap names;
  for (const FieldInfo& field : all_fields())
    add(names, {.kind = KnownName::Kind::kField, .path = field.path, .field = &field});
  for (const FieldInfo& field : all_fields())
    for (const std::string& path : field.myxtts_paths)
      add(names, {.kind = KnownName::Kind::kMyxttsField, .path = path, .field = &field});
  for (const auto& [path, rule] : kRules)
    add(names, {.kind = KnownName::Kind::kMyxttsRule, .path = std::string(path), .rule = rule});
  for (const MyxttsNotice& row : myxtts_notices()) add_notices(names, row);
  return names;
}

const NameMap& names() {
  static const NameMap made = make_names();
  return made;
}

std::string_view section_of(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == path.npos ? std::string_view() : path.substr(0, dot);
}

// Where several sections have the key: ours first, then the main ones of myxtts.
int preference(const KnownName& name) {
  if (!name.is_of_myxtts()) return 0;
  if (section_of(name.path) == "data") return 1;
  return section_of(name.path) == "training" ? 2 : 3;
}

}  // namespace

std::optional<KnownName> find_name(std::string_view path) {
  const auto found = names().find(path);
  if (found == names().end()) return std::nullopt;
  return found->second;
}

std::optional<KnownName> find_bare_name(std::string_view key) {
  const KnownName* best = nullptr;
  for (const auto& [path, name] : names()) {
    const std::string_view section = section_of(path);
    if (section.empty() || std::string_view(path).substr(section.size() + 1) != key) continue;
    if (best == nullptr || preference(name) < preference(*best)) best = &name;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::vector<std::string> section_names() {
  std::vector<std::string> found;
  for (const auto& [path, name] : names()) {
    const std::string section(section_of(path));
    if (!section.empty() && (found.empty() || found.back() != section)) found.push_back(section);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool is_section(std::string_view name) {
  const auto first = names().lower_bound(std::string(name) + ".");
  return !name.empty() && first != names().end() && section_of(first->first) == name;
}

std::span<const std::string> known_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> all;
    for (const auto& [path, name] : names()) all.push_back(path);
    return all;
  }();
  return paths;
}

}  // namespace stoker::config
