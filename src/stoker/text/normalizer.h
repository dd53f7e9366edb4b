// Turns raw sentences into the words a voice would say, by versioned rules of each language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::text {

// One change for people to look at: `rule` made `to` of `from`.
struct NormalizeStep {
  std::string_view rule;  // "money"; lives as long as the program
  std::string from;       // "$3.50"
  std::string to;         // "three dollars and fifty cents"
};

// Working memory of one thread, reused so that a warm normaliser allocates nothing.
struct NormalizeScratch {
  std::string cleaned;  // the text after the character step
  std::u16string wide;  // the three are used only where NFC may change something
  std::u16string composed;
  std::string utf8;
  std::uint64_t num_removed = 0;  // control, bidi and zero-width characters left out
};

// Immutable; one instance serves every thread, each with its own scratch.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  virtual std::string_view name() const noexcept = 0;  // "english", "persian", "unicode"
  // Part of the cache digest: raised whenever any sentence would come out differently.
  virtual std::uint32_t version() const noexcept = 0;

  // Replaces `out` by the words of `text`. Bytes that are not UTF-8 are left out and counted as
  // removed. A normalised sentence is unchanged by a second pass unless it spells something out
  // that reads like an abbreviation again.
  void normalize(std::string_view text, NormalizeScratch& scratch, std::string& out) const;
  std::string normalize(std::string_view text) const;

  // The same work, with every change it made in the order it made them.
  std::vector<NormalizeStep> explain(std::string_view text, std::string& out) const;

 protected:
  // `steps` is null on the hot path.
  virtual void run(std::string_view text, NormalizeScratch& scratch, std::string& out,
                   std::vector<NormalizeStep>* steps) const = 0;
};

// The normaliser of a language tag ("en", "en-GB", "fa", "de"): English and Persian have rules of
// their own; every other language gets Unicode normalisation and its numbers in words where ICU
// has them. E-TEXT-LANGUAGE when the tag names no language.
std::shared_ptr<const Normalizer> normalizer_for(std::string_view language);

// The default for languages without rules of their own: Unicode NFC and ICU's number words.
// `language` is a BCP 47 tag. Digits stay as they are where ICU has no words for that language.
std::shared_ptr<const Normalizer> make_unicode_normalizer(const std::string& language);

namespace english {
std::shared_ptr<const Normalizer> make_normalizer();
}
namespace persian {
std::shared_ptr<const Normalizer> make_normalizer();
}

}  // namespace stoker::text
