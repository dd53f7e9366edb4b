// The vocabularies by name, with room for more.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/vocabulary.h"

namespace stoker::text {

// What a vocabulary may need to be made; each takes what concerns it.
struct VocabularyRequest {
  std::string language = "en";
  std::vector<std::string> phones = {};  // the inventory, for "phonemes"
  std::string model_file = {};           // for vocabularies that are read from a file
};

// Not thread-safe while vocabularies are being added.
class VocabularyRegistry {
 public:
  using Factory = std::function<std::shared_ptr<const Vocabulary>(const VocabularyRequest&)>;

  // characters, bytes, myxtts, phonemes, sentencepiece.
  static VocabularyRegistry with_builtins();

  // A later factory of the same name replaces the earlier one.
  void add(std::string name, Factory factory);
  std::vector<std::string> names() const;
  // E-TEXT-VOCABULARY with the nearest name when there is none of this name.
  std::shared_ptr<const Vocabulary> make(std::string_view name,
                                         const VocabularyRequest& request) const;

 private:
  std::map<std::string, Factory, std::less<>> factories_;
};

}  // namespace stoker::text
