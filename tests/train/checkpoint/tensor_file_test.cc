// The safetensors format: what is written is read back, and nothing else is accepted.
#include "stoker/train/checkpoint/tensor_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/digest.h"
#include "stoker/train/errors.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/doubles/write_list_io.h"
#include "tests/train/checkpoint/small_checkpoint.h"

namespace stoker::train {
namespace {

std::vector<std::byte> file_of(std::string_view json, std::size_t num_values) {
  std::string out;
  for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(json.size() >> (8 * i));
  out += json;
  out.append(num_values, '\7');
  const std::span<const std::byte> bytes = view_bytes(out);
  return {bytes.begin(), bytes.end()};
}

TensorSet every_type() {
  TensorSet set;
  std::uint64_t seed = 1;
  for (const TensorType type :
       {TensorType::kF32, TensorType::kF16, TensorType::kBf16, TensorType::kF64, TensorType::kI32,
        TensorType::kI64, TensorType::kU8}) {
    set.tensors.push_back(small_tensor(fmt::format("t.{}", name_of(type)), type, {2, 3}, seed++));
  }
  set.tensors.push_back(small_tensor("scalar", TensorType::kI64, {}, 90));
  set.tensors.push_back(small_tensor("nothing", TensorType::kF32, {4, 0}, 91));
  set.tensors.push_back(
      small_tensor("quo\"te\\ \n \xD9\x84 \xF0\x9F\x94\xA5", TensorType::kU8, {1}, 92));
  set.metadata = {{"format", "pt"}, {"words", "a \"b\"\t\x01"}};
  return set;
}

TEST(TensorFileTest, EveryTypeAndNameIsReadBack) {
  for (const TensorSet& set : {every_type(), TensorSet(), TensorSet{{{"a", "b"}}, {}}}) {
    const std::vector<std::byte> bytes = encode_tensors(set);
    const Result<TensorSet> again = decode_tensors(bytes, "x.safetensors");
    ASSERT_TRUE(again.ok()) << error_line(again.error());
    EXPECT_EQ(*again, set);
    EXPECT_EQ(load_le<std::uint64_t>(bytes.data()) % 8, 0U);
  }
  EXPECT_NE(every_type().find("scalar"), nullptr);
  EXPECT_EQ(every_type().find("scala"), nullptr);
}

TEST(TensorFileTest, TheBytesAreThoseOfTheFormat) {
  const TensorSet set{{}, {{"a", TensorType::kU8, {2}, {std::byte{1}, std::byte{2}}}}};
  const std::string json = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  const std::string padded = json + std::string(56 - json.size(), ' ');
  std::vector<std::byte> expected = file_of(padded, 0);
  expected.insert(expected.end(), {std::byte{1}, std::byte{2}});
  EXPECT_EQ(encode_tensors(set), expected);
}

TEST(TensorFileTest, AFileHoldsTheSameBytesAndSeal) {
  const ScratchFolder folder;
  TensorSet set = every_type();
  set.tensors.push_back(small_tensor("large", TensorType::kU8, {3'000'001}, 5));
  const std::vector<std::byte> bytes = encode_tensors(set);
  const FileSeal expected{bytes.size(), digest_of(bytes).hex()};
  const File file = open_file(system_io(), folder / "a", OpenFor::kCreateNew).take_or_raise();
  EXPECT_EQ(*write_tensors(file, set), expected);
  EXPECT_EQ(*read_whole(file, bytes.size()), bytes);
  EXPECT_EQ(*seal_of(file), expected);
  const Result<SealedTensors> again = read_tensors(file);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->seal, expected);
  EXPECT_EQ(again->tensors, set);
}

TEST(TensorFileTest, OtherWritersSpacesEscapesAndOrderOfMembersAreRead) {
  const Result<TensorSet> set = decode_tensors(
      file_of("{ \"__metadata__\" : { \"k\":\"v\" } ,\n \"\\u0061\\ud83d\\udd25\\/\" : "
              "{\"data_offsets\":[0, 4] , \"shape\":[ ],\t\"dtype\":\"F32\"}}   ",
              4),
      "x");
  ASSERT_TRUE(set.ok()) << error_line(set.error());
  EXPECT_EQ(set->tensors.at(0).name, "a\xF0\x9F\x94\xA5/");
  EXPECT_EQ(set->metadata.at("k"), "v");
}

struct Hostile {
  const char* why;
  std::string json;
  std::size_t num_values;
};

std::string one(const std::string& inside) { return R"({"a":{)" + inside + "}}"; }

std::vector<Hostile> hostile_headers() {
  const std::string two = R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":{}}},)"
                          R"("b":{{"dtype":"U8","shape":[4],"data_offsets":{}}}}})";
  const auto pair = [&](const char* a, const char* b) {
    return fmt::format(fmt::runtime(two), a, b);
  };
  return {
      {"no JSON", "", 0},
      {"an array", "[]", 0},
      {"a space first", " {}", 0},
      {"unclosed", "{", 0},
      {"text after it", "{}x", 0},
      {"a NUL after it", std::string("{}\0", 3), 0},
      {"values without tensors", "{}", 1},
      {"not UTF-8", "{\"\xFF\":{}}", 0},
      {"overlap", pair("[0,4]", "[2,6]"), 8},
      {"a start within the one before", pair("[0,4]", "[2,8]"), 8},
      {"a gap", pair("[0,4]", "[6,10]"), 10},
      {"out of order", pair("[4,8]", "[0,4]"), 8},
      {"backwards", pair("[0,4]", "[8,4]"), 8},
      {"values missing", pair("[0,4]", "[4,8]"), 7},
      {"values too many", pair("[0,4]", "[4,8]"), 9},
      {"a name twice",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2},
      {"metadata twice", R"({"__metadata__":{},"__metadata__":{}})", 0},
      {"metadata key twice", R"({"__metadata__":{"a":"b","a":"c"}})", 0},
      {"metadata of numbers", R"({"__metadata__":{"a":1}})", 0},
      {"nested metadata", R"({"__metadata__":{"a":{"b":"c"}}})", 0},
      {"shape wraps to zero",
       one(R"("dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0},
      {"shape wraps to eight",
       one(R"("dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8])"), 8},
      {"length of 2^63",
       one(R"("dtype":"U8","shape":[9223372036854775808,0],"data_offsets":[0,0])"), 0},
      {"length of 2^64", one(R"("dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,0])"),
       0},
      {"huge tensor",
       one(R"("dtype":"U8","shape":[1000000000000],"data_offsets":[0,1000000000000])"), 4},
      {"negative length", one(R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])"), 1},
      {"negative offset", one(R"("dtype":"U8","shape":[1],"data_offsets":[-1,0])"), 1},
      {"fraction", one(R"("dtype":"U8","shape":[1.0],"data_offsets":[0,1])"), 1},
      {"exponent", one(R"("dtype":"U8","shape":[1e0],"data_offsets":[0,1])"), 1},
      {"leading zero", one(R"("dtype":"U8","shape":[01],"data_offsets":[0,1])"), 1},
      {"plus", one(R"("dtype":"U8","shape":[+1],"data_offsets":[0,1])"), 1},
      {"NaN", one(R"("dtype":"U8","shape":[NaN],"data_offsets":[0,1])"), 1},
      {"null shape", one(R"("dtype":"U8","shape":null,"data_offsets":[0,1])"), 1},
      {"text shape", one(R"("dtype":"U8","shape":"1","data_offsets":[0,1])"), 1},
      {"nested shape", one(R"("dtype":"U8","shape":[[1]],"data_offsets":[0,1])"), 1},
      {"17 axes",
       one(R"("dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1])"), 1},
      {"one offset", one(R"("dtype":"U8","shape":[1],"data_offsets":[0])"), 1},
      {"three offsets", one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1,1])"), 1},
      {"no offsets", one(R"("dtype":"U8","shape":[0])"), 0},
      {"no shape", one(R"("dtype":"U8","data_offsets":[0,1])"), 1},
      {"no type", one(R"("shape":[1],"data_offsets":[0,1])"), 1},
      {"unknown type", one(R"("dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1])"), 1},
      {"type in lower case", one(R"("dtype":"u8","shape":[1],"data_offsets":[0,1])"), 1},
      {"type twice", one(R"("dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1])"), 1},
      {"another member", one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1)"), 1},
      {"comma at the end", one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],)"), 1},
      {"bad escape", R"({"\x":{}})", 0},
      {"half of a character", R"({"\ud83d":{}})", 0},
      {"other half", R"({"\udd25":{}})", 0},
      {"short escape", R"({"\u12":{}})", 0},
      {"newline in a name", "{\"a\nb\":{}}", 0},
      {"deep nesting", std::string(200'000, '['), 0},
      {"deep objects",
       [] {
         std::string deep;
         for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
         return deep;
       }(),
       0},
  };
}

TEST(TensorFileTest, HostileHeadersAreRefusedByByte) {
  for (const Hostile& hostile : hostile_headers()) {
    const Result<TensorSet> set = decode_tensors(file_of(hostile.json, hostile.num_values), "h.st");
    ASSERT_FALSE(set.ok()) << hostile.why;
    const Error& error = set.error();
    EXPECT_EQ(error.code->name, "E-CHECKPOINT-BAD") << hostile.why;
    EXPECT_EQ(error.place.file, "h.st");
    ASSERT_TRUE(error.place.byte.has_value()) << hostile.why;
    EXPECT_LE(*error.place.byte, 8 + hostile.json.size()) << hostile.why;
    EXPECT_FALSE(error.promised.empty() || error.found.empty()) << hostile.why;
  }
}

TEST(TensorFileTest, ALengthPastTheFileOrPast100MbIsRefused) {
  for (const std::uint64_t length :
       {std::uint64_t{3}, std::uint64_t{100'000'001}, ~std::uint64_t{0}, std::uint64_t{1} << 63U}) {
    std::vector<std::byte> bytes = file_of("{}", 0);
    store_le(bytes.data(), length);
    const Result<TensorSet> set = decode_tensors(bytes, "h.st");
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().code, &kCheckpointBad);
  }
}

TEST(TensorFileTest, EveryTruncationAndExtensionIsRefused) {
  std::vector<std::byte> bytes = encode_tensors(every_type());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_tensors(std::span(bytes).first(size), "h.st").ok()) << size;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_tensors(bytes, "h.st").ok());
}

TEST(TensorFileTest, AFileThatIsNoFileIsRefused) {
  WriteListIo io;
  io.put_file("/folder/a", "x");
  const File folder = open_file(io, "/folder", OpenFor::kFolder).take_or_raise();
  EXPECT_EQ(read_tensors(folder).error().code, &kCheckpointBad);
  EXPECT_EQ(seal_of(folder).error().code, &kCheckpointBad);
}

}  // namespace
}  // namespace stoker::train
