#include "stoker/text/vocabulary.h"

#include <array>

#include "stoker/base/digest/digest.h"

namespace stoker::text {

std::string native_special_name(std::int32_t id) {
  constexpr std::array<std::string_view, kFirstNativeSymbol> kNames{"<pad>", "<unk>", "<blank>",
                                                                    "<bos>", "<eos>"};
  const bool known = id >= 0 && id < kFirstNativeSymbol;
  return known ? std::string(kNames[static_cast<std::size_t>(id)]) : std::string();
}

void count_unknown(std::vector<UnknownSymbol>& unknown, std::string_view symbol) {
  for (UnknownSymbol& entry : unknown) {
    if (entry.symbol != symbol) continue;
    ++entry.count;
    return;
  }
  unknown.push_back({std::string(symbol), 1});
}

std::string vocabulary_digest(const Vocabulary& vocabulary) {
  DigestStream stream;
  stream.add_text(vocabulary.name());
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    stream.add_text(vocabulary.symbol(static_cast<std::int32_t>(id)));
  }
  if (const std::string identity = vocabulary.identity(); !identity.empty())
    stream.add_text(identity);
  return stream.finish().hex();
}

}  // namespace stoker::text
