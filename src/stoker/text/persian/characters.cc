#include "stoker/text/persian/characters.h"

#include "stoker/text/characters.h"

namespace stoker::text::persian {
namespace {

constexpr std::uint32_t kNonJoiner = 0x200C;

bool is_dropped(std::uint32_t c) noexcept {
  return c == 0x640 || (c >= 0x64B && c <= 0x652) || c == 0x670 || (c >= 0x656 && c <= 0x65F) ||
         (c >= 0x610 && c <= 0x61A);
}

}  // namespace

bool map_persian(std::uint32_t c, std::string& out) {
  if (c < 0x80) return false;
  if (is_dropped(c)) return true;
  if (c >= 0x6F0 && c <= 0x6F9) {
    out += static_cast<char>('0' + (c - 0x6F0));
    return true;
  }
  if (c >= 0x660 && c <= 0x669) {
    out += static_cast<char>('0' + (c - 0x660));
    return true;
  }
  switch (c) {
    case 0x64A:  // Arabic Yeh
    case 0x649:  // Alef maksura
      out += "ی";
      return true;
    case 0x643:  // Arabic Kaf
      out += "ک";
      return true;
    case 0x629:  // Teh marbuta
    case 0x6D5:
      out += "ه";
      return true;
    case 0x671:  // Alef wasla
    case 0x625:
      out += "ا";
      return true;
    case 0x66A:
      out += '%';
      return true;
    case 0x66B:
      out += '.';
      return true;
    case 0x66C:
      out += ',';
      return true;
    case 0xFDFC:
      out += " ریال";
      return true;
    case kNonJoiner:
      // Two in a row, or one beside a space, join nothing.
      if (!out.empty() && out.back() != ' ' && !out.ends_with("\u200C")) out += "\u200C";
      return true;
    default:
      return map_latin(c, out);
  }
}

}  // namespace stoker::text::persian
