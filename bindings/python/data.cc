// Data sets from Python: made by the built-in voice, and checked row by row.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "background.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/error_json.h"
#include "stoker/cache/maintain/cache_reports.h"
#include "stoker/data/summary.h"
#include "stoker/data/voice/data_set_maker.h"

namespace stoker::python {
namespace {

namespace voice = data::voice;

// As voice::MakeOptions, in the words of the command.
struct MakeCall {
  std::string out;
  std::uint64_t num_utterances = 0;
  std::uint32_t num_speakers = 1;
  std::string language = "en";
  std::uint32_t rate_hz = 0;
  std::string lengths = "natural";
  std::uint64_t seed = 0;
  std::optional<unsigned> num_workers;
  bool overwrite = false;
};

std::string make_data(const MakeCall& call, const nb::object& on_progress) {
  voice::MakeOptions options;
  options.out = call.out;
  options.num_utterances = call.num_utterances;
  options.num_speakers = call.num_speakers;
  options.language = voice::parse_language(call.language).take_or_raise();
  options.rate_hz = call.rate_hz;
  options.lengths = voice::parse_lengths(call.lengths).take_or_raise();
  options.seed = call.seed;
  options.num_workers = call.num_workers.value_or(count_cpus().allowed);
  options.existing = call.overwrite ? voice::ExistingData::kReplace : voice::ExistingData::kRefuse;
  Background background({.on_progress = on_progress});
  background.set_total(options.num_utterances);
  return background.run([&] {
    const voice::MakeReport report =
        voice::make_data_set(system_io(), options, background.stop_token(), background)
            .take_or_raise();
    return voice::report_json(options, report);
  });
}

std::string check_data(const std::string& config, const Keywords& keywords,
                       const nb::object& on_progress) {
  const config::Settings settings = settings_of("data_check", config, keywords);
  Background background({.on_progress = on_progress});
  return background.run([&] {
    data::IndexOptions options = cache::check_options_of(settings);
    options.progress = &background;
    const data::Index index = data::scan_index(options, system_io(), background.stop_token());
    Json json{{"ok", !index.refusal().has_value()}};
    json.update(data::account_json(index));
    const Result<std::string> kept = cache::keep_rejects(settings, system_io(), index);
    if (!kept) background.warn("the list of rejects was not kept: " + kept.error().found);
    json["rejects_file"] = !kept || kept->empty() ? Json() : Json(*kept);
    index.check_unchanged().take_or_raise();
    if (index.refusal()) json["error"] = error_json(*index.refusal());
    return json;
  });
}

}  // namespace

void bind_data(nb::module_& module) {
  nb::class_<MakeCall>(module, "MakeCall")
      .def(nb::init<>())
      .def_rw("out", &MakeCall::out)
      .def_rw("num_utterances", &MakeCall::num_utterances)
      .def_rw("num_speakers", &MakeCall::num_speakers)
      .def_rw("language", &MakeCall::language)
      .def_rw("rate_hz", &MakeCall::rate_hz)
      .def_rw("lengths", &MakeCall::lengths)
      .def_rw("seed", &MakeCall::seed)
      .def_rw("num_workers", &MakeCall::num_workers, nb::arg().none())
      .def_rw("overwrite", &MakeCall::overwrite);
  module.def("make_data", &make_data, nb::arg("call"), nb::arg("on_progress").none());
  module.def("check_data", &check_data, nb::arg("config"), nb::arg("keywords"),
             nb::arg("on_progress").none());
}

}  // namespace stoker::python
