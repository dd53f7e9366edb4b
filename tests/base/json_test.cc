#include "stoker/base/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace stoker {
namespace {

TEST(JsonTest, MembersKeepTheirOrderAndTheirKind) {
  Json json;
  json["z"] = 1;
  json["a"] = std::uint64_t{18446744073709551615U};
  json["text"] = "a \"b\"";
  json["yes"] = true;
  json["none"] = nullptr;
  json["share"] = 0.25;
  json["z"] = -1;
  EXPECT_EQ(
      json.dump(),
      R"({"z":-1,"a":18446744073709551615,"text":"a \"b\"","yes":true,"none":null,"share":0.25})");
}

TEST(JsonTest, ReportReadsLikeTheJsonThatItBecomes) {
  const std::vector<std::string> names{"a", "b"};
  Json json{{"inner", {{"n", 1}}}, {"names", names}, {"shape", Json::array({2, 3})}};
  json["rows"].push_back({{"id", "x"}, {"limit", std::optional<double>()}});
  EXPECT_EQ(json.dump(), R"({"inner":{"n":1},"names":["a","b"],"shape":[2,3],)"
                         R"("rows":[{"id":"x","limit":null}]})");
}

TEST(JsonTest, MapBecomesAnObjectEvenWhenEmpty) {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  EXPECT_EQ(Json(counts).dump(), "{}");
  counts["E-A"] = 2;
  EXPECT_EQ(Json(counts).dump(), R"({"E-A":2})");
}

TEST(JsonTest, UpdateReplacesMembersWhereTheyAre) {
  Json json{{"a", 1}, {"b", 2}};
  json.update({{"a", 3}, {"c", 4}});
  EXPECT_EQ(json.dump(), R"({"a":3,"b":2,"c":4})");
}

TEST(JsonTest, WhatJsonCannotSayIsReplaced) {
  EXPECT_EQ(Json("\xff").dump(), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
}

TEST(JsonTest, TextIsReadBackAsItWasWritten) {
  const std::string text = R"({"a":[1,-2,0.5,"x",true,null],"b":{"c":{}}})";
  const std::optional<Json> json = Json::parse(text);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->dump(), text);
  EXPECT_EQ(json->at("a").elements().size(), 6U);
  EXPECT_EQ(json->at("a").elements()[1].number(), -2.0);
  EXPECT_EQ(json->at("a").elements()[3].text(), "x");
  EXPECT_TRUE(json->contains("b"));
  EXPECT_FALSE(json->contains("c"));
}

TEST(JsonTest, WrongTextAndWrongKindAreRefused) {
  EXPECT_FALSE(Json::parse("{").has_value());
  const Json json{{"a", "text"}};
  EXPECT_THROW(json.at("b"), std::out_of_range);
  EXPECT_THROW(json.at("a").number(), std::out_of_range);
  EXPECT_THROW(json.elements(), std::out_of_range);
}

}  // namespace
}  // namespace stoker
