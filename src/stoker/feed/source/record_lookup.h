// How each row is read: which of its records in the cache may be used, and its tokens where there
// is none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/cache/build/index_makers.h"
#include "stoker/cache/build/inspect.h"
#include "stoker/cache/read/reader.h"
#include "stoker/data/features/feature_spec.h"

namespace stoker::feed {

// The index's row of an id, if it has one.
std::optional<std::size_t> find_row(const cache::SortedRows& rows, std::string_view id);

// One row; a record that may not be used is absent.
struct RecordRoute {
  std::optional<cache::RecordRef> mel;
  std::optional<cache::RecordRef> pcm;
  std::optional<cache::RecordRef> tokens;
  bool is_left_out = false;  // known to be bad since the cache was built
  // The cache holds one, made from another source or with other settings.
  bool has_stale_features = false;
  bool has_stale_tokens = false;
};

// A named array of one row, as far as the cache knows it.
struct ArrayRow {
  std::optional<cache::RecordRef> record;  // fresh
  bool is_left_out = false;                // known to be bad since the cache was built
};

// Immutable once filled; rows in index order.
class RecordLookup {
 public:
  RecordLookup() = default;
  explicit RecordLookup(std::size_t num_rows) : routes_(num_rows), token_spans_(num_rows) {}

  // Takes the records that are fresh: made from this source with these settings.
  void use_cache(const cache::Inspection& found, const cache::Reader& reader,
                 const cache::SortedRows& rows);
  // What the cache has of a named array, by row; null where it has none.
  const std::vector<ArrayRow>* array_rows(std::string_view name) const;
  // Makes the tokens of every row that has no record, with `num_workers` threads.
  void make_tokens(const data::FeatureSpec& spec, unsigned num_workers,
                   const std::stop_token& stop);

  const RecordRoute& operator[](std::size_t row) const { return routes_[row]; }
  std::size_t size() const { return routes_.size(); }
  // Tokens made here; empty for rows whose tokens are in the cache.
  std::span<const std::int32_t> tokens(std::size_t row) const;
  // Why a row's text gave no tokens.
  const Error* text_fault(std::size_t row) const;
  std::uint32_t num_tokens(std::size_t row, const cache::Reader* reader) const;

  // Rows without the records that `preprocessing_mode precompute` needs.
  std::vector<std::size_t> rows_without_features() const;
  // The same where mels are made from samples each time.
  std::vector<std::size_t> rows_without_samples() const;
  std::vector<std::size_t> rows_without_tokens() const;
  // Of these, the rows whose record in the cache is stale rather than missing.
  std::vector<std::size_t> rows_with_stale_features() const;
  std::vector<std::size_t> rows_with_stale_tokens() const;

 private:
  struct TokenSpan {
    std::size_t first = 0;
    std::uint32_t count = 0;
    std::int32_t fault = -1;  // index into faults_
  };

  void use_arrays(const cache::ShardState& shard, const cache::Reader& reader,
                  const cache::SortedRows& rows);

  std::vector<RecordRoute> routes_;
  std::map<std::string, std::vector<ArrayRow>, std::less<>> arrays_;
  std::vector<TokenSpan> token_spans_;
  std::vector<std::int32_t> tokens_;
  std::vector<Error> faults_;
};

}  // namespace stoker::feed
