#include "stoker/data/voice/sentence.h"

#include "stoker/base/invariant.h"
#include "stoker/data/voice/grammar.h"
#include "stoker/data/voice/numbers.h"
#include "stoker/data/voice/persian/spelling.h"

namespace stoker::data::voice {
namespace {

class Expander {
 public:
  Expander(Language language, KeyedDraws& draws)
      : language_(language),
        grammar_(language == Language::kPersian ? persian_grammar() : english_grammar()),
        draws_(draws) {}

  // Appends one phrase of the list `name` to both texts.
  void expand_list(std::string_view name) {
    for (const PhraseList& list : grammar_.lists) {
      if (list.name != name) continue;
      expand_phrase(list.phrases[draws_.next_below(list.phrases.size())]);
      return;
    }
    check_invariant(false, "the grammar names a list that does not exist");
  }

  Sentence finish() {
    capitalise(written_);
    capitalise(read_);
    return {drop_vowel_signs(written_), drop_vowel_signs(read_), read_};
  }

 private:
  void expand_phrase(std::string_view phrase) {
    while (!phrase.empty()) {
      const std::size_t special = phrase.find_first_of("{<");
      put(phrase.substr(0, special));
      if (special == std::string_view::npos) return;
      const std::size_t end = phrase.find_first_of("}>", special);
      check_invariant(end != std::string_view::npos, "a phrase of the grammar lacks its bracket");
      expand_special(phrase[special], phrase.substr(special + 1, end - special - 1));
      phrase.remove_prefix(end + 1);
    }
  }

  void expand_special(char bracket, std::string_view inside) {
    if (bracket == '<') {
      const std::size_t equals = inside.find('=');
      written_ += inside.substr(0, equals);
      read_ += inside.substr(equals + 1);
    } else if (inside.starts_with('#')) {
      const WrittenAndRead number = draw_number(language_, inside.substr(1), draws_);
      written_ += number.written;
      read_ += number.read;
    } else {
      expand_list(inside);
    }
  }

  void put(std::string_view both) {
    written_ += both;
    read_ += both;
  }

  static void capitalise(std::string& text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
      text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
  }

  Language language_;
  const Grammar& grammar_;
  KeyedDraws& draws_;
  std::string written_;
  std::string read_;
};

}  // namespace

Sentence draw_sentence(Language language, SentenceSize size, KeyedDraws& draws) {
  Expander expander(language, draws);
  switch (size) {
    case SentenceSize::kShort:
      expander.expand_list("short");
      break;
    case SentenceSize::kPlain:
      expander.expand_list("plain");
      break;
    case SentenceSize::kLong:
      expander.expand_list("long");
      break;
  }
  return expander.finish();
}

}  // namespace stoker::data::voice
