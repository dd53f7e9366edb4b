#include "stoker/text/unknown_tally.h"

namespace stoker::text {

void UnknownTally::note(const TokenizeScratch& scratch, const Place& place) {
  if (scratch.unknown.empty() && scratch.normalize.num_removed == 0) return;
  const Lock lock(mutex_);
  num_removed_ += scratch.normalize.num_removed;
  for (const UnknownSymbol& unknown : scratch.unknown) {
    const auto [at, is_new] = entries_.try_emplace(unknown.symbol, Entry{unknown.symbol, 0, place});
    Entry& entry = at->second;
    entry.count += unknown.count;
    if (!is_new && place.line && (!entry.first.line || *place.line < *entry.first.line))
      entry.first = place;
  }
}

std::vector<UnknownTally::Entry> UnknownTally::entries() const {
  const Lock lock(mutex_);
  std::vector<Entry> out;
  out.reserve(entries_.size());
  for (const auto& [symbol, entry] : entries_) out.push_back(entry);
  return out;
}

std::uint64_t UnknownTally::num_removed() const {
  const Lock lock(mutex_);
  return num_removed_;
}

}  // namespace stoker::text
