// The crossing to observe::PerformanceMonitor. Its analysis crosses as JSON, which Python reads
// into a dict; stoker/monitor.py is what people see.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <chrono>
#include <cstddef>
#include <new>

#include "crossing.h"
#include "stoker/observe/performance_monitor.h"

namespace stoker::python {
namespace {

using observe::PerformanceMonitor;
using Released = nb::call_guard<nb::gil_scoped_release>;

void construct(PerformanceMonitor* self, std::size_t history, double sample_every_s, unsigned gpu) {
  const std::chrono::duration<double> every(sample_every_s);
  new (self) PerformanceMonitor(
      {.history = history,
       .sample_every = std::chrono::duration_cast<std::chrono::nanoseconds>(every),
       .gpu = gpu});
}

}  // namespace

void bind_monitor(nb::module_& module) {
  nb::class_<PerformanceMonitor>(module, "PerformanceMonitor",
                                 "Times of a training loop, and how busy the machine is.")
      .def("__init__", &construct, nb::arg("history"), nb::arg("sample_every_s"), nb::arg("gpu"))
      .def("log_operation", &PerformanceMonitor::log_operation, nb::arg("name"), nb::arg("run_s"))
      .def("log_step_timing", &PerformanceMonitor::log_step_timing, nb::arg("data_loading_s"),
           nb::arg("compute_s"), nb::arg("batch_size"))
      .def("count_cache_hits", &PerformanceMonitor::count_cache_hits, nb::arg("num_hits"))
      .def("count_cache_misses", &PerformanceMonitor::count_cache_misses, nb::arg("num_misses"))
      .def("sample_now", &PerformanceMonitor::sample_now, Released())
      .def("start_sampling", &PerformanceMonitor::start_sampling, Released())
      .def("stop_sampling", &PerformanceMonitor::stop_sampling, Released())
      .def_prop_ro("is_sampling", &PerformanceMonitor::is_sampling)
      .def("report_json",
           [](const PerformanceMonitor& monitor) {
             return without_gil([&] { return monitor.report().dump(); });
           })
      .def("summary_report", &PerformanceMonitor::summary_report, Released())
      .def("reset", &PerformanceMonitor::reset);
}

}  // namespace stoker::python
