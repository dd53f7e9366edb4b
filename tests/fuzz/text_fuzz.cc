// Any bytes through every cleaner and vocabulary: the first byte chooses, the rest is the text.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/invariant.h"
#include "stoker/base/utf8.h"
#include "stoker/text/tokenizer.h"

namespace stoker::text {
namespace {

std::vector<Tokenizer> make_tokenizers() {
  std::vector<Tokenizer> tokenizers;
  tokenizers.emplace_back(TokenizerOptions{});
  tokenizers.emplace_back(TokenizerOptions{.language = "fa", .add_blank = true});
  tokenizers.emplace_back(TokenizerOptions{.vocabulary = "myxtts", .add_blank = true});
  tokenizers.emplace_back(TokenizerOptions{.language = "de", .unknown = UnknownPolicy::kUnknownId});
  tokenizers.emplace_back(TokenizerOptions{.language = "fa", .vocabulary = "bytes"});
  tokenizers.emplace_back(TokenizerOptions{.unknown = UnknownPolicy::kReject});
  return tokenizers;
}

void check_ids(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  const auto num_symbols = static_cast<std::int32_t>(tokenizer.vocabulary().size());
  for (const std::int32_t id : ids)
    check_invariant(id >= 0 && id < num_symbols, "an id is outside the vocabulary");
}

void run_one(std::uint8_t choice, std::string_view text) {
  static const std::vector<Tokenizer> tokenizers = make_tokenizers();
  static TokenizeScratch scratch;
  static std::vector<std::int32_t> ids;
  static std::string again;
  const Tokenizer& tokenizer = tokenizers[choice % tokenizers.size()];
  const TokenizeOutcome outcome = tokenizer.tokenize(text, scratch, ids);
  check_invariant((outcome == TokenizeOutcome::kDone) == !ids.empty(), "ids and outcome disagree");
  check_ids(tokenizer, ids);
  const std::string& words = scratch.normalized;
  const bool native = tokenizer.cleaner().name() != "english_cleaners";
  if (native) check_invariant(find_invalid_utf8(words) == words.size(), "words are not UTF-8");
  tokenizer.cleaner().explain(text, again);
  check_invariant(again == words, "explaining changed the words");
}

}  // namespace
}  // namespace stoker::text

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  stoker::text::run_one(data[0],
                        std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
