// Aligned memory: where it begins, what it takes, who frees it.
#include "stoker/base/aligned_bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace stoker {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

bool is_aligned(const void* at, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}

TEST(AlignedBytesTest, BeginsAtACacheLineWhateverTheSize) {
  for (const std::size_t size_bytes : {std::size_t{1}, std::size_t{65}, 2 * kMiB, 5 * kMiB + 1}) {
    const AlignedBytes bytes(size_bytes);
    EXPECT_EQ(bytes.size(), size_bytes);
    EXPECT_TRUE(is_aligned(bytes.data(), kCacheLineBytes)) << size_bytes;
    std::memset(bytes.data(), 1, size_bytes);
  }
  EXPECT_EQ(AlignedBytes(0).data(), nullptr);
}

TEST(AlignedBytesTest, LargePiecesBeginAtALargePageAndAreCountedInPages) {
  EXPECT_TRUE(is_aligned(AlignedBytes(2 * kMiB).data(), 2 * kMiB));
  EXPECT_EQ(AlignedBytes::taken_bytes(0), 0U);
  EXPECT_EQ(AlignedBytes::taken_bytes(1), 64U);
  EXPECT_EQ(AlignedBytes::taken_bytes(2 * kMiB - 1), 2 * kMiB);
  EXPECT_EQ(AlignedBytes::taken_bytes(2 * kMiB + 1), 2 * kMiB + 4096);
}

TEST(AlignedBytesTest, BorrowedMemoryStaysWithItsOwner) {
  alignas(64) std::array<std::byte, 128> owned{};
  {
    const AlignedBytes bytes = AlignedBytes::borrow(owned);
    EXPECT_EQ(bytes.data(), owned.data());
    EXPECT_EQ(bytes.size(), owned.size());
    bytes.data()[5] = std::byte{9};
  }
  EXPECT_EQ(owned[5], std::byte{9});
}

TEST(AlignedBytesTest, AMoveHandsTheMemoryOver) {
  AlignedBytes first(100);
  std::byte* const at = first.data();
  const AlignedBytes second = std::move(first);
  EXPECT_EQ(second.data(), at);
}

TEST(AlignedArrayTest, KeepsTheAlignmentAskedForAndRefusesWhatCannotBe) {
  for (const std::size_t alignment : {std::size_t{64}, std::size_t{128}, std::size_t{4096}}) {
    const AlignedArray<float> values = make_aligned<float>(3, alignment);
    EXPECT_TRUE(is_aligned(values.get(), alignment));
    values[2] = 1.0F;
  }
  EXPECT_THROW(make_aligned<float>(~std::size_t{0}), std::bad_alloc);
  EXPECT_THROW(AlignedBytes(~std::size_t{0} >> 1U), std::bad_alloc);
}

}  // namespace
}  // namespace stoker
