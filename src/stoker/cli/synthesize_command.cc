// `stoker synthesize`: speaks texts with a checkpoint, into WAV files and, where asked, frames and
// pictures.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/settings_options.h"
#include "stoker/cli/trainer_call.h"

namespace stoker::cli {
namespace {

constexpr std::uint64_t kMaxTextsBytes = std::uint64_t{16} << 20U;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Asked {
  std::string checkpoint;
  std::vector<std::string> texts;
  std::string texts_file;
  std::vector<std::string> references;
  std::string language;
  std::string vocabulary;
  std::string out;
  std::string save_mel;
  std::string picture;
  int num_steps = 16;
  double speed = 1.0;
};

// One text a line; empty lines are left out.
std::vector<std::string> texts_of_file(const std::string& path) {
  const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const std::vector<std::byte> bytes = read_whole(file, kMaxTextsBytes).take_or_raise();
  std::string_view rest = view_text(bytes);
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> texts;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != line.npos) texts.emplace_back(line);
  }
  return texts;
}

std::vector<std::string> all_texts(const Asked& asked) {
  std::vector<std::string> texts = asked.texts;
  if (!asked.texts_file.empty())
    for (std::string& text : texts_of_file(asked.texts_file)) texts.push_back(std::move(text));
  if (texts.empty())
    raise({.code = &kUsage,
           .promised = "a text",
           .found = asked.texts_file.empty() ? "neither --text nor --texts"
                                             : asked.texts_file + " without a line",
           .cure = "type stoker synthesize --checkpoint run --text \"Hello.\" --out hello.wav"});
  return texts;
}

void check_picture_name(const std::string& path) {
  if (path.empty() || path.ends_with(".png") || path.ends_with(".svg")) return;
  raise({.code = &kUsage,
         .place = {.file = path},
         .promised = "a name that ends in .png or .svg for --picture",
         .found = fmt::format("\"{}\"", std::filesystem::path(path).extension().string())});
}

std::vector<std::string> numbered(CommandContext& context, const std::string& path,
                                  std::size_t num_texts) {
  if (path == "-")
    raise({.code = &kUsage, .promised = "the name of a file", .found = "\"-\", standard output"});
  std::vector<std::string> paths = train::numbered_files(path, num_texts);
  for (const std::string& each : paths) context.reserve_output(each);
  return paths;
}

std::optional<std::string> given(const std::string& value) {
  return value.empty() ? std::nullopt : std::optional(value);
}

ExitCode run(CommandContext& context, const Asked& asked) {
  check_picture_name(asked.picture);
  train::SynthesisCall call{.checkpoint = asked.checkpoint,
                            .texts = all_texts(asked),
                            .references = asked.references,
                            .language = given(asked.language),
                            .vocabulary = given(asked.vocabulary),
                            .num_steps = asked.num_steps,
                            .speed = asked.speed};
  call.out = numbered(context, asked.out, call.texts.size());
  call.save_mel = numbered(context, asked.save_mel, call.texts.size());
  call.pictures = numbered(context, asked.picture, call.texts.size());
  const config::Settings& settings = context.settings();
  const train::TrainLibrary library = find_trainer().take_or_raise();
  TrainerTalk talk(context);
  context.when_stopped("run the same command again");
  const Json report = library.synthesize(settings, call, talk.hooks());
  context.report().update(report);
  if (context.stop_token().stop_requested()) return ExitCode::kDone;
  for (const Json& speech : report.at("speeches").elements())
    context.print(fmt::format("{}: {:.2f} s, {:.0f} frames", speech.at("file").text(),
                              speech.at("audio_s").number(), speech.at("frames").number()));
  context.print(fmt::format("{:.2f} s of sound, {:.2f} s of work for each second",
                            report.at("audio_s").number(), report.at("rtf").number()));
  return ExitCode::kDone;
}

}  // namespace

void add_synthesize_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command("synthesize", "Speak texts with a trained model");
  auto asked = std::make_shared<Asked>();
  command
      .add_option("--checkpoint", asked->checkpoint,
                  "Run folder (its newest whole checkpoint), or one step-NNNNNNNN folder")
      .required();
  command.add_option("--text", asked->texts, "What to say; repeatable").one_value_each_time();
  command.add_option("--texts", asked->texts_file, "File with one text a line");
  command.add_option("--out", asked->out, "WAV file; of several texts o-1.wav, o-2.wav …")
      .required();
  command
      .add_option("--reference", asked->references,
                  "About three seconds of the voice to speak with (the checkpoint's own); "
                  "repeatable, then one for each text")
      .one_value_each_time();
  command.add_option("--language", asked->language, "Language of the texts (the checkpoint's)");
  command.add_option("--vocabulary", asked->vocabulary,
                     "Only compared with the checkpoint's: another one is refused");
  command.add_option("--steps", asked->num_steps, "Steps of the decoder; more are finer and slower")
      .in_range(4, 32)
      .show_default();
  command.add_option("--speed", asked->speed, "1.1 is ten per cent faster")
      .in_range(0.25, 4.0)
      .show_default();
  command.add_option("--save-mel", asked->save_mel, "Write the frames [frames, mels] as .npy");
  command.add_option("--picture", asked->picture,
                     "Draw frames and the token of each as .png or .svg");
  constexpr std::array<std::string_view, 1> kSettings{"device"};
  add_setting_options(command, context, kSettings, "Machine");
  context.on(command, [&context, asked] { return run(context, *asked); });
}

}  // namespace stoker::cli
