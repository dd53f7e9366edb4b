#include "stoker/data/vocabulary_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "stoker/data/data_set_record.h"
#include "stoker/text/errors.h"
#include "stoker/text/script.h"

namespace stoker::data {
namespace {

constexpr std::size_t kMostLookedAt = 256;

using TokenizerOf = std::function<const text::Tokenizer&(const Utterance&)>;

// What the vocabulary made of the texts that were looked at.
struct Fit {
  std::uint64_t num_symbols = 0;
  std::uint64_t num_unknown = 0;
  text::ScriptTally scripts;  // of the unknown ones
  std::string first_unknown;

  double unknown_share() const {
    return num_symbols == 0 ? 0.0
                            : static_cast<double>(num_unknown) / static_cast<double>(num_symbols);
  }
};

Fit look_at(const Index& index, const TokenizerOf& tokenizer_of) {
  Fit fit;
  text::TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  const std::size_t count = std::min(index.size(), kMostLookedAt);
  for (std::size_t i = 0; i < count; ++i) {
    const Utterance utterance = index[i * index.size() / count];
    tokenizer_of(utterance).tokenize(utterance.text, scratch, ids);
    fit.num_symbols += scratch.num_symbols;
    for (const text::UnknownSymbol& unknown : scratch.unknown) {
      fit.num_unknown += unknown.count;
      fit.scripts.add(unknown.symbol, unknown.count);
      if (fit.first_unknown.empty()) fit.first_unknown = unknown.symbol;
    }
  }
  return fit;
}

// The language whose vocabulary lacks least, of those that are written in the script; empty where
// none of them would do.
std::string fitting_language(const Index& index, const text::Script& script,
                             text::TokenizerOptions options, double max_fraction) {
  std::string best;
  double least = max_fraction;
  for (const std::string_view language : script.languages) {
    options.language = language;
    const text::Tokenizer tokenizer(options);
    const double share = look_at(index, [&](const Utterance&) -> const text::Tokenizer& {
                           return tokenizer;
                         }).unknown_share();
    if (share > least || (share == least && !best.empty())) continue;
    least = share;
    best = language;
  }
  return best;
}

std::string cure_of(const std::string& language) {
  constexpr std::string_view kAnyway = "text.max_unknown_fraction: 1 goes on all the same";
  if (language.empty())
    return fmt::format(
        "give --language with the language of the texts, or --vocabulary bytes, which has every "
        "character; {}",
        kAnyway);
  return fmt::format(
      "give --language {0}, or write {{\"language\": \"{0}\"}} into {1} beside the metadata; {2}",
      language, kRecordName, kAnyway);
}

}  // namespace

LanguageTokenizers make_tokenizers(text::TokenizerOptions options,
                                   std::span<const std::string> languages) {
  LanguageTokenizers out;
  for (const std::string& language : languages) {
    options.language = language;
    out.push_back(std::make_unique<text::Tokenizer>(options));
  }
  return out;
}

std::optional<Error> vocabulary_misfit(const Index& index, const LanguageTokenizers& tokenizers,
                                       double max_fraction) {
  if (index.size() == 0 || max_fraction >= 1.0) return std::nullopt;
  const Fit fit = look_at(index, [&](const Utterance& utterance) -> const text::Tokenizer& {
    return *tokenizers[utterance.language];
  });
  if (fit.unknown_share() <= max_fraction) return std::nullopt;
  const text::TokenizerOptions& options = tokenizers[index[0].language]->options();
  const text::Script script = fit.scripts.most_frequent();
  return Error{
      .code = &text::kTextMisfit,
      .place = {.file = index.sources().front().root.path()},
      .promised = fmt::format("at most {:.3g} % of the characters outside the vocabulary {} of {}",
                              100.0 * max_fraction, options.vocabulary, options.language),
      .found = fmt::format("{:.3g} %, most of them {}, such as \"{}\"", 100.0 * fit.unknown_share(),
                           script.name, escape_control(fit.first_unknown)),
      .cure = cure_of(fitting_language(index, script, options, max_fraction))};
}

}  // namespace stoker::data
