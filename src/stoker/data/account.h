// The account of every row: rows = accepted + filtered + rejected, and why.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"

namespace stoker::data {

// rows = accepted + filtered + rejected, always.
struct IndexCounts {
  std::uint64_t rows = 0;
  std::uint64_t accepted = 0;
  std::uint64_t filtered = 0;  // left out by the user's own limits, splits and subsets
  std::uint64_t rejected = 0;
};

// A row that cannot be used, or one that is used although something about it is odd.
// `error.place` is where the fault is: in the metadata file or in the sound file; `line` is the
// row's line in its metadata file either way.
struct Finding {
  std::string id{};
  std::uint64_t line = 0;
  std::uint32_t source = 0;
  Error error{};
};
using Reject = Finding;
using Warning = Finding;

using CodeCounts = std::map<std::string, std::uint64_t, std::less<>>;

class Account {
 public:
  // Of one kind of warning at most this many are kept; all are counted.
  static constexpr std::uint64_t kMaxListedWarnings = 1000;

  void add_row() noexcept { ++counts_.rows; }
  void reject(Reject reject);
  void filter(const ErrorCode& code);
  void warn(Warning warning);
  // A rule that was applied to a row that is used ("two fields: normalised = text").
  void note(std::string_view rule);
  // A row that was filtered before it turned out to be wrong.
  void unfilter(const ErrorCode& code);

  // Counts what is left as accepted and sorts the lists by source and line.
  void close();

  const IndexCounts& counts() const noexcept { return counts_; }
  const std::vector<Reject>& rejects() const noexcept { return rejects_; }
  const std::vector<Warning>& warnings() const noexcept { return warnings_; }
  const CodeCounts& reject_codes() const noexcept { return reject_codes_; }
  const CodeCounts& filter_codes() const noexcept { return filter_codes_; }
  const CodeCounts& warning_codes() const noexcept { return warning_codes_; }
  const CodeCounts& notes() const noexcept { return notes_; }

 private:
  IndexCounts counts_;
  std::vector<Reject> rejects_;
  std::vector<Warning> warnings_;
  CodeCounts reject_codes_, filter_codes_, warning_codes_, notes_;
};

// The lines of rejects.jsonl: {id, file, line, at, code, promised, found, action}.
std::string rejects_jsonl(const std::vector<Reject>& rejects);

}  // namespace stoker::data
