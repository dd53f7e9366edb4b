// The folder of a made data set: empty when made new, cleared of our own files when replaced.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/voice/data_set_maker.h"

namespace stoker::data::voice {

struct OutFolder {
  File root;
  File wavs;
};

// Creates what is absent. kRefuse wants no entry in the folder; kReplace removes the files of a
// data set made before and refuses when anything else lies there: it never removes what it does
// not know. E-MAKE-FOLDER names the entry.
Result<OutFolder> prepare_out_folder(Io& io, const std::string& path, ExistingData existing);

inline constexpr std::string_view kMetadataName = "metadata.csv";
inline constexpr std::string_view kPhonemesName = "phonemes.csv";
inline constexpr std::string_view kAlignmentsName = "alignments.jsonl";
inline constexpr std::string_view kWavsName = "wavs";

}  // namespace stoker::data::voice
