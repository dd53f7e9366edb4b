// Writes a whole data set spoken by the built-in voice: LJSpeech layout, two sidecars and the
// record of its language and speakers.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/base/philox.h"
#include "stoker/base/progress.h"
#include "stoker/base/result.h"
#include "stoker/data/voice/lengths.h"
#include "stoker/data/voice/phone.h"

namespace stoker::data::voice {

enum class ExistingData { kRefuse, kReplace };

struct MakeOptions {
  std::string out;  // the folder
  std::uint64_t num_utterances = 0;
  std::uint32_t num_speakers = 1;
  Language language = Language::kEnglish;
  std::uint32_t rate_hz = 22050;
  Lengths lengths{};
  std::uint64_t seed = kDefaultSeed;
  unsigned num_workers = 1;
  ExistingData existing = ExistingData::kRefuse;
};

struct MakeReport {
  std::uint64_t num_made = 0;  // fewer than asked for only when stopped
  double audio_s = 0;
  Digest128 tree_digest{};  // over the names and bytes of all files, in order
};

// out, clips, audio_s, tree_digest.
Json report_json(const MakeOptions& options, const MakeReport& report);

// "en" or "fa"; E-MAKE-OPTION for another.
Result<Language> parse_language(std::string_view name);

inline constexpr std::uint32_t kLowestRateHz = 8000;
inline constexpr std::uint32_t kHighestRateHz = 48000;
inline constexpr std::uint32_t kMostSpeakers = 1000;
inline constexpr std::uint64_t kMostUtterances = 100'000'000;

// The same options give the same bytes for any number of workers. metadata.csv is written last, so
// a folder that has it is complete; after a stop it is absent and the wavs are left for
// --overwrite. E-MAKE-OPTION, E-MAKE-FOLDER, or what the file system says.
Result<MakeReport> make_data_set(Io& io, const MakeOptions& options, const std::stop_token& stop,
                                 Progress& progress);

inline constexpr std::string_view kMetadataName = "metadata.csv";
inline constexpr std::string_view kPhonemesName = "phonemes.csv";
inline constexpr std::string_view kAlignmentsName = "alignments.jsonl";
inline constexpr std::string_view kWavsName = "wavs";

// The folder of a made data set: empty when made new, cleared of our own files when replaced.
struct OutFolder {
  File root;
  File wavs;
};

// Creates what is absent. kRefuse wants no entry in the folder; kReplace removes the files of a
// data set made before and refuses when anything else is there: it never removes what it does
// not know. E-MAKE-FOLDER names the entry.
Result<OutFolder> prepare_out_folder(Io& io, const std::string& path, ExistingData existing);

// "spk03_00017"
std::string utterance_id(std::uint32_t speaker_index, std::uint64_t utterance_index);

}  // namespace stoker::data::voice
