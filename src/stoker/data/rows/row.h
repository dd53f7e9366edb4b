// One row as a metadata file states it, before any sound file was looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/config/choices.h"

namespace stoker::data {

using config::Split;

// The views live only during the call that hands the row over.
struct Row {
  std::string_view id{};
  std::string_view text{};
  std::string_view raw_text{};
  std::string_view file{};       // relative to the audio root; empty = to be found by id
  std::string_view speaker{};    // empty = by the rules for ids
  std::string_view language{};   // empty = the source's
  std::optional<Split> split{};  // kAll = in neither part; absent = not said
  std::optional<double> offset_s{};
  std::optional<double> duration_s{};
  std::uint64_t line = 0;
  std::uint64_t at_bytes = 0;  // of the line, in the metadata file
};

// What a reader of rows calls, once for each row of the file.
struct RowSink {
  std::function<void(const Row&)> row;
  // A row that cannot be used; `id` may be empty.
  std::function<void(std::string_view id, std::uint64_t line, Error error)> reject;
  // A recorded rule was applied (two fields, dropped characters …).
  std::function<void(std::string_view rule)> note;
  // An absolute path that is not beneath the root; its row is rejected as well. May be empty.
  std::function<void(std::string_view path)> outside{};
};

}  // namespace stoker::data
