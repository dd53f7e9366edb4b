#include "stoker/base/io/stream_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace stoker {
namespace {

constexpr std::byte kUntouched{0xA5};

std::vector<std::byte> numbered_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  return bytes;
}

TEST(StreamCopyTest, CopiesEveryByteAndNoOtherWhereverItBeginsAndEnds) {
  const std::vector<std::byte> source = numbered_bytes(600);
  for (const std::size_t count : {0U, 1U, 15U, 63U, 64U, 65U, 127U, 128U, 500U}) {
    for (std::size_t from_at = 0; from_at < 64; from_at += 21) {
      for (std::size_t to_at = 0; to_at < 64; ++to_at) {
        std::vector<std::byte> target(700, kUntouched);
        std::vector<std::byte> expected = target;
        const auto from = std::span(source).subspan(from_at, count);
        std::copy(from.begin(), from.end(), expected.begin() + static_cast<std::ptrdiff_t>(to_at));
        stream_copy(from, target.data() + to_at);
        ASSERT_EQ(target, expected) << count << " bytes from " << from_at << " to " << to_at;
      }
    }
  }
}

TEST(StreamCopyTest, CopiesMoreThanTheCachesHold) {
  const std::vector<std::byte> source = numbered_bytes(20'000'003);
  std::vector<std::byte> target(source.size());
  stream_copy(source, target.data());
  EXPECT_EQ(target, source);
}

}  // namespace
}  // namespace stoker
