// The runs behind a diagnosis: first the consumer as it is, then short ones in which one thing is
// different, the most telling first, within the time given.
#pragma once

#include <functional>

#include "stoker/base/clock.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/diagnose/diagnose.h"

namespace stoker::observe {

class Experiments {
 public:
  explicit Experiments(const DiagnoseOptions& options);

  // Watches, then tries: the evidence of a diagnosis.
  Evidence run();
  // Batches per second of the consumer with other settings.
  double measure(const config::Settings& settings);
  // As they were run: `auto` for the cache has been decided.
  const config::Settings& settings() const { return settings_; }

 private:
  using SourceWrap = decltype(DiagnoseOptions::wrap);
  feed::OpenedFeed open(const config::Settings& settings) const;
  feed::OpenedFeed open(const config::Settings& settings, const SourceWrap& wrap) const;
  void settle_cache();
  void watch(feed::OpenedFeed& opened);
  // The consumer that was given, or one that lets its steps pass, for as long as a watch takes.
  std::vector<feed::BatchRecord> consume(feed::OpenedFeed& opened,
                                         std::uint64_t max_batches = ~std::uint64_t{0}) const;
  void try_supply(feed::OpenedFeed& opened);
  void try_workers(feed::OpenedFeed& opened);
  void try_loaders();
  void try_stand_ins();
  void try_without_copy();
  void try_cold_files();
  bool is_clear() const;
  double left_s() const;
  double slice_s(double share) const;
  struct Drain {
    double seconds = 0;
    std::uint64_t max_batches = ~std::uint64_t{0};
    std::function<void()> before{};  // once what was ready has been taken
  };
  SupplyRun drain(feed::OpenedFeed& opened, RunKind kind, const Drain& how);

  const DiagnoseOptions& options_;
  config::Settings settings_;
  Stopwatch since_start_;
  Evidence evidence_;
  unsigned most_workers_ = 1;  // of all runs so far
};

}  // namespace stoker::observe
