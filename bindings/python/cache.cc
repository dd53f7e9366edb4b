// The cache from Python: building, checking, looking at it.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "background.h"
#include "stoker/base/clock.h"
#include "stoker/cache/maintain/cache_check.h"
#include "stoker/cache/maintain/cache_reports.h"
#include "stoker/cache/read/reader.h"
#include "stoker/feed/device/gpu_mode.h"

namespace stoker::python {
namespace {

// The settings of one cache, and what is asked of it.
class PythonCache {
 public:
  PythonCache(const std::string& call, const std::string& config, const Keywords& keywords)
      : settings_(settings_of(call, config, keywords)) {}

  std::string folder() const {
    return without_gil([&] { return cache::cache_folder_of(settings_, system_io()); });
  }

  std::string info() const {
    return without_gil([&] {
      const std::string path = cache::cache_folder_of(settings_, system_io());
      const cache::Reader reader = cache::Reader::open(system_io(), path).take_or_raise();
      return cache::info_json(reader.manifest(), path).dump();
    });
  }

  std::string explain(const std::string& id) const {
    Background background({.on_progress = nb::none()});
    return background.run([&] {
      return cache::explain_json(
          cache::explain_utterance(settings_, system_io(), id, background.stop_token()), id);
    });
  }

  std::string verify(bool fix, bool sources, const nb::object& on_progress) const {
    Background background({.on_progress = on_progress});
    cache::CheckRequest request{.fix = fix};
    request.verify.sources = sources ? cache::SourceCheck::kContent : cache::SourceCheck::kStamps;
    request.verify.num_workers = cache::build_workers(settings_);
    request.verify.stop = background.stop_token();
    request.verify.progress = &background;
    request.say = [&](const std::string& line) { background.say(line); };
    request.warn = [&](const std::string& line) { background.warn(line); };
    return background.run([&] {
      const cache::CheckedCache checked = cache::check_cache(settings_, system_io(), request);
      const Result<std::string> list = cache::keep_utterance_lines(system_io(), checked);
      if (!list) background.warn(error_line(list.error()));
      Json json{{"ok", checked.is_good}};
      json.update(cache::check_json(checked, list ? *list : std::string()));
      return json;
    });
  }

  std::string precompute(bool overwrite, bool break_lock, bool wait,
                         const nb::object& on_progress) const {
    Background background({.on_progress = on_progress});
    cache::PrecomputeOptions options;
    options.overwrite = overwrite ? cache::Overwrite::kYes : cache::Overwrite::kNo;
    options.break_lock = break_lock ? cache::BreakLock::kYes : cache::BreakLock::kNo;
    options.when_locked = wait ? cache::WhenLocked::kWait : cache::WhenLocked::kRefuse;
    options.num_workers = cache::build_workers(settings_);
    options.check_bytes = true;
    options.stop = background.stop_token();
    options.progress = &background;
    options.say = [&](const std::string& line) { background.say(line); };
    options.warn = [&](const std::string& line) { background.warn(line); };
    return background.run([&] {
      Json json{{"fallbacks", feed::check_build_device(settings_)}};
      const Stopwatch watch;
      const cache::PrecomputeReport report = cache::precompute(settings_, system_io(), options);
      json.update(cache::precompute_json(report, watch.seconds()));
      return json;
    });
  }

 private:
  config::Settings settings_;
};

}  // namespace

void bind_cache(nb::module_& module) {
  nb::class_<PythonCache>(module, "Cache")
      .def(nb::init<const std::string&, const std::string&, const Keywords&>(), nb::arg("call"),
           nb::arg("config"), nb::arg("keywords"))
      .def("folder", &PythonCache::folder)
      .def("info", &PythonCache::info)
      .def("explain", &PythonCache::explain, nb::arg("id"))
      .def("verify", &PythonCache::verify, nb::arg("fix"), nb::arg("sources"),
           nb::arg("on_progress").none())
      .def("precompute", &PythonCache::precompute, nb::arg("overwrite"), nb::arg("break_lock"),
           nb::arg("wait"), nb::arg("on_progress").none());
}

}  // namespace stoker::python
