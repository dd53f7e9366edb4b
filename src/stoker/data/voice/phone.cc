#include "stoker/data/voice/phone.h"

#include "stoker/data/voice/english/phones.h"
#include "stoker/data/voice/persian/phones.h"

namespace stoker::data::voice {

std::span<const Phone> phones_of(Language language) {
  if (language == Language::kPersian) return kPersianPhones;
  return kEnglishPhones;
}

const Phone* find_phone(Language language, std::string_view symbol) {
  if (!symbol.empty() && symbol.back() >= '0' && symbol.back() <= '2') symbol.remove_suffix(1);
  for (const Phone& phone : phones_of(language)) {
    if (phone.symbol == symbol) return &phone;
  }
  return nullptr;
}

}  // namespace stoker::data::voice
