#include "stoker/feed/source/record_lookup.h"

#include <algorithm>

#include "stoker/base/thread/parallel.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kRowsPerPiece = 256;

bool is_stale(cache::RowState state) {
  return state == cache::RowState::kSettings || state == cache::RowState::kSource;
}

template <class Holds>
std::vector<std::size_t> rows_where(const std::vector<RecordRoute>& routes, Holds holds) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < routes.size(); ++row) {
    if (holds(routes[row])) rows.push_back(row);
  }
  return rows;
}

// The place of the first sorted row whose id is not before `id`.
std::size_t lower_bound_id(const cache::SortedRows& rows, std::string_view id) {
  std::size_t low = 0;
  for (std::size_t count = rows.size(); count > 0;) {
    const std::size_t half = count / 2;
    const bool is_before = rows[low + half].id < id;
    if (is_before) low += half + 1;
    count = is_before ? count - half - 1 : half;
  }
  return low;
}

}  // namespace

std::optional<std::size_t> find_row(const cache::SortedRows& rows, std::string_view id) {
  const std::size_t place = lower_bound_id(rows, id);
  if (place == rows.size() || rows[place].id != id) return std::nullopt;
  return rows.index_row(place);
}

void RecordLookup::use_cache(const cache::Inspection& found, const cache::Reader& reader,
                             const cache::SortedRows& rows) {
  for (const cache::ShardState& shard : found.shards) {
    const cache::RecordKind kind = shard.plan.maker->kind();
    if (kind == cache::RecordKind::kArray) {
      use_arrays(shard, reader, rows);
      continue;
    }
    for (std::size_t i = 0; i < shard.rows.size(); ++i) {
      const std::size_t place = shard.plan.first_row + i;
      RecordRoute& route = routes_[rows.index_row(place)];
      if (shard.rows[i] == cache::RowState::kLeftOut) route.is_left_out = true;
      if (is_stale(shard.rows[i]))
        (kind == cache::RecordKind::kTokens ? route.has_stale_tokens : route.has_stale_features) =
            true;
      if (shard.rows[i] != cache::RowState::kFresh || !shard.is_listed) continue;
      const auto ref = reader.find(kind, rows[place].id);
      if (kind == cache::RecordKind::kMel) route.mel = ref;
      if (kind == cache::RecordKind::kPcm) route.pcm = ref;
      if (kind == cache::RecordKind::kTokens) route.tokens = ref;
    }
  }
}

// The rows of an array are those that have a file, not all of the index.
void RecordLookup::use_arrays(const cache::ShardState& shard, const cache::Reader& reader,
                              const cache::SortedRows& rows) {
  const cache::RecordMaker& maker = *shard.plan.maker;
  auto& found = arrays_.try_emplace(std::string(maker.array()), routes_.size()).first->second;
  for (std::size_t i = 0; i < shard.rows.size(); ++i) {
    const std::string_view id = maker.id(shard.plan.first_row + i);
    const auto row = find_row(rows, id);
    if (!row) continue;
    found[*row].is_left_out = shard.rows[i] == cache::RowState::kLeftOut;
    if (shard.rows[i] != cache::RowState::kFresh || !shard.is_listed) continue;
    found[*row].record = reader.find(cache::RecordKind::kArray, id, maker.array());
  }
}

const std::vector<ArrayRow>* RecordLookup::array_rows(std::string_view name) const {
  const auto at = arrays_.find(name);
  return at == arrays_.end() ? nullptr : &at->second;
}

void RecordLookup::make_tokens(const data::FeatureSpec& spec, unsigned num_workers,
                               const std::stop_token& stop) {
  std::vector<std::size_t> missing = rows_without_tokens();
  struct Piece {
    std::vector<std::int32_t> tokens;
    std::vector<std::uint32_t> counts;
    std::vector<std::optional<Error>> faults;
  };
  std::vector<Piece> pieces((missing.size() + kRowsPerPiece - 1) / kRowsPerPiece);
  run_parallel(num_workers, pieces.size(), [&](std::size_t number) {
    if (stop.stop_requested()) return;
    data::UtteranceTokenizer tokenizer(spec);
    Piece& piece = pieces[number];
    const std::size_t end = std::min(missing.size(), (number + 1) * kRowsPerPiece);
    for (std::size_t i = number * kRowsPerPiece; i < end; ++i) {
      const auto tokens = tokenizer.tokenize(spec.index()[missing[i]]);
      if (tokens) piece.tokens.insert(piece.tokens.end(), tokens->begin(), tokens->end());
      piece.counts.push_back(tokens ? static_cast<std::uint32_t>(tokens->size()) : 0);
      piece.faults.push_back(tokens ? std::nullopt : std::optional(tokens.error()));
    }
  });
  std::size_t at = 0;
  for (Piece& piece : pieces) {
    std::size_t first = tokens_.size();
    tokens_.insert(tokens_.end(), piece.tokens.begin(), piece.tokens.end());
    for (std::size_t i = 0; i < piece.counts.size(); ++i, ++at) {
      TokenSpan& span = token_spans_[missing[at]];
      span = {first, piece.counts[i], -1};
      first += piece.counts[i];
      if (!piece.faults[i]) continue;
      span.fault = static_cast<std::int32_t>(faults_.size());
      faults_.push_back(std::move(*piece.faults[i]));
    }
  }
}

std::span<const std::int32_t> RecordLookup::tokens(std::size_t row) const {
  return std::span(tokens_).subspan(token_spans_[row].first, token_spans_[row].count);
}

const Error* RecordLookup::text_fault(std::size_t row) const {
  const std::int32_t fault = token_spans_[row].fault;
  return fault < 0 ? nullptr : &faults_[static_cast<std::size_t>(fault)];
}

std::uint32_t RecordLookup::num_tokens(std::size_t row, const cache::Reader* reader) const {
  const auto& record = routes_[row].tokens;
  return record ? reader->info(*record).shape.axes[0] : token_spans_[row].count;
}

std::vector<std::size_t> RecordLookup::rows_without_features() const {
  return rows_where(routes_, [](const RecordRoute& route) {
    return !route.mel && !route.pcm && !route.is_left_out;
  });
}

std::vector<std::size_t> RecordLookup::rows_without_samples() const {
  return rows_where(routes_,
                    [](const RecordRoute& route) { return !route.pcm && !route.is_left_out; });
}

std::vector<std::size_t> RecordLookup::rows_without_tokens() const {
  return rows_where(routes_, [](const RecordRoute& route) { return !route.tokens; });
}

std::vector<std::size_t> RecordLookup::rows_with_stale_features() const {
  return rows_where(routes_, [](const RecordRoute& route) {
    return !route.mel && !route.pcm && route.has_stale_features;
  });
}

std::vector<std::size_t> RecordLookup::rows_with_stale_tokens() const {
  return rows_where(
      routes_, [](const RecordRoute& route) { return !route.tokens && route.has_stale_tokens; });
}

}  // namespace stoker::feed
