#include "stoker/bench/selftest/selftest.h"

#include <exception>
#include <filesystem>
#include <new>

#include "stoker/base/clock.h"
#include "stoker/bench/errors.h"

namespace stoker::bench {
namespace {

// The folder goes with it.
class OwnFolder {
 public:
  explicit OwnFolder(const std::string& path) : path_(path) {}
  ~OwnFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

 private:
  std::string path_;
};

std::string sentence_of(const Error& error) {
  const std::string line = error_line(error);
  constexpr std::string_view kMark = "error";
  return line.starts_with(kMark) ? line.substr(kMark.size()) : line;
}

void put_failure(const Error& error, const SelfCheck& check, CheckOutcome& outcome) {
  outcome.figure = sentence_of(error);
  // What a check found is cured as it says; what kept it from looking, as that failure says.
  const bool is_own = error.code == &kSelftest || error.code->exit == ExitCode::kStorage;
  outcome.cure = !error.cure.empty()             ? error.cure
                 : is_own && !check.cure.empty() ? check.cure
                                                 : std::string(error.code->cure);
}

CheckOutcome run_one(const SelfCheck& check, const SelftestPlace& place) {
  CheckOutcome outcome{.name = check.name};
  const Stopwatch watch;
  try {
    outcome.figure = check.run(place);
    outcome.is_ok = true;
  } catch (const Failure& failure) {
    put_failure(failure.error(), check, outcome);
  } catch (const std::bad_alloc&) {
    outcome.figure = "out of memory";
    outcome.cure = "raise the memory limit of the process (ulimit -v, or of its control group)";
  } catch (const std::exception& unexpected) {
    outcome.figure = unexpected.what();
    outcome.cure = "please report this line with the output of stoker --version";
  }
  outcome.seconds = watch.seconds();
  return outcome;
}

}  // namespace

void expect(bool is_true, const std::string& promised, const std::string& found) {
  if (!is_true) raise({.code = &kSelftest, .promised = promised, .found = found});
}

std::vector<CheckOutcome> run_selftest(const SelftestOptions& options) {
  const OwnFolder folder(options.place.folder);
  std::vector<CheckOutcome> outcomes;
  for (const SelfCheck& check : options.checks) {
    if (options.place.stop.stop_requested()) break;
    outcomes.push_back(run_one(check, options.place));
    options.on_check(outcomes.back());
  }
  return outcomes;
}

}  // namespace stoker::bench
