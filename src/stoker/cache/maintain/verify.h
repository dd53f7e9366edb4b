// Checks every byte of a cache, compares it with its sources, and can rebuild what is bad.
#pragma once

#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/progress.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/inspect.h"

namespace stoker::cache {

// In the cache's folder, when a check finds more than it prints.
inline constexpr std::string_view kVerifyListName = "verify.jsonl";

// An utterance with records that are not good, those of one state and reason together.
struct BadUtterance {
  std::string id;
  std::string state;  // "stale", "missing", "corrupt", "unread"
  std::string why;    // "the content of its source changed"
  std::vector<std::string> kinds;

  bool operator==(const BadUtterance&) const = default;
};

// Entries are records: planned ones where the data set is known, else those the manifest names.
struct VerifyReport {
  std::uint64_t checked = 0;
  std::uint64_t ok_entries = 0;
  std::uint64_t stale = 0;    // made with other settings, from another source, or of no row
  std::uint64_t corrupt = 0;  // bytes that are not what was written, or not what a row can have
  std::uint64_t missing = 0;
  std::uint64_t unread = 0;  // could not be read now: neither good nor bad is known
  std::uint64_t fixed = 0;
  std::uint64_t failed = 0;    // not fixed although asked to
  std::uint64_t left_out = 0;  // rows known to be bad: neither checked nor missing
  std::uint64_t size_bytes = 0;
  std::vector<Error> faults;           // each names file, record and offset
  std::set<std::uint32_t> bad_shards;  // numbers
  // Of every bad record whose id is known, sorted by id.
  std::vector<BadUtterance> utterances;

  bool is_good() const noexcept { return num_bad() + unread == 0 && faults.empty(); }
  std::uint64_t num_bad() const noexcept { return stale + corrupt + missing; }
};

struct VerifyOptions {
  SourceCheck sources = SourceCheck::kStamps;
  unsigned num_workers = 1;
  std::stop_token stop{};
  Progress* progress = &no_progress();  // in records
};

// Bytes alone: every shard the manifest names. Both throw MemoryError where memory or handles do
// not suffice to look at all: that says nothing about the cache.
VerifyReport verify_bytes(const File& folder, const VerifyOptions& options);

// Bytes, and whether each record is the one the data set and its settings ask for.
VerifyReport verify_cache(const File& folder, const BuildTarget& target,
                          const VerifyOptions& options);

// Sets fixed and failed from what a second look finds after a rebuild; rows that the rebuild left
// out are failed.
void compare_after_fix(const VerifyReport& after, std::uint64_t num_left_out, VerifyReport& report);

// Rebuilds what `report` found bad; good records are taken over, so the result has the bytes of a
// fresh build. Sets fixed and failed; gives the rows that had to be left out. Precondition: the
// caller holds the CacheLock.
std::vector<BuildReject> fix_cache(const File& folder, const BuildTarget& target,
                                   const VerifyOptions& options, VerifyReport& report);

}  // namespace stoker::cache
