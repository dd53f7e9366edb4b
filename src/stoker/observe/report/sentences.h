// The sentences of a diagnosis in Persian. The diagnosis makes them in English; here each has its
// pattern and the same in Persian.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoker::observe {

struct SentencePair {
  std::string_view english;  // with "{}" where values are
  std::string_view persian;  // with as many, in the same order
};
std::span<const SentencePair> all_sentences();

// The sentence in Persian; what matches no pattern (a name, a file, a figure) stays as it is.
// Values that are sentences or words of the table are replaced too.
std::string in_persian(std::string_view english);

}  // namespace stoker::observe
