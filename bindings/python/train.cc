// The trainer from Python, through its door: the library is looked for when a call needs it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "background.h"
#include "stoker/base/io/output_file.h"
#include "stoker/train/door/loader.h"

namespace stoker::python {
namespace {

// The codes of the library are not part of this module: what it says of them is kept.
train::CallHooks hooks_of(Background& background) {
  return {.on_event = [&background](const Json& event) { background.tell(event); },
          .stop = background.stop_token(),
          .find_code = [](std::string_view) -> const ErrorCode* { return nullptr; }};
}

std::string train(const std::vector<std::string>& folders, const std::string& config,
                  const Keywords& keywords, const nb::object& on_event) {
  const config::Settings settings = settings_of("train", config, keywords);
  Background background({.on_progress = nb::none(), .on_event = on_event});
  return background.run([&] {
    return train::open_train_library(folders).take_or_raise().train(settings, hooks_of(background));
  });
}

std::string synthesize(const std::vector<std::string>& folders, const std::string& config,
                       const Keywords& keywords, const train::SynthesisCall& call,
                       const nb::object& on_event) {
  const config::Settings settings = settings_of("synthesize", config, keywords);
  for (const std::vector<std::string>* const files : {&call.out, &call.save_mel, &call.pictures})
    for (const std::string& path : *files) check_output(system_io(), path).take_or_raise();
  Background background({.on_progress = nb::none(), .on_event = on_event});
  return background.run([&] {
    return train::open_train_library(folders).take_or_raise().synthesize(settings, call,
                                                                         hooks_of(background));
  });
}

}  // namespace

void bind_train(nb::module_& module) {
  using Call = train::SynthesisCall;
  nb::class_<Call>(module, "SynthesisCall")
      .def(nb::init<>())
      .def_rw("checkpoint", &Call::checkpoint)
      .def_rw("texts", &Call::texts)
      .def_rw("out", &Call::out)
      .def_rw("save_mel", &Call::save_mel)
      .def_rw("pictures", &Call::pictures)
      .def_rw("references", &Call::references)
      .def_rw("language", &Call::language, nb::arg().none())
      .def_rw("vocabulary", &Call::vocabulary, nb::arg().none())
      .def_rw("num_steps", &Call::num_steps)
      .def_rw("speed", &Call::speed);
  module.def("numbered_files", &train::numbered_files, nb::arg("path"), nb::arg("num_texts"));
  module.def("train", &train, nb::arg("folders"), nb::arg("config"), nb::arg("keywords"),
             nb::arg("on_event").none());
  module.def("synthesize", &synthesize, nb::arg("folders"), nb::arg("config"), nb::arg("keywords"),
             nb::arg("call"), nb::arg("on_event").none());
}

}  // namespace stoker::python
