#include "stoker/config/settings_text.h"

#include <gmock/gmock.h>

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
