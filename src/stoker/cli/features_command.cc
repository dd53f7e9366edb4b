#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/audio/feature_file.h"
#include "stoker/audio/feature_picture.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/cache/format/npy.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/settings_options.h"

namespace stoker::cli {
namespace {

constexpr std::array<std::string_view, 10> kSettings{
    "features.preset",       "features.sample_rate", "features.n_fft", "features.hop_length",
    "features.win_length",   "features.n_mels",      "features.fmin",  "features.fmax",
    "features.trim_silence", "features.loudness"};

struct Asked {
  std::vector<std::string> files;
  std::string out;
  std::string plot;
};

// One input: the named file. Several: a file of the input's name in the named folder.
std::string target_for(const Asked& asked, const std::string& named, const std::string& input,
                       std::string_view suffix) {
  if (asked.files.size() == 1) return named;
  make_folders(system_io(), named).take_or_raise();
  return (std::filesystem::path(named) / std::filesystem::path(input).stem()).string() +
         std::string(suffix);
}

// A name without a suffix, or "-", gets a PNG.
bool is_svg(const std::string& path) { return std::filesystem::path(path).extension() == ".svg"; }

void check_picture_name(const std::string& path) {
  constexpr std::array<std::string_view, 6> kOtherPictures{".jpg", ".jpeg", ".pdf",
                                                           ".gif", ".webp", ".bmp"};
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (std::find(kOtherPictures.begin(), kOtherPictures.end(), suffix) == kOtherPictures.end())
    return;
  const std::string stem = std::filesystem::path(path).stem().string();
  raise({.code = &kUsage,
         .place = {.file = path},
         .promised = "a name that ends in .png or .svg for --plot",
         .found = fmt::format("\"{}\"", suffix),
         .cure = fmt::format("type --plot {}.png", stem)});
}

void draw(CommandContext& context, const std::string& path, const audio::FeaturePicture& picture) {
  if (is_svg(path))
    context.write_output(path, picture.svg());
  else
    context.write_output(path, picture.png());
  context.print("picture   " + path);
}

audio::FileFeatures one_file(CommandContext& context, const Asked& asked, const std::string& input,
                             audio::FeatureMaker& maker) {
  audio::FileFeatures features = maker.run(system_io(), input).take_or_raise();
  if (!asked.out.empty()) {
    const cache::ArrayShape shape{.element = cache::ElementType::kF32,
                                  .rank = 2,
                                  .axes = {static_cast<std::uint32_t>(features.num_frames),
                                           static_cast<std::uint32_t>(features.num_mels)}};
    context.write_output(target_for(asked, asked.out, input, ".npy"),
                         cache::encode_npy(shape, std::as_bytes(std::span(features.values))));
  }
  if (!asked.plot.empty()) {
    const std::string path = target_for(asked, asked.plot, input, ".png");
    const std::string name = std::filesystem::path(input).filename().string();
    draw(context, path,
         {features, maker.recipe(), fmt::format("{} ({})", name, maker.recipe().preset)});
  }
  return features;
}

ExitCode run(CommandContext& context, const Asked& asked) {
  if (asked.files.size() == 1) {
    check_picture_name(asked.plot);
    context.reserve_output(asked.out);
    context.reserve_output(asked.plot);
  }
  audio::FeatureMaker maker(context.settings().features);
  Json rows = Json::array();
  std::uint64_t num_frames = 0;
  double audio_s = 0;
  for (const std::string& input : asked.files) {
    const audio::FileFeatures features = one_file(context, asked, input, maker);
    num_frames += features.num_frames;
    audio_s += features.audio_s;
    rows.push_back({{"file", input},
                    {"frames", features.num_frames},
                    {"mels", features.num_mels},
                    {"audio_s", features.audio_s}});
    context.print(fmt::format("{}: {} frames x {} bands, {:.3f} s", input, features.num_frames,
                              features.num_mels, features.audio_s));
  }
  context.report()["frames"] = num_frames;
  context.report()["mels"] = maker.num_mels();
  context.report()["preset"] = maker.recipe().preset;
  context.report()["audio_s"] = audio_s;
  context.report()["files"] = std::move(rows);
  return ExitCode::kDone;
}

}  // namespace

void add_features_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command("features", "Turn sound files into log-mel frames");
  auto asked = std::make_shared<Asked>();
  command.add_option("files", asked->files, "Sound files: WAV, FLAC, Ogg, Opus, MP3").required();
  command.add_option("--out", asked->out,
                     "Write [frames, mels] as .npy; a folder when there are several files");
  command.add_option("--plot", asked->plot,
                     "Draw a picture as .png or .svg; a folder when there are several files");
  add_setting_options(command, context, kSettings, "Features");
  context.on(command, [&context, asked] { return run(context, *asked); });
}

}  // namespace stoker::cli
