#include "stoker/train/door/door_message.h"

#include <array>
#include <list>
#include <new>
#include <string>

#include "stoker/base/thread/sync.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

void put(Json& event, std::string_view key, const std::string& text) {
  if (!text.empty()) event[key] = text;
}

std::string text_at(const Json& event, std::string_view key) {
  return event.contains(key) ? event.at(key).text() : std::string();
}

std::optional<std::uint64_t> count_at(const Json& event, std::string_view key) {
  if (!event.contains(key)) return std::nullopt;
  return static_cast<std::uint64_t>(event.at(key).number());
}

// libtorch adds a stack trace below its words.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// What libtorch's allocators say when they are refused, on the host and on a GPU.
bool tells_of_memory(std::string_view text) {
  constexpr std::array<std::string_view, 3> kWords{"out of memory", "can't allocate memory",
                                                   "not enough memory"};
  for (const std::string_view words : kWords)
    if (text.find(words) != text.npos) return true;
  return false;
}

// Errors point to their code for as long as the process runs; of those that come from elsewhere
// there are few, and each is kept once.
const ErrorCode& foreign_code(const Json& event) {
  struct Kept {
    std::string name;
    ErrorCode code;
  };
  static Mutex mutex;
  static auto* const kept = new std::list<Kept>;
  const std::string& name = event.at("code").text();
  const auto exit = static_cast<ExitCode>(static_cast<int>(event.at("exit").number()));
  const Lock lock(mutex);
  for (const Kept& each : *kept)
    if (each.name == name && each.code.exit == exit) return each.code;
  Kept& added = kept->emplace_back(Kept{.name = name, .code = {}});
  added.code = {.name = added.name, .exit = exit, .meaning = {}, .cure = {}};
  return added.code;
}

}  // namespace

Json error_event(const Error& error) {
  Json event{
      {"kind", "error"}, {"code", error.code->name}, {"exit", static_cast<int>(error.code->exit)}};
  put(event, "file", error.place.file);
  if (error.place.line) event["line"] = *error.place.line;
  if (error.place.column) event["column"] = *error.place.column;
  if (error.place.byte) event["byte"] = *error.place.byte;
  put(event, "promised", error.promised);
  put(event, "found", error.found);
  put(event, "action", error.action);
  put(event, "cure", error.cure.empty() ? std::string(error.code->cure) : error.cure);
  event["message"] = error_line(error);
  return event;
}

Error error_of_exception() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::bad_alloc&) {
    return {.code = &kTrainMemory, .found = "out of memory"};
  } catch (const std::exception& other) {
    const ErrorCode* const code = tells_of_memory(other.what()) ? &kTrainMemory : &kTrainFailed;
    return {.code = code, .found = first_line(other.what())};
  } catch (...) {
    return {.code = &kTrainFailed, .found = "an exception without words"};
  }
}

Error error_of_event(const Json& event, const FindCode& find) {
  const ErrorCode* const code = find(event.at("code").text());
  return {.code = code == nullptr ? &foreign_code(event) : code,
          .place = {.file = text_at(event, "file"),
                    .line = count_at(event, "line"),
                    .column = count_at(event, "column"),
                    .byte = count_at(event, "byte")},
          .promised = text_at(event, "promised"),
          .found = text_at(event, event.contains("found") ? "found" : "message"),
          .action = text_at(event, "action"),
          .cure = text_at(event, "cure")};
}

}  // namespace stoker::train
