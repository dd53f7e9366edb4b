// Looks through a folder for the files that data sets of known layouts have. Each call throws
// StorageError where it cannot look: a file that is there must not be taken for absent.
#pragma once

#include <optional>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {

bool exists(const File& folder, const std::string& name);

// A metadata file for each part; `eval` is empty where only the other is there.
struct PartFiles {
  std::string train;
  std::string eval;
};

// Common Voice's train.tsv and dev.tsv, train.csv and val.csv, train_manifest.json, the folders
// train/ and validation/ with a metadata.csv each. Test files are used where nothing else is for
// evaluation.
std::optional<PartFiles> find_part_files(const File& folder);

// Where the text files are, and where the sounds that belong to them are.
struct TextFolder {
  TextFiles files;
  std::string sound;
};

// VCTK's txt/ beside wav48/, LibriTTS's *.normalized.txt, or a .txt or .lab beside each sound.
// Looks into a bounded number of folders.
std::optional<TextFolder> find_text_files(const File& folder);

// The one table or manifest of a folder; empty where there is none or several.
std::string only_table(const File& folder);

// Whether a sound file is in the folder itself.
bool holds_sound(const File& folder);

}  // namespace stoker::data
