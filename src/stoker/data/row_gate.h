// The one gate through which the rows of every layout pass: id, path and text are checked here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/data/index_options.h"
#include "stoker/data/row.h"

namespace stoker::data {

// How rows are read, whatever the layout.
struct RowRules {
  std::string file{};  // the metadata file, for messages
  ExtraPipes extra_pipes = ExtraPipes::kReject;
  InvisibleCharacters invisible = InvisibleCharacters::kDrop;
  std::string columns{};  // for tables with a header
  std::string root{};     // absolute prefix that audio paths may carry
};

// Not thread-safe: keeps the scratch memory of one reader.
class RowGate {
 public:
  RowGate(const RowRules& rules, const RowSink& sink) : rules_(rules), sink_(sink) {}

  // Where the fields stand in the file; the line's start where a layout does not know better.
  struct At {
    std::uint64_t id_bytes = 0;
    std::uint64_t text_bytes = 0;
    std::uint64_t raw_bytes = 0;
  };

  // Hands the row to the sink as accepted or rejected.
  void pass(const Row& row, const At& at);
  void reject(std::string_view id, std::uint64_t line, Error error);
  void note(std::string_view rule) { sink_.note(rule); }

  const RowRules& rules() const noexcept { return rules_; }

 private:
  const RowRules& rules_;
  const RowSink& sink_;
  std::string text_scratch_;
};

}  // namespace stoker::data
