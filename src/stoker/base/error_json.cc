#include "stoker/base/error_json.h"

#include <string>

namespace stoker {
namespace {

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

}  // namespace

Json error_json(const Error& error) {
  Json object;
  object["code"] = error.code->name;
  put(object, "file", error.place.file);
  if (error.place.line) object["line"] = *error.place.line;
  if (error.place.column) object["column"] = *error.place.column;
  if (error.place.byte) object["byte"] = *error.place.byte;
  put(object, "promised", error.promised);
  put(object, "found", error.found);
  put(object, "action", error.action);
  object["message"] = error_line(error);
  put(object, "help", help_line(error));
  return object;
}

}  // namespace stoker
