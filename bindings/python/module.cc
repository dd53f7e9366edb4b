// stoker._engine: everything that the Python package takes from the library.
#include "crossing.h"
#include "stoker/base/build_info.h"

NB_MODULE(_engine, module) {
  using namespace stoker::python;
  // Feeds and batches in a module's globals live until the interpreter ends; that is no fault.
  nb::set_leak_warnings(false);
  module.attr("version") =
      nb::str(stoker::build_info().version.data(), stoker::build_info().version.size());
  bind_errors(module);
  bind_gil(module);
  bind_log(module);
  bind_settings(module);
  bind_tensor(module);
  bind_batch(module);
  bind_feed(module);
  bind_monitor(module);
  bind_verbs(module);
  bind_cache(module);
  bind_data(module);
  bind_train(module);
}
