// Takes rows in: finds duplicates and files, applies splits and text limits, fills the table.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/data/account.h"
#include "stoker/data/data_set_record.h"
#include "stoker/data/id_table.h"
#include "stoker/data/layout.h"
#include "stoker/data/row_rules.h"
#include "stoker/data/rows/row.h"
#include "stoker/data/sound_listing.h"
#include "stoker/data/split_list.h"
#include "stoker/data/utterance.h"

namespace stoker::data {

// A part of a file, in seconds until the file's rate is known.
struct Segment {
  std::uint32_t row = 0;
  double offset_s = 0;
  std::optional<double> duration_s;  // absent = to the end
};

// What became of a row that was well formed. Kept as one byte a row.
enum class RowState : std::uint8_t { kAccepted, kRejected, kSplit, kSubset, kText, kLimit };

struct RowTable {
  UtteranceTable utterances;
  std::vector<RowState> state;
  std::vector<Segment> segments;  // in the order of their rows
  NameTable speakers;
  NameTable languages;
};

// The deepest folder that all of some absolute paths are in.
class CommonFolder {
 public:
  void add(std::string_view path);

  // Empty before the first path; "/" where they share nothing.
  std::string path() const { return is_empty_ || !folder_.empty() ? folder_ : "/"; }

 private:
  std::string folder_;
  bool is_empty_ = true;
};

class RowIntake {
 public:
  RowIntake(const IndexOptions& options, Account& account, std::stop_token stop);

  // Reads all rows of the metadata file with this number; `record` is that of its data set. Returns
  // the file's digest.
  Result<Digest128> read(const MetadataSource& metadata, const SourceOptions& source,
                         const DataSetRecord& record, std::uint32_t number);

  // Of the absolute paths that are not beneath the audio root: what --audio-root would have to be.
  std::string outside_folder() const { return outside_folder_.path(); }

  RowTable take() && { return std::move(rows_); }

 private:
  struct Reading;  // what stays the same while one metadata file is read

  RowSink sink_for(Reading& reading);
  void take_row(const Row& row, Reading& reading);
  bool is_duplicate(std::string_view id, const Row& row, const Reading& reading);
  bool find_file(const Row& row, Reading& reading);
  bool needs_splits() const;
  Split split_of_row(const Row& row, const Reading& reading) const;
  RowState state_of(const Row& row, const Reading& reading) const;
  std::string_view speaker_of(const Row& row, const Reading& reading) const;
  void reject(const Row& row, const Reading& reading, Error error);

  const IndexOptions& options_;
  Account& account_;
  std::stop_token stop_;
  SpeakerRule speaker_rule_;
  RowTable rows_;
  IdTable ids_;
  CommonFolder outside_folder_;
  std::string id_scratch_;
  std::string file_scratch_;
};

}  // namespace stoker::data
