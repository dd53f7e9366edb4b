// What a data set says about itself as a whole, in stoker.json beside its metadata.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::data {

// Of texts that nothing names the language of.
inline constexpr const char* kUsualLanguage = "en";

inline constexpr std::string_view kRecordName = "stoker.json";

// Both may be empty. Rows that name a speaker or a language of their own come first.
struct DataSetRecord {
  std::string language{};            // of the texts, such as "fa"
  std::string speaker_id_pattern{};  // regular expression on the id; group 1 is the speaker
};

// An empty record where the folder has no such file. E-DATA-RECORD for one that cannot be read as
// {"language": …, "speaker_id_pattern": …}.
Result<DataSetRecord> load_record(const File& folder);

// The content of the file; load_record() gives the same record again.
std::string record_text(const DataSetRecord& record);

}  // namespace stoker::data
