#include "stoker/config/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "stoker/base/invariant.h"
#include "stoker/config/legacy/myxtts_tables.h"
#include "stoker/config/size_values.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

// 0 for our own name, then those of myxtts in the order of their declaration.
std::size_t rank_of(const GivenValue& given) {
  if (!given.name.is_of_myxtts()) return 0;
  const auto& paths = given.name.field->myxtts_paths;
  const auto found = std::find(paths.begin(), paths.end(), given.name.path);
  return 1 + static_cast<std::size_t>(found - paths.begin());
}

bool says_true(const GivenValue& given) {
  return read_bool(given.value, {given.name.path, {}, {}});
}

std::optional<bool> rule_value(const std::vector<GivenValue>& values, MyxttsRule rule) {
  for (const GivenValue& given : values) {
    const bool same = given.name.kind == KnownName::Kind::kMyxttsRule && given.name.rule == rule;
    if (same && !given.value.is_null()) return says_true(given);
  }
  return std::nullopt;
}

bool is_loudness(const GivenValue& given) {
  return given.name.kind == KnownName::Kind::kMyxttsRule &&
         (given.name.rule == MyxttsRule::kLoudness || given.name.rule == MyxttsRule::kNormalize);
}

}  // namespace

Layers::Layers(LoadedSettings& into) : into_(into) { into_.sources.resize(all_fields().size()); }

void Layers::use_myxtts_defaults() {
  for (const auto& [path, text] : myxtts_defaults())
    assign_text(path, std::string(text), {.kind = SourceKind::kMyxtts});
}

void Layers::apply(const std::vector<GivenValue>& values) {
  std::map<const FieldInfo*, const GivenValue*> chosen;
  for (const GivenValue& given : values) {
    if (given.name.kind == KnownName::Kind::kNotice) say(given, given.name.notice);
    if (given.name.kind == KnownName::Kind::kMyxttsRule) apply_rule(given);
    if (given.name.field == nullptr) continue;
    if (given.value.is_null() && !given.name.field->takes_nothing) {
      say(given, "has no value; the default is used");
      continue;
    }
    const GivenValue*& best = chosen[given.name.field];
    if (best == nullptr || rank_of(given) < rank_of(*best)) best = &given;
  }
  apply_loudness(values);
  for (const GivenValue& given : values) {
    const auto found = chosen.find(given.name.field);
    if (found == chosen.end()) continue;
    if (found->second == &given)
      assign(*given.name.field, given.value, given.source);
    else if (found->second->value.text != given.value.text)
      say(given, fmt::format("not used: {} says the same setting", found->second->name.path));
  }
}

void Layers::assign(const FieldInfo& field, const YamlNode& value, const ValueSource& source) {
  field.read(into_.settings, value);
  into_.sources[index_of(field)] = source;
}

void Layers::assign_text(std::string_view path, const std::string& text,
                         const ValueSource& source) {
  const FieldInfo* field = find_field(path);
  check_invariant(field != nullptr, "a built-in value for a setting that does not exist");
  assign(*field, parse_value(text, std::string(path)), source);
}

void Layers::apply_rule(const GivenValue& given) {
  if (given.value.is_null() || is_loudness(given)) return;
  if (given.name.rule == MyxttsRule::kCleaners) {
    const std::vector<std::string> names = read_list(given.value, {given.name.path, {}, {}});
    if (names.size() > 1) say(given, "the first cleaner is used; stoker runs one");
    YamlNode first = given.value;
    if (given.value.kind == YamlNode::Kind::kList && !names.empty()) first = given.value.items[0];
    if (!names.empty()) assign(*find_field("text.cleaner"), first, given.source);
    return;
  }
  const bool on = says_true(given);
  if (given.name.rule == MyxttsRule::kMemoryCache && on)
    assign_text("cache.tier", "ram", given.source);
  if (given.name.rule == MyxttsRule::kMixedPrecision && !on)
    assign_text("training.precision", "fp32", given.source);
  const bool eager = (given.name.rule == MyxttsRule::kGraphMode && !on) ||
                     (given.name.rule == MyxttsRule::kEagerDebug && on);
  if (eager) assign_text("training.graphs", "off", given.source);
}

// Two switches of myxtts decide one setting here: loudness wins over peak.
void Layers::apply_loudness(const std::vector<GivenValue>& values) {
  const auto first = std::find_if(values.begin(), values.end(), is_loudness);
  if (first == values.end()) return;
  const bool unsaid = into_.from_myxtts;
  const bool lufs = rule_value(values, MyxttsRule::kLoudness).value_or(unsaid);
  const bool peak = rule_value(values, MyxttsRule::kNormalize).value_or(unsaid);
  assign_text("features.loudness", lufs ? "lufs" : peak ? "peak" : "none", first->source);
}

void Layers::apply_size() {
  if (into_.from_myxtts) return;
  for (const auto& [path, text] : size_values(into_.settings.training.model_size))
    assign_weaker(path, text, SourceKind::kSize);
}

void Layers::apply_level() {
  const TrainingSettings& training = into_.settings.training;
  for (const auto& [path, text] : level_values(training.optimization_level, training.model_size))
    assign_weaker(path, text, SourceKind::kLevel);
}

void Layers::assign_weaker(std::string_view path, std::string_view text, SourceKind kind) {
  const FieldInfo* field = find_field(path);
  check_invariant(field != nullptr, "a size or a level names a setting that does not exist");
  if (into_.sources[index_of(*field)].kind <= kind)
    assign_text(path, std::string(text), {.kind = kind});
}

void Layers::say(const GivenValue& given, std::string_view notice) {
  into_.notices.push_back(
      fmt::format("{}: {}: {}", source_text(given.source), given.name.path, notice));
}

}  // namespace stoker::config
