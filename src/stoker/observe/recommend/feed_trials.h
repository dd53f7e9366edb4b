// Short real runs of the feed with different settings: opened once for each tier, then workers and
// depth are changed while it runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/recommend/search.h"

namespace stoker::observe {

struct TrialOptions {
  config::Settings settings{};  // device `auto` is resolved already
  std::string cache_prefix{};   // of the folders that caches for the trials are built in
  bool has_cache = false;       // the settings' own cache is whole: mels are read from there
  Io* io = &system_io();
  std::stop_token stop{};
  std::function<void(std::string_view)> say = [](std::string_view) {};
  decltype(feed::OpenOptions::wrap) wrap{};  // put between the loader and the feed
};

// The settings that make a feed take this choice. Nothing but speed and memory changes.
config::Settings with_choice(config::Settings settings, const FeedChoice& choice);

// One thread. Caches that were built for it are removed with it.
class FeedTrials {
 public:
  explicit FeedTrials(TrialOptions options);
  ~FeedTrials();
  FeedTrials(const FeedTrials&) = delete;
  FeedTrials& operator=(const FeedTrials&) = delete;

  // Clips a second to a consumer that takes all at once. Nothing where the tier cannot be run; why
  // is kept. Throws after a stop.
  std::optional<double> run(const FeedChoice& choice, double seconds);

  // What a process with this choice alone holds in memory beyond what it had before.
  struct Held {
    std::uint64_t grown_bytes = 0;   // heap and buffers, measured
    std::uint64_t buffer_bytes = 0;  // of batches, as the settings allow
  };
  Held measure_held(const FeedChoice& choice, double seconds);

  const std::map<FeedTier, Error>& refusals() const { return refusals_; }

 private:
  config::Settings settings_for(const FeedChoice& choice) const;
  std::string folder_of(FeedTier tier) const;
  void build_cache(const FeedChoice& choice);
  void open(const FeedChoice& choice, double warm_s);
  double consume(double seconds);

  TrialOptions options_;
  std::map<FeedTier, Error> refusals_;
  std::map<std::string, bool> built_;  // folders
  std::unique_ptr<feed::OpenedFeed> opened_;
  std::optional<FeedTier> tier_;
};

}  // namespace stoker::observe
