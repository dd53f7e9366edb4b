#include "stoker/text/tokenizer.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "stoker/base/invariant.h"
#include "stoker/base/utf8.h"
#include "stoker/text/cleaner.h"
#include "stoker/text/errors.h"
#include "stoker/text/scan.h"

namespace stoker::text {
namespace {

std::string_view cleaner_name(const TokenizerOptions& options) {
  if (options.cleaner != "auto") return options.cleaner;
  if (options.vocabulary == "myxtts") return "english_cleaners";
  return options.vocabulary == "phonemes" ? "none" : "auto";
}

// Whether anything is left to speak: a letter or a digit of any script.
bool can_be_spoken(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    if (is_letter(text[at]) || is_digit(text[at])) return true;
    const Utf8Char next = decode_utf8(text.substr(at));
    if (next.valid && next.code_point >= 0x80 &&
        u_isalnum(static_cast<UChar32>(next.code_point)) != 0)
      return true;
    at += next.size_bytes;
  }
  return false;
}

std::string code_points(std::string_view symbol) {
  std::string out;
  while (!symbol.empty()) {
    const Utf8Char next = decode_utf8(symbol);
    out += fmt::format("{}U+{:04X}", out.empty() ? "" : " ", next.code_point);
    symbol.remove_prefix(next.size_bytes);
  }
  return out;
}

std::string_view policy_name(UnknownPolicy policy) noexcept {
  switch (policy) {
    case UnknownPolicy::kDrop:
      return "drop";
    case UnknownPolicy::kUnknownId:
      return "unk";
    case UnknownPolicy::kReject:
      break;
  }
  return "reject";
}

}  // namespace

Tokenizer::Tokenizer(const TokenizerOptions& options, const VocabularyRegistry& registry)
    : options_(options) {
  vocabulary_ = registry.make(
      options.vocabulary,
      {.language = options.language, .phones = options.phones, .model_file = options.model_file});
  cleaner_ = cleaner_for(cleaner_name(options), options.language);
  const bool lacks_unknown = vocabulary_->specials().unknown == kNoId;
  if (options.unknown == UnknownPolicy::kUnknownId && lacks_unknown) {
    raise({.code = &kTextVocabulary,
           .place = {},
           .promised = "an id for unknown symbols",
           .found = "none in the vocabulary \"" + options.vocabulary + "\"",
           .action = {},
           .cure = "set the policy for unknown characters to drop or reject"});
  }
  std::vector<UnknownSymbol> unknown;
  std::vector<std::int32_t> ids;
  vocabulary_->encode(" ", ids, unknown);
  if (!ids.empty()) space_id_ = ids.front();
}

TokenizeOutcome Tokenizer::tokenize(std::string_view text, TokenizeScratch& scratch,
                                    std::vector<std::int32_t>& ids) const {
  ids.clear();
  scratch.symbol_ids.clear();
  scratch.unknown.clear();
  scratch.num_symbols = 0;
  cleaner_->normalize(text, scratch.normalize, scratch.normalized);
  if (!can_be_spoken(scratch.normalized)) return TokenizeOutcome::kNoText;
  vocabulary_->encode(scratch.normalized, scratch.symbol_ids, scratch.unknown);
  scratch.num_symbols = scratch.symbol_ids.size();
  if (options_.unknown == UnknownPolicy::kReject) {
    if (scratch.normalize.num_removed != 0) return TokenizeOutcome::kControl;
    if (!scratch.unknown.empty()) return TokenizeOutcome::kUnknown;
  }
  if (!scratch.unknown.empty()) {
    if (options_.unknown == UnknownPolicy::kUnknownId) {
      std::replace(scratch.symbol_ids.begin(), scratch.symbol_ids.end(), kNoId,
                   vocabulary_->specials().unknown);
    } else {
      std::erase(scratch.symbol_ids, kNoId);
    }
  }
  if (scratch.symbol_ids.empty()) return TokenizeOutcome::kNoText;
  dress(scratch.symbol_ids, ids);
  return TokenizeOutcome::kDone;
}

void Tokenizer::dress(const std::vector<std::int32_t>& symbol_ids,
                      std::vector<std::int32_t>& ids) const {
  const SpecialIds special = vocabulary_->specials();
  const SequenceStyle style = vocabulary_->style();
  ids.reserve(symbol_ids.size() * 2 + 3);
  if (style.has_edges) ids.push_back(special.begin);
  const bool around = options_.add_blank && style.blanks == BlankPlacement::kAround;
  if (around) ids.push_back(special.blank);
  for (const std::int32_t id : symbol_ids) {
    ids.push_back(id);
    if (around || (options_.add_blank && id != space_id_)) ids.push_back(special.blank);
  }
  if (style.has_edges) ids.push_back(special.end);
}

std::string Tokenizer::identity() const {
  return fmt::format("language={} cleaner={}/{} vocabulary={}/{} add_blank={} unknown={}",
                     options_.language, cleaner_->name(), cleaner_->version(), vocabulary_->name(),
                     vocabulary_digest(*vocabulary_), options_.add_blank ? 1 : 0,
                     policy_name(options_.unknown));
}

Error tokenize_error(TokenizeOutcome outcome, const TokenizeScratch& scratch, Place place) {
  check_invariant(outcome != TokenizeOutcome::kDone, "tokenize_error of a text that was tokenised");
  Error error{.code = &kMetaNoText,
              .place = std::move(place),
              .promised = "words to speak",
              .found = "none after cleaning",
              .action = "row rejected",
              .cure = {}};
  if (outcome == TokenizeOutcome::kUnknown) {
    const UnknownSymbol& first = scratch.unknown.front();
    error.code = &kTextUnknown;
    error.promised = "characters of the vocabulary";
    error.found = fmt::format("\"{}\" ({})", first.symbol, code_points(first.symbol));
    if (scratch.unknown.size() > 1)
      error.found += fmt::format(" and {} more", scratch.unknown.size() - 1);
  }
  if (outcome == TokenizeOutcome::kControl) {
    error.code = &kTextControl;
    error.promised = "visible characters";
    error.found = fmt::format("{} invisible", scratch.normalize.num_removed);
  }
  return error;
}

}  // namespace stoker::text
