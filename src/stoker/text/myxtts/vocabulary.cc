#include "stoker/text/symbol_table.h"
#include "stoker/text/vocabulary_registry.h"

namespace stoker::text::myxtts {
namespace {

constexpr std::string_view kSymbols =
    "_^~ abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "!\"#%&'()*+,-./:;=?@[\\]_`{|}~";
static_assert(kSymbols.size() == 94);

class MyxttsVocabulary final : public Vocabulary {
 public:
  MyxttsVocabulary() {
    std::int32_t id = 0;
    for (const char symbol : kSymbols) table_.set(static_cast<unsigned char>(symbol), id++);
  }

  std::string_view name() const noexcept override { return "myxtts"; }
  std::size_t size() const noexcept override { return kSymbols.size(); }
  SpecialIds specials() const noexcept override {
    return {.pad = 0,
            .unknown = kNoId,
            .blank = table_.find('_'),
            .begin = table_.find('^'),
            .end = table_.find('~')};
  }
  SequenceStyle style() const noexcept override {
    return {.has_edges = true, .blanks = BlankPlacement::kAfterEachButSpace};
  }

  std::string symbol(std::int32_t id) const override {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < kSymbols.size();
    return known ? std::string(1, kSymbols[static_cast<std::size_t>(id)]) : std::string();
  }

  void encode(std::string_view text, std::vector<std::int32_t>& ids,
              std::vector<UnknownSymbol>& unknown) const override {
    encode_characters(table_, text, ids, unknown);
  }

 private:
  SymbolTable table_;
};

}  // namespace

std::shared_ptr<const Vocabulary> make_vocabulary() {
  return std::make_shared<const MyxttsVocabulary>();
}

}  // namespace stoker::text::myxtts
