#include "stoker/cache/build/cache_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "stoker/cache/build/array_maker.h"
#include "stoker/cache/read/cache_location.h"

namespace stoker::cache {
namespace {

Manifest head_of(const data::FeatureIdentity& identity, SimdLevel level, config::MelDtype dtype) {
  Manifest head;
  head.path = fmt::format("{}/{}", simd_level_name(level), config::name_of(dtype));
  head.features = identity.features;
  head.text = identity.text;
  for (const auto& [name, value] : identity.feature_values)
    head.settings.push_back({"features", name, value});
  for (const auto& [name, value] : identity.text_values)
    head.settings.push_back({"text", name, value});
  std::sort(head.settings.begin(), head.settings.end());
  return head;
}

}  // namespace

Manifest wanted_head(const config::Settings& settings, SimdLevel level) {
  return head_of(data::FeatureIdentity(settings), level, settings.cache.dtype);
}

CacheTarget::CacheTarget(const config::Settings& settings, const data::FeatureSpec& spec, Io& io)
    : rows_(spec.index()) {
  target_.head = head_of(spec.identity(), spec.mel().level(), spec.mel_dtype());
  if (const std::string list = list_key(settings, io); !list.empty())
    target_.head.settings.insert(target_.head.settings.begin(), {"data", "list", list});
  add_index_makers(spec, settings.cache.content);
  add_array_makers(settings.cache, io);
  for (const auto& maker : makers_) target_.makers.push_back(maker.get());
}

void CacheTarget::add_index_makers(const data::FeatureSpec& spec, config::CacheContent content) {
  if (content != config::CacheContent::kPcm)
    makers_.push_back(std::make_unique<MelMaker>(spec, rows_, spec.identity().features));
  if (content != config::CacheContent::kMel)
    makers_.push_back(std::make_unique<PcmMaker>(spec, rows_, spec.identity().samples));
  makers_.push_back(std::make_unique<TokenMaker>(spec, rows_, spec.tokenizer_digest()));
}

void CacheTarget::add_array_makers(const config::CacheSettings& settings, Io& io) {
  for (const auto& [name, path] : settings.arrays) {
    File folder = open_file(io, path, OpenFor::kFolder).take_or_raise();
    NpyFolder files = list_npy_folder(folder).take_or_raise();
    std::vector<NpyFolder::Row> used;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto at = std::lower_bound(
          files.rows.begin(), files.rows.end(), rows_[row].id,
          [](const NpyFolder::Row& file, std::string_view id) { return file.id < id; });
      if (at != files.rows.end() && at->id == rows_[row].id) used.push_back(*at);
    }
    makers_.push_back(std::make_unique<ArrayMaker>(
        std::move(folder), std::move(used),
        ArrayMaker::Options{RecordKind::kArray, name, digest_of("array " + name), accept_finite}));
  }
}

}  // namespace stoker::cache
