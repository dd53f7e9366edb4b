// The whole way from a raw transcript to ids: clean, look up, dress.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/text/normalizer.h"
#include "stoker/text/vocabulary.h"
#include "stoker/text/vocabulary_registry.h"

namespace stoker::text {

// What becomes of a symbol outside the vocabulary, and of invisible characters: kReject refuses
// the text for either.
enum class UnknownPolicy { kDrop, kUnknownId, kReject };

struct TokenizerOptions {
  std::string language = "en";
  std::string vocabulary = "characters";
  // auto: what belongs to the vocabulary (english_cleaners for myxtts, none for phonemes, else the
  // rules of the language).
  std::string cleaner = "auto";
  bool add_blank = false;
  UnknownPolicy unknown = UnknownPolicy::kDrop;
  std::vector<std::string> phones = {};  // the inventory, for the vocabulary "phonemes"
  std::string model_file = {};           // for the vocabulary "sentencepiece"
};

// Working memory of one thread and what it found in the last text.
struct TokenizeScratch {
  NormalizeScratch normalize;
  std::string normalized;
  std::vector<std::int32_t> symbol_ids;
  std::uint64_t num_symbols = 0;       // of the words, unknown ones among them
  std::vector<UnknownSymbol> unknown;  // in order of first appearance
};

enum class TokenizeOutcome {
  kDone,
  kNoText,   // nothing that can be spoken is left: A17
  kUnknown,  // a symbol outside the vocabulary, under kReject: A21
  kControl,  // invisible characters, under kReject: A16
};

// Immutable; one instance serves every thread, each with its own scratch. A warm scratch makes
// tokenize free of allocation for text in NFC.
class Tokenizer {
 public:
  // ConfigError for names that do not exist and for kUnknownId without such an id.
  explicit Tokenizer(const TokenizerOptions& options,
                     const VocabularyRegistry& registry = VocabularyRegistry::with_builtins());

  // Replaces `ids`; they are complete only with kDone.
  TokenizeOutcome tokenize(std::string_view text, TokenizeScratch& scratch,
                           std::vector<std::int32_t>& ids) const;

  const Normalizer& cleaner() const noexcept { return *cleaner_; }
  const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }
  const TokenizerOptions& options() const noexcept { return options_; }
  // Everything that decides the ids, in one line for digests and people.
  std::string identity() const;

 private:
  void dress(const std::vector<std::int32_t>& symbol_ids, std::vector<std::int32_t>& ids) const;

  TokenizerOptions options_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Normalizer> cleaner_;
  std::int32_t space_id_ = kNoId;
};

// The Error of a text that was not tokenised, for rejects and messages. `outcome` is not kDone.
Error tokenize_error(TokenizeOutcome outcome, const TokenizeScratch& scratch, Place place);

}  // namespace stoker::text
