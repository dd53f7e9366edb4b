#include "stoker/cache/format/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "stoker/base/bytes.h"

namespace stoker::cache {
namespace {

std::string npy_file(std::string_view dict, std::string_view data, int major = 1) {
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(major);
  file += '\0';
  const std::size_t size = dict.size() + 1;
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(size >> (8 * i) & 0xFF);
  return file.append(dict).append("\n").append(data);
}

std::string dict_of(std::string_view descr, std::string_view shape, bool fortran = false) {
  return std::string("{'descr': '").append(descr) +
         "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

Result<NpyArray> read(const std::string& file) { return decode_npy("x.npy", view_bytes(file)); }

template <class T>
std::vector<T> values_of(const NpyArray& array) {
  std::vector<T> out(array.values.size() / sizeof(T));
  std::memcpy(out.data(), array.values.data(), array.values.size());
  return out;
}

TEST(NpyTest, ReadsAllThreeVersions) {
  for (const int major : {1, 2, 3}) {
    const Result<NpyArray> array =
        read(npy_file(dict_of("<i4", "(3,)"), raw<std::int32_t>({1, -2, 3}), major));
    ASSERT_TRUE(array.ok()) << error_line(array.error());
    EXPECT_EQ(values_of<std::int32_t>(*array), (std::vector<std::int32_t>{1, -2, 3}));
  }
}

TEST(NpyTest, FortranOrderIsTransposedNotReinterpreted) {
  // [[1, 2, 3], [4, 5, 6]] by columns.
  const Result<NpyArray> array =
      read(npy_file(dict_of("<f4", "(2, 3)", true), raw<float>({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->shape.axes[0], 2U);
  EXPECT_EQ(values_of<float>(*array), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(NpyTest, FortranOrderOfThreeAxes) {
  std::string data;
  for (std::int16_t c = 0; c < 4; ++c)
    for (std::int16_t b = 0; b < 3; ++b)
      for (std::int16_t a = 0; a < 2; ++a)
        data += raw<std::int16_t>({static_cast<std::int16_t>(100 * a + 10 * b + c)});
  const Result<NpyArray> array = read(npy_file(dict_of("<i2", "(2, 3, 4)", true), data));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(values_of<std::int16_t>(*array)[1 * 12 + 2 * 4 + 3], 123);
}

TEST(NpyTest, BigEndianIsTurnedRound) {
  const Result<NpyArray> array =
      read(npy_file(dict_of(">f4", "(1,)"), std::string("\x3F\x80\x00\x00", 4)));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(values_of<float>(*array), (std::vector<float>{1.0F}));
}

TEST(NpyTest, EveryStorableTypeIsRead) {
  for (const char* descr :
       {"<f2", "=f4", "<f8", "|i1", "|u1", "|b1", "<i2", "<u2", ">i4", "<u4", "<i8", ">u8"}) {
    const auto size = static_cast<std::size_t>(descr[2] - '0');
    const Result<NpyArray> array = read(npy_file(dict_of(descr, "(2,)"), std::string(2 * size, 0)));
    EXPECT_TRUE(array.ok()) << descr;
  }
}

struct BadCase {
  const char* name;
  std::string file;
  const char* code;
};

std::vector<BadCase> bad_cases() {
  const std::string four(4, '\0');
  std::string lying = npy_file(dict_of("<f4", "(1,)"), four, 2);
  lying[10] = '\x7F';
  lying[11] = '\x7F';
  std::string half = npy_file(dict_of("<f4", "(1,)"), four);
  half.resize(9);
  return {
      {"object", npy_file(dict_of("|O", "(1,)"), four), "E-NPY-PICKLE"},
      {"version 9", npy_file(dict_of("<f4", "(1,)"), four, 9), "E-NPY-VERSION"},
      {"complex", npy_file(dict_of("<c8", "(1,)"), four), "E-NPY-TYPE"},
      {"text", npy_file(dict_of("<U4", "(1,)"), four), "E-NPY-TYPE"},
      {"empty type", npy_file(dict_of("", "(1,)"), four), "E-NPY-TYPE"},
      {"no order", npy_file(dict_of("f4", "(1,)"), four), "E-NPY-TYPE"},
      {"bar with four bytes", npy_file(dict_of("|f4", "(1,)"), four), "E-NPY-TYPE"},
      {"fields", npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four),
       "E-NPY-TYPE"},
      {"negative", npy_file(dict_of("<f4", "(-1,)"), four), "E-NPY-SHAPE"},
      {"1e12", npy_file(dict_of("<f4", "(1000000000000, 3)"), four), "E-NPY-SHAPE"},
      {"overflow", npy_file(dict_of("<f4", "(4294967295, 4294967295, 4294967295)"), four),
       "E-NPY-SHAPE"},
      {"nested", npy_file(dict_of("<f4", "((1,),)"), four), "E-NPY-SHAPE"},
      {"a number", npy_file(dict_of("<f4", "1"), four), "E-NPY-SHAPE"},
      {"not a tuple", npy_file(dict_of("<f4", "(1)"), four), "E-NPY-SHAPE"},
      {"seven axes", npy_file(dict_of("<f4", "(1,1,1,1,1,1,1)"), four), "E-NPY-SHAPE"},
      {"shorter", npy_file(dict_of("<f4", "(2,)"), four), "E-NPY-SIZE"},
      {"longer", npy_file(dict_of("<f4", "(1,)"), four + four), "E-NPY-SIZE"},
      {"huge but short", npy_file(dict_of("<f4", "(2000000000, 2000000000)"), four), "E-NPY-SIZE"},
      {"lying length", lying, "E-NPY-HEADER"},
      {"cut in the header", half, "E-NPY-HEADER"},
      {"magic", "NUMPY" + four, "E-NPY-MAGIC"},
      {"empty", "", "E-NPY-MAGIC"},
      {"pickle", "\x80\x04\x95" + four + four, "E-NPY-MAGIC"},
      {"npz", std::string("PK\x03\x04", 4) + four, "E-NPY-ZIP"},
      {"missing key", npy_file("{'descr': '<f4', 'shape': (1,)}", four), "E-NPY-HEADER"},
      {"double key", npy_file("{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", four),
       "E-NPY-HEADER"},
      {"other key", npy_file("{'a': 1}", four), "E-NPY-HEADER"},
      {"code", npy_file("__import__('os')", four), "E-NPY-HEADER"},
      {"text after it", npy_file(dict_of("<f4", "(1,)") + "x", four), "E-NPY-HEADER"}};
}

TEST(NpyTest, BadFilesAreRefusedByName) {
  for (const BadCase& row : bad_cases()) {
    const Result<NpyArray> array = read(row.file);
    ASSERT_FALSE(array.ok()) << row.name;
    EXPECT_EQ(array.error().code->name, row.code) << row.name;
    EXPECT_EQ(array.error().place.file, "x.npy");
    EXPECT_FALSE(array.error().promised.empty()) << row.name;
    EXPECT_FALSE(array.error().found.empty()) << row.name;
  }
}

TEST(NpyTest, WhatIsWrittenIsReadBack) {
  const ArrayShape shape{ElementType::kF16, 2, {3, 5}};
  const std::vector<std::byte> payload(30, std::byte{0x3C});
  const std::vector<std::byte> file = encode_npy(shape, payload);
  const Result<NpyArray> array = decode_npy("x.npy", file);
  ASSERT_TRUE(array.ok()) << error_line(array.error());
  EXPECT_EQ(array->shape, shape);
  EXPECT_EQ(array->values, payload);
  EXPECT_EQ((file.size() - 30) % 64, 0U);
}

TEST(NpyTest, TheFirstValueThatIsNotFiniteIsNamed) {
  const Result<NpyArray> array = read(npy_file(
      dict_of("<f8", "(3,)"), raw<double>({1, std::numeric_limits<double>::quiet_NaN(), 2})));
  EXPECT_EQ(find_nonfinite(array->shape, array->values), 1U);
  const Result<NpyArray> narrow = convert_npy("x.npy", *array, ElementType::kF16);
  ASSERT_FALSE(narrow.ok());
  EXPECT_EQ(narrow.error().code->name, "E-NPY-VALUE");
}

TEST(NpyTest, IntegersThatDoNotFitAreRefused) {
  const Result<NpyArray> array =
      read(npy_file(dict_of("<i8", "(2,)"), raw<std::int64_t>({7, std::int64_t{1} << 40U})));
  EXPECT_FALSE(convert_npy("x", *array, ElementType::kI32).ok());
  EXPECT_TRUE(convert_npy("x", *array, ElementType::kI64).ok());
  EXPECT_FALSE(convert_npy("x", *array, ElementType::kF32).ok());
}

TEST(NpyTest, TextsAreAnArrayOfFixedWidth) {
  const std::vector<std::byte> file =
      encode_npy_texts(std::vector<std::string_view>{"ab", "", "\u0633"});
  const std::string_view text = view_text(file);
  EXPECT_EQ(file.size(), 128U + 3 * 2 * 4);
  EXPECT_NE(text.find("'descr': '<U2'"), std::string_view::npos);
  EXPECT_NE(text.find("'shape': (3,)"), std::string_view::npos);
  EXPECT_EQ(load_le<std::uint32_t>(file.data() + 128 + 4), std::uint32_t{'b'});
  EXPECT_EQ(load_le<std::uint32_t>(file.data() + 128 + 16), 0x633U);
  // NumPy has no width 0.
  EXPECT_NE(view_text(encode_npy_texts({})).find("'<U1'"), std::string_view::npos);
}

}  // namespace
}  // namespace stoker::cache
