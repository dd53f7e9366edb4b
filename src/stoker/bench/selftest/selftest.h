// What works on this machine: small checks of every part with a known result, each by itself, in
// under a minute.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"

namespace stoker::bench {

// What checks share: a folder of their own, and the data set that the first ones make there.
struct SelftestPlace {
  std::string folder{};
  Io* io = &system_io();
  std::stop_token stop{};

  std::string data() const { return folder + "/voice"; }
  std::string cache() const { return folder + "/cache"; }
};

// One check: its figure in words, or a Failure that says what is wrong.
struct SelfCheck {
  std::string name;
  std::function<std::string(const SelftestPlace&)> run;
  std::string cure;  // of what it may find; other failures bring their own
};

struct CheckOutcome {
  std::string name{};
  bool is_ok = false;
  std::string figure{};  // or what is wrong
  std::string cure{};    // empty: all is well
  double seconds = 0;
};

// Those of the processor and the storage, in the order in which one may need another's result.
std::vector<SelfCheck> host_checks();
// Those of the first GPU; each fails with the reason where there is none.
std::vector<SelfCheck> gpu_checks();

struct SelftestOptions {
  SelftestPlace place{};  // the folder is made and removed
  std::vector<SelfCheck> checks{};
  std::function<void(const CheckOutcome&)> on_check = [](const CheckOutcome&) {};
};

// Runs all of them, whatever fails or throws; fewer after a stop.
std::vector<CheckOutcome> run_selftest(const SelftestOptions& options);

// Throws E-SELFTEST unless `is_true`.
void expect(bool is_true, const std::string& promised, const std::string& found);

}  // namespace stoker::bench
