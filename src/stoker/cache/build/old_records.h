// Records of earlier builds whose payload can be taken over instead of being made again.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/cache/build/inspect.h"

namespace stoker::cache {

// Looks through every shard that could be opened. Keeps them mapped, so that replacing a file does
// not take its records away. Const access is thread-safe.
class OldRecords {
 public:
  explicit OldRecords(const Inspection& found);

  // Whether there is a record of the row with the same settings and a shape that the maker would
  // give it, from whatever source.
  bool has(const RecordMaker& maker, std::size_t row) const;

  // Copies payload and source of the maker's row into `out` when an undamaged record of the same
  // settings and source is there.
  bool copy_into(const RecordMaker& maker, std::size_t row, const Digest128& source,
                 MadeRecord& out) const;
  // The same whatever its source was, for a row whose source cannot be read now.
  bool copy_any_into(const RecordMaker& maker, std::size_t row, MadeRecord& out) const;

 private:
  struct Place {
    const ShardFile* shard;
    std::size_t index;

    bool fits(const RecordMaker& maker, std::size_t row) const;
    bool copy_payload(MadeRecord& out) const;
  };
  std::unordered_multimap<std::string_view, Place> places_;
};

}  // namespace stoker::cache
