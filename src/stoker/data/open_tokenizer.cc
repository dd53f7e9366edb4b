#include "stoker/data/open_tokenizer.h"

#include <fmt/format.h>

#include <string>

#include "stoker/base/bytes.h"
#include "stoker/base/utf8.h"
#include "stoker/data/from_settings.h"
#include "stoker/text/errors.h"
#include "stoker/text/phoneme_sidecar.h"

namespace stoker::data {
namespace {

constexpr std::uint64_t kSidecarLimitBytes = std::uint64_t{1} << 30U;

std::vector<std::string> load_phones(const std::string& path, Io& io) {
  const File file = open_file(io, path, OpenFor::kRead).take_or_raise();
  const auto bytes = read_whole(file, kSidecarLimitBytes).take_or_raise();
  return text::PhonemeSidecar::parse(view_text(bytes), path).take_or_raise().symbols();
}

}  // namespace

text::Tokenizer open_tokenizer(const config::TextSettings& settings, Io& io) {
  text::TokenizerOptions options = tokenizer_options_of(settings);
  if (settings.vocabulary == "phonemes") options.phones = load_phones(settings.phonemes_file, io);
  return text::Tokenizer(options);
}

void require_utf8(std::string_view text) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == text.size()) return;
  raise({.code = &text::kTextEncoding,
         .place = {.file = "argument", .byte = bad},
         .promised = "UTF-8",
         .found = fmt::format("byte 0x{:02X}", static_cast<unsigned char>(text[bad]))});
}

std::vector<std::int32_t> tokenize_text(const text::Tokenizer& tokenizer, std::string_view text,
                                        text::TokenizeScratch& scratch) {
  require_utf8(text);
  std::vector<std::int32_t> ids;
  const text::TokenizeOutcome outcome = tokenizer.tokenize(text, scratch, ids);
  if (outcome == text::TokenizeOutcome::kDone) return ids;
  Error error = text::tokenize_error(outcome, scratch, {});
  error.action = "text rejected";
  raise(std::move(error));
}

}  // namespace stoker::data
