#include "stoker/base/utf8.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Utf8Test, AcceptsEveryLengthAndRoundTrips) {
  for (const std::uint32_t code_point : {0x24U, 0xA2U, 0x20ACU, 0x10348U, 0x10FFFFU}) {
    std::string text;
    append_utf8(text, code_point);
    EXPECT_EQ(find_invalid_utf8(text), text.size());
    EXPECT_EQ(decode_utf8(text).code_point, code_point);
  }
}

TEST(Utf8Test, RefusesOverlongSurrogateTooLargeAndCutForms) {
  for (const std::string_view bad :
       {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xFF"}) {
    EXPECT_EQ(find_invalid_utf8(bad), 0U) << "size " << bad.size();
  }
}

TEST(Utf8Test, NamesTheByteWhereItBreaks) { EXPECT_EQ(find_invalid_utf8("ab\xC3(x"), 2U); }

}  // namespace
}  // namespace stoker
