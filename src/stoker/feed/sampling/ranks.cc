#include "stoker/feed/sampling/ranks.h"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

std::optional<std::uint32_t> number_from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    std::uint32_t value = 0;
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error == std::errc() && end == view.data() + view.size()) return value;
  }
  return std::nullopt;
}

std::uint32_t first_of(const std::optional<std::int64_t>& set,
                       std::initializer_list<const char*> names, std::uint32_t otherwise) {
  if (set) return static_cast<std::uint32_t>(*set);
  return number_from_environment(names).value_or(otherwise);
}

}  // namespace

void check_ranks(const RankRows& ranks, std::uint32_t batch_multiple) {
  if (ranks.world_size == 0 || ranks.rank >= ranks.world_size) {
    raise({.code = &kFeedRanks,
           .promised = "a rank below world_size",
           .found = "rank " + grouped(ranks.rank) + " of " + grouped(ranks.world_size)});
  }
  if (batch_multiple % ranks.world_size != 0) {
    raise({.code = &kFeedRanks,
           .promised = "a world_size that divides batch_multiple",
           .found = "world_size " + grouped(ranks.world_size) + " and batch_multiple " +
                    grouped(batch_multiple)});
  }
}

RankRows ranks_of(const config::LoaderSettings& loader) {
  return {.rank = first_of(loader.rank, {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}, 0),
          .world_size = first_of(loader.world_size,
                                 {"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"}, 1)};
}

}  // namespace stoker::feed
