// Settings of the cache: where it is, what it holds, how it is read.
#pragma once

#include <string>
#include <tuple>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

struct CacheSettings {
  static constexpr std::string_view kSection = "cache";
  static constexpr std::string_view kTitle = "Cache";

  std::string dir;
  MelDtype dtype = MelDtype::kF16;
  CacheContent content = CacheContent::kMel;
  CacheTier tier = CacheTier::kDisk;
  Auto<Bytes> tier_memory;
  StringMap arrays;
  bool enable_memory_mapping = true;
  bool cache_verification = true;
  bool auto_rebuild_token_cache = true;
  bool auto_rebuild_mel_cache = true;

  static constexpr auto fields() {
    using C = CacheSettings;
    return std::tuple{
        field("dir", &C::dir, "Folder of the cache; empty: .stoker/<digest> beside the data.")
            .flags("--cache")
            .myxtts("paths.cache_dir"),
        field("dtype", &C::dtype, "Number format of stored mels.")
            .flags("--cache-dtype")
            .affects(Affects::kFeatures),
        field("content", &C::content, "Store mels, 16-bit samples, or both.")
            .flags("--cache-content"),
        field("tier", &C::tier, "Where the cache is held while running.").flags("--cache-tier"),
        field("tier_memory", &C::tier_memory, {kMiB, 64 * kTiB},
              "Most memory that the ram or gpu tier may take.")
            .unit("bytes"),
        field("arrays", &C::arrays, "Further arrays to store: name of the array to .npy folder.")
            .flags("--cache-arrays"),
        field("enable_memory_mapping", &C::enable_memory_mapping, "Read by mapping; off: by pread.")
            .myxtts("data.enable_memory_mapping"),
        field("cache_verification", &C::cache_verification,
              "Check every record's checksum when it is first read.")
            .myxtts("data.cache_verification"),
        field("auto_rebuild_token_cache", &C::auto_rebuild_token_cache,
              "Make tokens anew whose record is stale; off: a stale record ends the run. Missing "
              "ones are always made.")
            .myxtts("data.auto_rebuild_token_cache"),
        field("auto_rebuild_mel_cache", &C::auto_rebuild_mel_cache,
              "Make features anew whose record is stale; off: a stale record ends the run. Missing "
              "ones are always made.")
            .myxtts("data.auto_rebuild_mel_cache"),
    };
  }
};

}  // namespace stoker::config
