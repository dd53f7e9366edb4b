#include "stoker/text/symbol_table.h"

#include <algorithm>

#include "stoker/base/utf8.h"

namespace stoker::text {
namespace {

constexpr std::uint32_t kNumDirect = 0x2100;  // Latin to Arabic and general punctuation

auto lower_bound(auto& entries, std::uint32_t code_point) {
  return std::lower_bound(entries.begin(), entries.end(), code_point,
                          [](const auto& entry, std::uint32_t c) { return entry.first < c; });
}

}  // namespace

SymbolTable::SymbolTable() : direct_(kNumDirect, kNoId) {}

void SymbolTable::set(std::uint32_t code_point, std::int32_t id) {
  if (code_point < kNumDirect) {
    direct_[code_point] = id;
    return;
  }
  const auto at = lower_bound(others_, code_point);
  if (at != others_.end() && at->first == code_point) {
    at->second = id;
  } else {
    others_.insert(at, {code_point, id});
  }
}

std::int32_t SymbolTable::find(std::uint32_t code_point) const noexcept {
  if (code_point < kNumDirect) return direct_[code_point];
  const auto at = lower_bound(others_, code_point);
  return at != others_.end() && at->first == code_point ? at->second : kNoId;
}

void encode_characters(const SymbolTable& table, std::string_view text,
                       std::vector<std::int32_t>& ids, std::vector<UnknownSymbol>& unknown) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    const std::int32_t id = next.valid ? table.find(next.code_point) : kNoId;
    ids.push_back(id);
    if (id == kNoId) count_unknown(unknown, text.substr(at, next.size_bytes));
    at += next.size_bytes;
  }
}

}  // namespace stoker::text
