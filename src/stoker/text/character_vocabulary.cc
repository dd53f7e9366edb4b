#include "stoker/text/vocabulary_registry.h"

#include <unicode/uchar.h>
#include <unicode/ulocdata.h>
#include <unicode/uset.h>

#include <string>

#include "stoker/base/utf8.h"
#include "stoker/text/symbol_table.h"

namespace stoker::text {
namespace {

constexpr std::string_view kMarks = " !\"'(),-.:;?[]";
// Letters that English borrows with its loan words come after its own.
constexpr std::string_view kEnglish = "abcdefghijklmnopqrstuvwxyzàáâäåæçèéêëìíîïñòóôöøùúûüœ";
// Latin names occur in Persian texts too.
constexpr std::string_view kLatin = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kPersian = "\u200C،؛؟آابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیءأؤئۀ\u0654";

// Adds every code point of `characters` that is not there yet.
void add_characters(std::vector<std::uint32_t>& list, std::string_view characters) {
  while (!characters.empty()) {
    const Utf8Char next = decode_utf8(characters);
    list.push_back(next.code_point);
    characters.remove_prefix(next.size_bytes);
  }
}

// The letters ICU lists as a language's own, in code point order.
void add_exemplars(std::vector<std::uint32_t>& list, const std::string& language) {
  UErrorCode status = U_ZERO_ERROR;
  ULocaleData* data = ulocdata_open(language.c_str(), &status);
  USet* letters = ulocdata_getExemplarSet(data, nullptr, 0, ULOCDATA_ES_STANDARD, &status);
  const std::int32_t num_letters = U_SUCCESS(status) != 0 ? uset_size(letters) : 0;
  for (std::int32_t i = 0; i < num_letters; ++i) {
    const UChar32 letter = uset_charAt(letters, i);
    if (letter >= 0) list.push_back(static_cast<std::uint32_t>(letter));
  }
  uset_close(letters);
  ulocdata_close(data);
}

std::vector<std::uint32_t> characters_of(std::string_view language) {
  const std::string_view primary = language.substr(0, language.find_first_of("-_"));
  std::vector<std::uint32_t> list;
  add_characters(list, kMarks);
  if (primary == "en") {
    add_characters(list, kEnglish);
  } else if (primary == "fa") {
    add_characters(list, kPersian);
    add_characters(list, kLatin);
  } else {
    add_exemplars(list, std::string(primary));
  }
  return list;
}

class CharacterVocabulary final : public Vocabulary {
 public:
  explicit CharacterVocabulary(std::string_view language) : characters_(characters_of(language)) {
    std::int32_t id = kFirstNativeSymbol;
    for (const std::uint32_t character : characters_) {
      const auto upper = static_cast<std::uint32_t>(u_toupper(static_cast<UChar32>(character)));
      if (table_.find(upper) == kNoId) table_.set(upper, id);
      table_.set(character, id);
      ++id;
    }
  }

  std::string_view name() const noexcept override { return "characters"; }
  std::size_t size() const noexcept override { return characters_.size() + kFirstNativeSymbol; }
  SpecialIds specials() const noexcept override { return kNativeIds; }

  std::string symbol(std::int32_t id) const override {
    if (id < kFirstNativeSymbol) return native_special_name(id);
    const auto index = static_cast<std::size_t>(id - kFirstNativeSymbol);
    std::string out;
    if (index < characters_.size()) append_utf8(out, characters_[index]);
    return out;
  }

  void encode(std::string_view text, std::vector<std::int32_t>& ids,
              std::vector<UnknownSymbol>& unknown) const override {
    encode_characters(table_, text, ids, unknown);
  }

 private:
  std::vector<std::uint32_t> characters_;
  SymbolTable table_;
};

}  // namespace

std::shared_ptr<const Vocabulary> make_character_vocabulary(std::string_view language) {
  return std::make_shared<const CharacterVocabulary>(language);
}

}  // namespace stoker::text
