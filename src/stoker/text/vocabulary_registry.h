// The vocabularies, and how they are found by name.
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

// The built-in vocabularies. The native one, of the letters and marks of one language, case folded:
// Ids 0–4 are <pad> <unk> <blank> <bos> <eos>, then the space, the marks and the letters of the
// language in a fixed order. English and Persian have lists of their own; other languages take
// their letters from ICU.
std::shared_ptr<const Vocabulary> make_character_vocabulary(std::string_view language);

// The one that has every text of every language: its UTF-8 bytes.
// Id of byte b is b + 5; nothing is ever unknown.
std::shared_ptr<const Vocabulary> make_byte_vocabulary();

// Of pronunciations: whole phones separated by spaces.
// `phones` without repetition, in the order of their ids, which start at 5.
std::shared_ptr<const Vocabulary> make_phoneme_vocabulary(std::vector<std::string> phones);

namespace myxtts {

// The symbol list of myxtts, its two doubled symbols included.
// 94 entries; "_" and "~" occur twice and the later place counts, so the blank is 88 and the end
// 93. Every symbol but the space is followed by a blank. Batches were padded with 0.
std::shared_ptr<const Vocabulary> make_vocabulary();

}  // namespace myxtts

}  // namespace stoker::text
