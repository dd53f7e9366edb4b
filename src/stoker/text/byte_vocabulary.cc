#include "stoker/text/vocabulary_registry.h"

#include <fmt/format.h>

namespace stoker::text {
namespace {

constexpr std::int32_t kNumBytes = 256;

class ByteVocabulary final : public Vocabulary {
 public:
  std::string_view name() const noexcept override { return "bytes"; }
  std::size_t size() const noexcept override { return kNumBytes + kFirstNativeSymbol; }
  SpecialIds specials() const noexcept override { return kNativeIds; }

  std::string symbol(std::int32_t id) const override {
    if (id < kFirstNativeSymbol) return native_special_name(id);
    const std::int32_t byte = id - kFirstNativeSymbol;
    if (byte >= kNumBytes) return {};
    const bool printable = byte >= ' ' && byte < 0x7F;
    return printable ? std::string(1, static_cast<char>(byte)) : fmt::format("<0x{:02X}>", byte);
  }

  void encode(std::string_view text, std::vector<std::int32_t>& ids,
              std::vector<UnknownSymbol>&) const override {
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c) + kFirstNativeSymbol);
  }
};

}  // namespace

std::shared_ptr<const Vocabulary> make_byte_vocabulary() {
  return std::make_shared<const ByteVocabulary>();
}

}  // namespace stoker::text
