// The feature folders of myxtts: what their names say, and the settings that mean the same here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/config/settings.h"

namespace stoker::cache {

// "tokens_custom_noph_blank_en"
struct LegacyTokens {
  bool phonemes = false;
  bool add_blank = true;
  std::string language = "en";
};

// "mels_sr22050_n80_hop256"
struct LegacyMels {
  std::int64_t sample_rate_hz = 22050;
  std::int64_t num_mels = 80;
  std::int64_t hop_samples = 256;
};

std::optional<LegacyTokens> parse_tokens_name(std::string_view folder_name);
std::optional<LegacyMels> parse_mels_name(std::string_view folder_name);

// What was found to import.
struct LegacyFolders {
  std::string tokens_path;  // empty: none
  LegacyTokens tokens;
  std::string mels_path;
  LegacyMels mels;
  std::string mixed_path;  // cached_features/: both kinds, told apart by their content
};

// Looks at `path` itself, at its sub-folders and at processed/ below it. E-IMPORT-EMPTY when there
// is nothing, E-IMPORT-TWICE when there are two of a kind.
Result<LegacyFolders> find_legacy_folders(Io& io, const std::string& path);

// The settings under which myxtts made such files: preset and vocabulary myxtts.
config::Settings legacy_settings(const LegacyFolders& folders);

}  // namespace stoker::cache
