// What one row of the feed's benchmark is: a loader, a path from file to batch, and settings.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"

namespace stoker::bench {

enum class FeedLoader : std::uint8_t { kNaive, kNative };
enum class FeedPath : std::uint8_t {
  kCached,    // mels from the cache
  kPcm,       // 16-bit samples from the cache, mel on the fly
  kFiles,     // sound files, mel on the fly
  kResident,  // everything in GPU memory
};

std::string_view name_of(FeedLoader loader);
std::string_view name_of(FeedPath path);
// Throws E-BENCH-CHOICE.
FeedLoader loader_from(std::string_view name);
FeedPath path_from(std::string_view name);

struct FeedBenchCase {
  FeedLoader loader = FeedLoader::kNative;
  FeedPath path = FeedPath::kCached;
  std::vector<std::string> changed;  // "data.num_workers=2", what tells it from the others
  config::Settings settings;         // loader and path put in by with_path()
};

// The settings that make a feed take this loader and path.
config::Settings with_path(config::Settings settings, FeedLoader loader, FeedPath path);

// Builds the cache or the .npy files that the case reads, where they are not there yet.
struct PrepareOptions {
  unsigned num_workers = 1;
  std::stop_token stop{};
  std::function<void(std::string_view)> say = [](std::string_view) {};
};
void prepare_case(Io& io, const FeedBenchCase& wanted, const PrepareOptions& options);

}  // namespace stoker::bench
