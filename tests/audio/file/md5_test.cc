#include "stoker/audio/file/md5.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stoker/base/bytes.h"

namespace stoker::audio {
namespace {

TEST(Md5Test, PublishedVectors) {
  const auto hex = [](std::string_view text) {
    Md5 md5;
    md5.add(view_bytes(text));
    std::string out;
    for (const std::byte byte : md5.finish()) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += kDigits[std::to_integer<std::size_t>(byte >> 4)];
      out += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return out;
  };
  EXPECT_EQ(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace
}  // namespace stoker::audio
