// Token records.
#include <cstring>

#include "stoker/cache/build/index_makers.h"
#include "stoker/cache/errors.h"
#include "stoker/text/errors.h"

namespace stoker::cache {
namespace {

std::string_view text_of(const TokenMaker::Source& source, const data::Utterance& utterance) {
  if (source.phonemes == nullptr) return utterance.text;
  const std::string* phones = source.phonemes->find(utterance.id);
  return phones == nullptr ? std::string_view() : std::string_view(*phones);
}

Digest128 digest_of_text(const TokenMaker::Source& source, const data::Utterance& utterance) {
  DigestStream stream;
  stream.add_text(text_of(source, utterance));
  stream.add_text(source.rows->index().languages()[utterance.language]);
  return stream.finish();
}

class TokenWorker final : public RecordMaker::Worker {
 public:
  explicit TokenWorker(const TokenMaker::Source& source) : source_(source) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    const data::Utterance utterance = (*source_.rows)[row];
    const std::string_view text = text_of(source_, utterance);
    out.source = digest_of_text(source_, utterance);
    out.source_bytes = text.size();
    const text::TokenizeOutcome outcome =
        source_.tokenizers[utterance.language]->tokenize(text, scratch_, ids_);
    if (outcome != text::TokenizeOutcome::kDone) {
      Place place;
      place.file = std::string(utterance.id);
      place.line = utterance.line;
      return text::tokenize_error(outcome, scratch_, place);
    }
    std::span<std::byte> payload =
        out.reset({ElementType::kI32, 1, {static_cast<std::uint32_t>(ids_.size())}});
    if (!ids_.empty()) std::memcpy(payload.data(), ids_.data(), payload.size());
    return {};
  }

 private:
  const TokenMaker::Source& source_;
  text::TokenizeScratch scratch_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

std::uint64_t TokenMaker::expected_bytes(std::size_t row) const {
  // Blanks and edges at most double a text; words for numbers rarely more.
  return 4 * (4 * text_of(source_, (*source_.rows)[row]).size() + 16);
}

Result<Digest128> TokenMaker::source_digest(std::size_t row) const {
  return digest_of_text(source_, (*source_.rows)[row]);
}

std::unique_ptr<RecordMaker::Worker> TokenMaker::make_worker() const {
  return std::make_unique<TokenWorker>(source_);
}

}  // namespace stoker::cache
