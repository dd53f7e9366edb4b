// Brings feature folders of myxtts, and named arrays, into a cache of their own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/build/array_maker.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/maintain/legacy_folder.h"

namespace stoker::cache {

// Tokens as i32 [tokens]; E-IMPORT-SHAPE for anything that is not one row of integers.
Result<NpyArray> accept_tokens(const std::string& file, const NpyArray& array);
// Mels as f16 [frames, num_mels]; a transposed one is refused with both shapes.
ArrayRule accept_mels(std::int64_t num_mels, ElementType element);

// The target of an import and the makers behind it.
struct ImportPlan {
  BuildTarget target;
  std::vector<std::unique_ptr<RecordMaker>> makers;
  config::Settings settings;  // what the files of myxtts were made with
  std::uint64_t num_files = 0;
  std::uint64_t num_leftovers = 0;  // "*.npy.tmp.npy", ignored
  std::uint64_t num_other = 0;      // files that are no arrays, ignored
};

struct ImportRequest {
  std::string folder;                         // empty: arrays only
  std::map<std::string, std::string> arrays;  // name -> folder of .npy files
};

// Throws what find_legacy_folders and the folders themselves raise.
ImportPlan plan_import(Io& io, const ImportRequest& request);

}  // namespace stoker::cache
