// Data sets become one index: the accepted utterances in order, and an account of every other row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/account.h"
#include "stoker/data/index_options.h"
#include "stoker/data/utterance.h"

namespace stoker::data {

// An opened data set; audio paths of its utterances are relative to `root`.
struct Source {
  std::string name;
  double weight = 1.0;
  File root;
  std::string recorded_language{};  // as its record has it; empty: it names none
};

// Immutable once built; const access is thread-safe.
class Index {
 public:
  std::size_t size() const noexcept { return table_.size(); }
  Utterance operator[](std::size_t index) const noexcept { return table_[index]; }

  // Counts, rejects and warnings of every row, and how often each code occurred.
  const Account& account() const noexcept { return account_; }
  const IndexCounts& counts() const noexcept { return account_.counts(); }
  std::span<const Reject> rejects() const noexcept { return account_.rejects(); }
  std::span<const Warning> warnings() const noexcept { return account_.warnings(); }

  std::span<const Source> sources() const noexcept { return sources_; }
  std::span<const std::string> speakers() const noexcept { return speakers_; }
  std::span<const std::string> languages() const noexcept { return languages_; }
  double audio_s() const noexcept { return audio_s_; }

  // XXH3-128 over id, text, speaker, language, samples and rate of the utterances, in order, and
  // over where a segment starts and how long it is.
  Digest128 data_digest() const noexcept { return data_digest_; }

  // What the rows take, text included.
  std::size_t memory_bytes() const noexcept { return table_.memory_bytes(); }

  // Opens the utterance's file; it is never outside its source's root.
  Result<File> open_sound(const Utterance& utterance) const;

  // Why the index must not be used (too many rejects, no usable row), if so.
  const std::optional<Error>& refusal() const noexcept { return refusal_; }

  // Reads the metadata files again: E-META-CHANGED when one is no longer what was indexed.
  Result<void> check_unchanged() const;

 private:
  friend class IndexBuilder;
  struct MetadataFile {
    std::string path;
    Digest128 digest;
  };

  Io* io_ = nullptr;
  UtteranceTable table_;
  Account account_;
  std::vector<Source> sources_;
  std::vector<MetadataFile> metadata_files_;
  std::vector<std::string> speakers_, languages_;
  double audio_s_ = 0;
  Digest128 data_digest_;
  Links links_ = Links::kBeneath;
  std::optional<Error> refusal_;
};

// Reads every row and, as options.check asks, every file. Throws DataError or ConfigError only for
// what concerns a whole source; bad rows are in rejects(), and refusal() says whether they are too
// many. Throws E-DATA-STOPPED when `stop` is requested.
Index scan_index(const IndexOptions& options, Io& io, std::stop_token stop = {});

// The same, but throws the refusal: what comes back can be used.
Index open_index(const IndexOptions& options, Io& io, std::stop_token stop = {});

}  // namespace stoker::data
