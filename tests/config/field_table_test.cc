#include "stoker/config/field_table.h"

#include <gmock/gmock.h>

#include <set>

#include "stoker/config/legacy/known_names.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/config/settings.h"

namespace stoker::config {
namespace {

template <class T>
std::size_t offset_of(const T& whole, const void* part) {
  return static_cast<std::size_t>(static_cast<const char*>(part) -
                                  reinterpret_cast<const char*>(&whole));
}

// Declared members are in the order of fields() and leave no room for one that is not listed.
template <class Struct>
void expect_every_member_is_listed(const char* name) {
  const Struct whole;
  std::size_t end = 0;
  const auto visit = [&](const auto& declared) {
    const auto& member = whole.*(declared.member);
    const std::size_t start = offset_of(whole, &member);
    const std::size_t alignment = alignof(decltype(member));
    EXPECT_GE(start, end) << name << "." << declared.text.name << " is out of order";
    EXPECT_LT(start, end + alignment)
        << name << ": a member before " << declared.text.name << " is not listed";
    end = start + sizeof(member);
  };
  std::apply([&](const auto&... declared) { (visit(declared), ...); }, Struct::fields());
  EXPECT_LT(sizeof(Struct), end + alignof(Struct)) << name << ": the last member is not listed";
}

TEST(FieldTableTest, EveryMemberIsListed) {
  expect_every_member_is_listed<RunSettings>("run");
  expect_every_member_is_listed<DataSettings>("data");
  expect_every_member_is_listed<RowSettings>("rows");
  expect_every_member_is_listed<BatchSettings>("batch");
  expect_every_member_is_listed<LoaderSettings>("loader");
  expect_every_member_is_listed<GpuSettings>("gpu");
  expect_every_member_is_listed<FeatureSettings>("features");
  expect_every_member_is_listed<AugmentSettings>("augment");
  expect_every_member_is_listed<TextSettings>("text");
  expect_every_member_is_listed<CacheSettings>("cache");
  expect_every_member_is_listed<TrainingSettings>("training");
  expect_every_member_is_listed<OptimizerSettings>("optimizer");
  expect_every_member_is_listed<ObserveSettings>("observe");
}

TEST(FieldTableTest, PathsAndFlagsAreUnique) {
  std::set<std::string> seen;
  for (const FieldInfo& field : all_fields()) {
    EXPECT_TRUE(seen.insert(field.path).second) << field.path;
    for (const std::string& flag : field.flags) EXPECT_TRUE(seen.insert(flag).second) << flag;
    for (const std::string& flag : field.off_flags) EXPECT_TRUE(seen.insert(flag).second) << flag;
  }
}

TEST(FieldTableTest, NamesOfMyxttsAreNoNamesOfOurs) {
  for (const FieldInfo& field : all_fields())
    for (const std::string& path : field.myxtts_paths) {
      EXPECT_EQ(find_field(path), nullptr) << path;
      ASSERT_TRUE(find_name(path).has_value()) << path;
      EXPECT_EQ(find_name(path)->field, &field) << path;
    }
}

TEST(FieldTableTest, EveryDefaultReadsBackAsItself) {
  for (const FieldInfo& field : all_fields()) {
    Settings settings;
    const std::string json = field.json(settings);
    YamlNode node = parse_yaml("v: " + json, "default").entries.at(0).second;
    const bool is_number_in_quotes = node.quoted && field.kind.ends_with("size");
    if (is_number_in_quotes || node.text == "auto") node.quoted = false;
    EXPECT_NO_THROW(field.read(settings, node)) << field.path << " = " << json;
    EXPECT_EQ(field.json(settings), json) << field.path;
  }
}

TEST(FieldTableTest, EverySettingSaysWhatItDoes) {
  for (const FieldInfo& field : all_fields()) {
    EXPECT_FALSE(field.sentence.empty()) << field.path;
    EXPECT_EQ(field.sentence.back(), '.') << field.path;
  }
}

TEST(FieldTableTest, PresetChoicesAreThePresets) {
  std::vector<std::string> names;
  for (const std::string_view name : mel_preset_names()) names.emplace_back(name);
  EXPECT_THAT(find_field("features.preset")->choices, testing::UnorderedElementsAreArray(names));
}

}  // namespace
}  // namespace stoker::config
