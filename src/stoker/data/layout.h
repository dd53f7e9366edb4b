// Finds out what kind of data set a path is, and opens its files.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/index_options.h"
#include "stoker/data/metadata_kind.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {

// How a row's sound file is found.
enum class FindBy {
  kId,    // a listing of the sound folder, by id
  kPath,  // the row names it
  kBoth,  // the row names it, with or without the folders before it: by the listing
};

// One metadata file of a data set, opened, with the folder its sound is beneath.
struct MetadataSource {
  LayoutKind kind = LayoutKind::kPipes;
  FindBy find_by = FindBy::kId;
  Split role = Split::kAll;  // kTrain or kEval where the layout has a file for each
  File metadata;             // kTextFiles: the folder itself
  TextFiles texts;           // of kTextFiles
  File folder;               // of the metadata file; Kaldi's sister files are there
  File root;                 // sound paths are relative to it and never leave it
  std::string sound;         // folder beneath root that is listed, such as "wavs"; may be empty
  std::string name;          // of the data set: its folder's name unless the user gave one
  bool gives_way = false;    // a row that an earlier file has as well is that file's
};

// A data set with a file for each part gives two, the others one. E-DATA-LAYOUT names what was
// looked for and what is there instead.
Result<std::vector<MetadataSource>> open_layout(const SourceOptions& source, Io& io);

// The metadata file that is used when only `folder` is named; empty where that is none, or one for
// each part.
std::string usual_metadata_file(const File& folder);

// Whether the folder has a metadata file for each part, so that none is drawn.
bool has_part_files(const File& folder);

}  // namespace stoker::data
