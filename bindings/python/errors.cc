// Failures of the library become the exceptions of stoker.errors.
#include <nanobind/stl/string.h>

#include <csignal>

#include "crossing.h"
#include "stoker/base/error.h"

namespace stoker::python {
namespace {

std::string where_of(const Place& place) {
  std::string text = place.file;
  if (place.line) text += ":" + std::to_string(*place.line);
  if (place.column) text += ":" + std::to_string(*place.column);
  if (place.byte) text += " @" + std::to_string(*place.byte);
  return text;
}

// stoker.errors.make() chooses the class by the exit code.
void set_python_error(const Error& error) {
  const nb::object make = nb::module_::import_("stoker.errors").attr("make");
  nb::dict parts;
  parts["code"] = std::string(error.code->name);
  parts["exit_code"] = static_cast<int>(error.code->exit);
  parts["message"] = error_line(error);
  parts["path"] = error.place.file;
  parts["where"] = where_of(error.place);
  parts["promised"] = error.promised;
  parts["found"] = error.found;
  parts["help"] = error.cure.empty() ? std::string(error.code->cure) : error.cure;
  const nb::object exception = make(**parts);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

bool may_go_on() {
  const nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() == 0;
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      set_python_error(failure.error());
    }
  });
}

}  // namespace stoker::python
