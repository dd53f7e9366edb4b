// Every name that a settings file may use: ours, and each one that myxtts ever had.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/config/field_table.h"

namespace stoker::config {

// Names of myxtts whose value means something else here; each has its own translation (layers.cc).
enum class MyxttsRule {
  kCleaners,        // list of cleaners -> text.cleaner
  kMemoryCache,     // true -> cache.tier ram
  kMixedPrecision,  // false -> training.precision fp32
  kGraphMode,       // false -> training.graphs off
  kEagerDebug,      // true -> training.graphs off
  kLoudness,        // with kNormalize -> features.loudness
  kNormalize,
};

struct KnownName {
  enum class Kind { kField, kMyxttsField, kMyxttsRule, kNotice };
  Kind kind = Kind::kField;
  std::string path;                  // as found: "data.pipeline_buffer_size"
  const FieldInfo* field = nullptr;  // of kField and kMyxttsField
  MyxttsRule rule{};                 // of kMyxttsRule
  std::string_view notice{};         // of kNotice: why it has no meaning here, what replaces it

  bool is_of_myxtts() const noexcept { return kind != Kind::kField; }
};

// The name at that full path, or nothing.
std::optional<KnownName> find_name(std::string_view path);

// The name of a key without its section, ours before those of myxtts.
std::optional<KnownName> find_bare_name(std::string_view key);

bool is_section(std::string_view name);

// All full paths, ours and those of myxtts; for suggestions.
std::span<const std::string> known_paths();
std::vector<std::string> section_names();

}  // namespace stoker::config
