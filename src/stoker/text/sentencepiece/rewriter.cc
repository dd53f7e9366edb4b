#include "stoker/text/sentencepiece/rewriter.h"

#include <utility>
#include <vector>

#include "stoker/base/utf8.h"
#include "stoker/text/errors.h"

namespace stoker::text::sentencepiece {
namespace {

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return word;
}

}  // namespace

Result<Rewriter> Rewriter::make(const PieceTable& table, const std::string& file) {
  Rewriter rewriter(table);
  const std::string_view rewrites = table.model().rewrites;
  if (rewrites.empty()) return rewriter;
  // Length of the trie in bytes, the trie, the replacements.
  const std::uint64_t trie_bytes = rewrites.size() < 4 ? 1 : word_at(rewrites, 0);
  if (trie_bytes % 4 != 0 || trie_bytes > rewrites.size() - 4)
    return Error{.code = &kTextModel,
                 .place = {.file = file},
                 .promised = "a table of rewrites as long as it says",
                 .found = "another length",
                 .action = {},
                 .cure = {}};
  std::vector<std::uint32_t> units(trie_bytes / 4);
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = word_at(rewrites, 4 + 4 * i);
  rewriter.rules_ = DoubleArray(std::move(units));
  rewriter.replacements_ = rewrites.substr(4 + static_cast<std::size_t>(trie_bytes));
  return rewriter;
}

Rewriter::Part Rewriter::first_part(std::string_view text) const {
  if (const std::size_t size_bytes = table_->user_defined_bytes(text))
    return {text.substr(0, size_bytes), size_bytes};
  if (const auto rule = rules_.longest_prefix(text)) {
    const std::string_view rest =
        std::string_view(replacements_)
            .substr(std::min<std::size_t>(rule->value, replacements_.size()));
    return {rest.substr(0, rest.find('\0')), rule->size_bytes};
  }
  const Utf8Char next = decode_utf8(text);
  if (!next.valid) return {"\xEF\xBF\xBD", 1};
  return {text.substr(0, next.size_bytes), next.size_bytes};
}

void Rewriter::append(std::string_view part, std::string& out) const {
  for (const char c : part) {
    if (c == ' ')
      out += space();
    else
      out += c;
  }
}

std::string Rewriter::rewritten(std::string_view text) const {
  const Model& model = table_->model();
  while (model.removes_extra_spaces && !text.empty()) {
    const Part part = first_part(text);
    if (part.text != " ") break;
    text.remove_prefix(part.size_bytes);
  }
  std::string out;
  if (text.empty()) return out;
  const bool adds_before = model.adds_dummy_prefix && !model.has_space_as_suffix;
  const bool adds_behind = model.adds_dummy_prefix && model.has_space_as_suffix;
  if (adds_before) out += space();
  bool is_after_space = model.removes_extra_spaces;
  while (!text.empty()) {
    const Part part = first_part(text);
    std::string_view kept = part.text;
    while (is_after_space && kept.starts_with(' ')) kept.remove_prefix(1);
    if (!kept.empty()) {
      append(kept, out);
      is_after_space = model.removes_extra_spaces && kept.ends_with(' ');
    }
    text.remove_prefix(part.size_bytes);
  }
  while (model.removes_extra_spaces && std::string_view(out).ends_with(space()))
    out.resize(out.size() - space().size());
  if (adds_behind) out += space();
  return out;
}

}  // namespace stoker::text::sentencepiece
