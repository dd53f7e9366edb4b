// What a user may decide about how data sets become an index.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/philox.h"
#include "stoker/base/progress.h"
#include "stoker/config/choices.h"
#include "stoker/text/tokenizer.h"

namespace stoker::data {

using config::BadInputs;
using config::ExtraPipes;
using config::InvisibleCharacters;
using config::Links;
using config::OtherRates;
using config::Split;

enum class FileCheck {
  kNone,     // grammar alone: no audio file is looked for
  kHeader,   // one open and one read a file: header against size
  kContent,  // every sample is decoded
};

// One data set: a folder in layout A or B, a Kaldi folder, or a CSV, TSV or JSONL file.
struct SourceOptions {
  std::string path{};   // folder or metadata file
  std::string name{};   // prefix of ids when there are several sources; folder's by default
  double weight = 1.0;  // how often the feed draws from it, relative to the others
  std::string metadata_train{};  // instead of the files looked for in `path`
  std::string metadata_eval{};
  std::string wavs_train{};  // instead of wavs/ beside the metadata file
  std::string wavs_eval{};
  std::string columns{};     // "audio=path,text=sentence,speaker=client_id"
  std::string audio_root{};  // absolute or relative audio paths are beneath it
  std::string language{};    // of rows that name none; empty: as the data set records it, else en
};

struct SplitOptions {
  Split split = Split::kAll;
  double train_split = 0.9;
  double val_split = 0.1;
  double train_subset_fraction = 1.0;
  double eval_subset_fraction = 1.0;
  std::uint64_t subset_seed = kDefaultSeed;
  std::uint64_t seed = kDefaultSeed;  // of the split itself
};

// Rows outside these are filtered, never rejected.
struct UserLimits {
  double min_duration_s = 0.0;
  double max_duration_s = std::numeric_limits<double>::infinity();
  std::uint64_t min_text_length = 0;                                          // characters
  std::uint64_t max_text_length = std::numeric_limits<std::uint64_t>::max();  // characters
  std::uint64_t max_mel_frames = std::numeric_limits<std::uint64_t>::max();   // at the target rate
};

// Who speaks a row that a column, a sister file or the layout names no speaker for.
enum class SpeakerSource {
  kNamed,  // id_pattern and the record of the data set decide; without them one speaker
  kIds,    // the same, and where they say nothing, a guess from the id
  kOne,    // nobody else: all rows have one speaker, whatever is named
};

struct SpeakerOptions {
  SpeakerSource from = SpeakerSource::kNamed;
  std::string id_pattern{};  // ECMAScript regular expression; group 1 is the speaker
  std::uint32_t max_speakers = 1000;
};

struct IndexOptions {
  std::vector<SourceOptions> sources;
  SplitOptions splits;
  UserLimits limits;
  SpeakerOptions speakers;
  audio::SoundPolicy sound;
  BadInputs bad_inputs = BadInputs::kSkip;
  double max_bad_fraction = 0.01;
  std::uint64_t max_bad_rows = 8;  // always allowed, however few rows there are
  ExtraPipes extra_pipes = ExtraPipes::kReject;
  InvisibleCharacters invisible = InvisibleCharacters::kDrop;
  Links links = Links::kBeneath;
  OtherRates other_rates = OtherRates::kResample;
  std::uint32_t rate_hz = 22050;    // the rate features are made at
  std::uint32_t hop_samples = 256;  // what max_mel_frames counts in
  std::uint64_t min_samples = 256;  // shorter utterances give no frame: rejected
  double max_utterance_s = 3600.0;  // longer ones are not one utterance: rejected
  double pace_factor = 3.0;         // characters per second this far from the median are listed
  FileCheck check = FileCheck::kHeader;
  // How texts become tokens, the language apart, which is the row's: texts that give none are
  // rejected. Absent: texts are not looked at.
  std::optional<text::TokenizerOptions> text{};
  double max_unknown_fraction = 0.1;  // of characters; more outside the vocabulary is a refusal
  Progress* progress = nullptr;       // told of every row whose file was checked; may be null
  unsigned num_workers = 0;           // threads that check files; 0 = cores allowed
};

}  // namespace stoker::data
