#include "stoker/config/settings_text.h"

#include <gmock/gmock.h>

#include "stoker/config/field_table.h"
#include "stoker/config/value_text.h"
#include "tests/config/load_from_text.h"

namespace stoker::config {
namespace {

TEST(SettingsTextTest, SavedSettingsLoadBackToTheSame) {
  const auto loaded = load_from_text(
      "data: {path: \"a b: #c\", batch_size: 9, columns: {audio: x}, arrays: [\"1\"]}\n"
      "augment: {gain_range: [-1.5, 2]}\ngpu: {data_gpu_memory: 3GiB}\n"
      "data.max_mel_frames: 900\n");
  const std::string saved = settings_yaml(loaded.settings);
  EXPECT_EQ(settings_yaml(load_from_text(saved).settings), saved);
}

// A value of the setting that is not its default, as people write it.
std::string other_value(const FieldInfo& field) {
  const std::string present = plain_text(field.json(Settings{}));
  for (const std::string& choice : field.choices)
    if (choice != present) return choice;
  if (field.path == "data.sources") return R"([{data: "x, {y}", weight: 2.5, name: n}])";
  if (field.kind == "group of name: value") return R"({audio: "a: b", text: "1"})";
  if (field.kind == "list of texts") return R"(["yes", "1.5", "a, \"b\""])";
  if (field.kind.starts_with("pair")) return "[0.5, 0.75]";
  if (field.is_switch) return present == "true" ? "false" : "true";
  if (field.kind.ends_with("whole number")) return "65";
  if (field.kind.ends_with("number")) return "0.30000000000000004";
  if (field.kind.ends_with("size")) return "1234567KiB";
  return "\"true: \\u067e #1\"";
}

TEST(SettingsJsonTest, EverySettingComesBack) {
  for (const FieldInfo& field : all_fields()) {
    Settings settings;
    const std::string text = other_value(field);
    try {
      field.read(settings, parse_yaml("v: " + text, "test").entries.at(0).second);
    } catch (const Failure& refused) {  // outside the range of a few: its lower end then
      ASSERT_EQ(refused.error().code->name, "E-CONFIG-RANGE") << field.path;
      const std::string low = field.range.substr(0, field.range.find(' '));
      field.read(settings, parse_yaml("v: " + low, "test").entries.at(0).second);
    }
    const std::optional<Json> sent = Json::parse(settings_json(settings).dump());
    ASSERT_TRUE(sent.has_value());
    const Settings received = settings_of_json(*sent, "request");
    for (const FieldInfo& each : all_fields())
      EXPECT_EQ(each.json(received), each.json(settings)) << field.path << " changed " << each.path;
    EXPECT_NE(field.json(received), field.json(Settings{})) << field.path << " = " << text;
  }
}

TEST(SettingsJsonTest, SettingThatIsAbsentOrOfAnotherKindIsNamed) {
  Json wrong = settings_json({});
  wrong["data.batch_frames"] = "many";
  for (const Json& json : {Json::object(), wrong}) {
    try {
      settings_of_json(json, "state.json");
      FAIL();
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.error().code->name, "E-CONFIG-VALUE");
      EXPECT_EQ(error.error().place.file, "state.json");
    }
  }
}

TEST(SettingsTextTest, GroupsFollowOnlyTheirOwnSettings) {
  const Settings plain;
  const auto changed = [&](const std::string& set, Affects group) {
    const auto loaded = load_settings({.set = {set}});
    return settings_digest(loaded.settings, group) != settings_digest(plain, group);
  };
  EXPECT_TRUE(changed("features.hop_length=128", Affects::kFeatures));
  EXPECT_FALSE(changed("features.hop_length=128", Affects::kText));
  EXPECT_FALSE(changed("features.hop_length=128", Affects::kOrder));
  EXPECT_TRUE(changed("text.add_blank=true", Affects::kText));
  EXPECT_FALSE(changed("text.add_blank=true", Affects::kFeatures));
  EXPECT_TRUE(changed("data.max_shapes=7", Affects::kOrder));
  EXPECT_FALSE(changed("data.num_workers=7", Affects::kOrder));
}

TEST(SettingsTextTest, PresetAndSameValuesByHandAreEqual) {
  const auto by_hand = load_settings({.set = {"features.hop_length=256", "features.fmax=8000"}});
  EXPECT_EQ(settings_digest(by_hand.settings, Affects::kFeatures),
            settings_digest(Settings{}, Affects::kFeatures));
}

}  // namespace
}  // namespace stoker::config
