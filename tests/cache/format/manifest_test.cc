#include "stoker/cache/format/manifest.h"

#include <gtest/gtest.h>

#include "stoker/base/bytes.h"

namespace stoker::cache {
namespace {

Manifest sample() {
  Manifest manifest;
  manifest.path = "avx512/f16";
  manifest.features = digest_of(std::string_view("features"));
  manifest.text = digest_of(std::string_view("text"));
  manifest.settings = {{"text", "cleaner", "english \"quoted\"\n"}, {"features", "hop", "256"}};
  manifest.left_out = {
      {RecordKind::kMel, "LJ001-0007", "E-WAV-NONFINITE", digest_of(std::string_view("a"))}};
  manifest.shards = {{1, RecordKind::kTokens, "", 24, 4096, manifest.text, manifest.features},
                     {0, RecordKind::kMel, "", 24, 1 << 20, manifest.features, manifest.text},
                     {3, RecordKind::kArray, "f0", 24, 999, {}, manifest.text}};
  return manifest;
}

TEST(ManifestTest, ReadsWhatItWroteWhateverTheOrderOfLines) {
  const std::string text = encode_manifest(sample());
  Result<Manifest> read = decode_manifest("m", view_bytes(text));
  ASSERT_TRUE(read.ok()) << error_line(read.error());
  EXPECT_EQ(read->generation(), 3U);
  EXPECT_EQ(read->shards[0].number, 0U);
  EXPECT_EQ(read->find_shard(3)->array, "f0");
  EXPECT_EQ(encode_manifest(*read), text);
}

TEST(ManifestTest, EveryFlippedByteAndEveryCutIsRefused) {
  const std::string text = encode_manifest(sample());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char mask : {'\x01', '\x20', '\x7F'}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      const Result<Manifest> read = decode_manifest("m", view_bytes(damaged));
      ASSERT_FALSE(read.ok()) << at;
      EXPECT_EQ(read.error().code->name, "E-CACHE-MANIFEST");
    }
    ASSERT_FALSE(decode_manifest("m", view_bytes(text.substr(0, at))).ok()) << at;
  }
  EXPECT_FALSE(decode_manifest("m", view_bytes(text + "\n")).ok());
}

// With the digest made right, so that only the line itself can be refused.
Result<Manifest> decode_signed(std::string body) {
  body += "{\"digest\":\"" + digest_of(std::string_view(body)).hex() + "\"}\n";
  return decode_manifest("m", view_bytes(body));
}

TEST(ManifestTest, AnotherVersionIsRefusedByName) {
  const Result<Manifest> read = decode_signed("{\"format\":\"stoker-cache\",\"version\":2}\n");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code->name, "E-CACHE-VERSION");
}

TEST(ManifestTest, OtherLinesAndOtherSpellingsAreRefused) {
  std::string head = encode_manifest({});
  head.resize(head.find('\n') + 1);
  EXPECT_TRUE(decode_signed(head).ok());
  for (const char* line :
       {"[]\n", "{}\n", "nonsense\n", "\n", "{\"setting\":\"a\",\"group\":\"g\"}\n",
        "{\"setting\": \"a\",\"group\":\"g\",\"value\":\"1\"}\n",
        "{\"shard\":\"../x.stk\",\"kind\":\"mel\",\"array\":\"\",\"records\":1,\"bytes\":1}\n",
        "{\"left_out\":\"a\",\"kind\":\"what\",\"code\":\"E\",\"source\":\"00\"}\n"})
    EXPECT_FALSE(decode_signed(head + line).ok()) << line;
}

TEST(ManifestTest, DigestsAreThirtyTwoLowerCaseDigits) {
  EXPECT_EQ(digest_from_hex("000000000000000a000000000000000b"), (Digest128{10, 11}));
  EXPECT_EQ(digest_from_hex("000000000000000A000000000000000b"), std::nullopt);
  EXPECT_EQ(digest_from_hex("0a"), std::nullopt);
}

}  // namespace
}  // namespace stoker::cache
