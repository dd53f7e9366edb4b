#include "stoker/text/vocabulary_registry.h"

#include <algorithm>
#include <map>

namespace stoker::text {
namespace {

class PhonemeVocabulary final : public Vocabulary {
 public:
  explicit PhonemeVocabulary(std::vector<std::string> phones) : phones_(std::move(phones)) {
    std::int32_t id = kFirstNativeSymbol;
    for (const std::string& phone : phones_) ids_.emplace(phone, id++);
  }

  std::string_view name() const noexcept override { return "phonemes"; }
  std::size_t size() const noexcept override { return phones_.size() + kFirstNativeSymbol; }
  SpecialIds specials() const noexcept override { return kNativeIds; }

  std::string symbol(std::int32_t id) const override {
    if (id < kFirstNativeSymbol) return native_special_name(id);
    const auto index = static_cast<std::size_t>(id - kFirstNativeSymbol);
    return index < phones_.size() ? phones_[index] : std::string();
  }

  void encode(std::string_view text, std::vector<std::int32_t>& ids,
              std::vector<UnknownSymbol>& unknown) const override {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const std::string_view phone = text.substr(at, end - at);
      at = end + 1;
      if (phone.empty()) continue;
      const auto found = ids_.find(phone);
      ids.push_back(found == ids_.end() ? kNoId : found->second);
      if (found == ids_.end()) count_unknown(unknown, phone);
    }
  }

 private:
  std::vector<std::string> phones_;
  std::map<std::string, std::int32_t, std::less<>> ids_;
};

}  // namespace

std::shared_ptr<const Vocabulary> make_phoneme_vocabulary(std::vector<std::string> phones) {
  return std::make_shared<const PhonemeVocabulary>(std::move(phones));
}

}  // namespace stoker::text
