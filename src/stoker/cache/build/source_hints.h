// The table sources.bin: which stamp a source had when its digest was taken.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/build/record_maker.h"

namespace stoker::cache {

inline constexpr std::string_view kSourceHintsName = "sources.bin";

struct SourceHint {
  SourceStamp stamp;
  Digest128 digest;

  bool operator==(const SourceHint&) const = default;
};

// What a source is called in the table: "mel LJ001-0001", "array f0 LJ001-0001". Mels and samples
// come from the same file and share a row. A part of a longer file has its place in the name, after
// a line feed: "mel u1\n22050+44100".
std::string source_key(const RecordMaker& maker, std::size_t row);

// A hint can save a read; it can never make a record valid or invalid. Not thread-safe while
// changing.
class SourceHints {
 public:
  void set(const std::string& key, const SourceHint& hint) { rows_[digest_of(key)] = hint; }
  const SourceHint* find(const std::string& key) const;
  std::size_t size() const noexcept { return rows_.size(); }

  std::vector<std::byte> encode() const;
  // Nothing when the bytes are not a whole table.
  static std::optional<SourceHints> decode(std::span<const std::byte> bytes);

 private:
  std::map<Digest128, SourceHint> rows_;
};

// An empty table when the file is missing or damaged.
SourceHints load_source_hints(const File& folder);

// The digest of a row's source: from the hint when the stamp is the same, else by reading it.
// `seen` receives what to remember, when the source is a file.
Result<Digest128> current_source(const RecordMaker& maker, std::size_t row,
                                 const SourceHints& hints, std::optional<SourceHint>& seen);

}  // namespace stoker::cache
