#include "stoker/text/vocabulary.h"

#include "stoker/base/digest/digest.h"

namespace stoker::text {

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
