// The pronunciations that are kept beside a data set: phonemes.csv, one line `id|phones` each.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"

namespace stoker::text {

// Immutable once parsed.
class PhonemeSidecar {
 public:
  // `content` is the whole file; phones are separated by spaces. BOM, CRLF and a missing final
  // newline are fine. E-TEXT-PHONES names the line that has no `|`, no id, no phones or an id
  // seen before.
  static Result<PhonemeSidecar> parse(std::string_view content, const std::string& file);

  // The phones of an utterance, or nothing when the file does not have it.
  const std::string* find(std::string_view id) const;
  std::size_t num_utterances() const noexcept { return phones_by_id_.size(); }
  // Every phone of the file once, sorted.
  std::vector<std::string> symbols() const;

 private:
  std::map<std::string, std::string, std::less<>> phones_by_id_;
};

}  // namespace stoker::text
