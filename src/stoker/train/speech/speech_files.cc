#include "stoker/train/speech/speech_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/audio/pcm16.h"
#include "stoker/base/bytes.h"
#include "stoker/base/io/output_file.h"
#include "stoker/base/report/heat_map.h"
#include "stoker/base/utf8.h"
#include "stoker/cache/format/npy.h"
#include "stoker/train/checkpoint/run_folder.h"

namespace stoker::train {
namespace {

// As much of a text as a picture has room for; cut between characters.
std::string title_of(const std::string& text) {
  constexpr std::size_t kMostBytes = 60;
  if (text.size() <= kMostBytes) return text;
  return text.substr(0, find_invalid_utf8(std::string_view(text).substr(0, kMostBytes))) + "…";
}

std::vector<std::byte> wav_bytes(const Speech& speech) {
  std::vector<std::int16_t> samples(speech.samples.size());
  audio::to_pcm16(speech.samples, samples);
  return audio::wav_pcm16_bytes(samples, speech.rate_hz);
}

std::vector<std::byte> npy_bytes(const Speech& speech) {
  const cache::ArrayShape shape{.element = cache::ElementType::kF32,
                                .rank = 2,
                                .axes = {static_cast<std::uint32_t>(speech.num_frames),
                                         static_cast<std::uint32_t>(speech.num_mels)}};
  return cache::encode_npy(shape, std::as_bytes(std::span(speech.mel)));
}

// One table: the tokens at the bottom, a row apart the mel bands above them. The frames of a token
// are as bright as the loudest cell, all else of the lower part as dark as the quietest.
struct Picture {
  explicit Picture(const Speech& speech)
      : num_frames(static_cast<std::size_t>(speech.num_frames)),
        num_mels(static_cast<std::size_t>(speech.num_mels)),
        num_tokens(speech.symbols.size()),
        values(num_frames * (num_tokens + 1 + num_mels)) {
    if (speech.mel.empty()) return;
    const auto [low, high] = std::minmax_element(speech.mel.begin(), speech.mel.end());
    std::fill(values.begin(), values.end(), *low);
    for (std::size_t frame = 0; frame < num_frames; ++frame) {
      const auto token = static_cast<std::size_t>(speech.token_of_frame[frame]);
      if (token < num_tokens) at(token, frame) = *high;
      for (std::size_t band = 0; band < num_mels; ++band)
        at(num_tokens + 1 + band, frame) = speech.mel[frame * num_mels + band];
    }
    frame_.title = title_of(speech.text);
    frame_.description = fmt::format("{} frames of {} tokens", num_frames, num_tokens);
    const double hop_s = static_cast<double>(speech.samples.size()) / speech.rate_hz /
                         static_cast<double>(num_frames);
    frame_.x = {.label = "time (s)", .low = 0.0, .high = hop_s * static_cast<double>(num_frames)};
    frame_.y = {.label = "token, above them mel band"};
  }

  float& at(std::size_t row, std::size_t frame) { return values[row * num_frames + frame]; }
  HeatMap map() const {
    return {.num_columns = num_frames,
            .num_rows = num_tokens + 1 + num_mels,
            .values = values,
            .value_label = "log magnitude"};
  }

  std::size_t num_frames, num_mels, num_tokens;
  std::vector<float> values;
  ChartFrame frame_;
};

void write_picture(Io& io, const std::string& path, const Speech& speech) {
  if (path.ends_with(".svg"))
    publish_output(io, path, view_bytes(speech_picture_svg(speech))).take_or_raise();
  else
    publish_output(io, path, speech_picture_png(speech)).take_or_raise();
}

}  // namespace

std::string speech_picture_svg(const Speech& speech) {
  const Picture picture(speech);
  return heat_map_chart(picture.frame_, picture.map());
}

std::vector<std::byte> speech_picture_png(const Speech& speech) {
  const Picture picture(speech);
  return heat_map_png(picture.frame_, picture.map());
}

Json write_speech(Io& io, const SpeechReport& report, const SpeechFiles& files) {
  Json rows = Json::array();
  Json written = Json::array();
  for (std::size_t i = 0; i < report.speeches.size(); ++i) {
    const Speech& speech = report.speeches[i];
    Json row{{"text", speech.text},
             {"audio_s", static_cast<double>(speech.samples.size()) / speech.rate_hz},
             {"frames", speech.num_frames}};
    const auto note = [&](std::string_view key, const std::string& path) {
      row[key] = path;
      written.push_back(path);
    };
    if (!files.out.empty()) {
      publish_output(io, files.out[i], wav_bytes(speech)).take_or_raise();
      note("file", files.out[i]);
    }
    if (!files.save_mel.empty()) {
      publish_output(io, files.save_mel[i], npy_bytes(speech)).take_or_raise();
      note("mel", files.save_mel[i]);
    }
    if (!files.pictures.empty()) {
      write_picture(io, files.pictures[i], speech);
      note("picture", files.pictures[i]);
    }
    rows.push_back(std::move(row));
  }
  return {{"audio_s", report.audio_s},         {"compute_s", report.compute_s},
          {"first_use_s", report.first_use_s}, {"rtf", report.rtf()},
          {"files", std::move(written)},       {"speeches", std::move(rows)}};
}

std::vector<SpokenSample> speak_sample(Io& io, const SampleRequest& request) {
  const SpeechReport report = speak_with(request.learner, request.voice, request.texts);
  std::vector<SpokenSample> samples;
  for (const Speech& speech : report.speeches) {
    const std::string file = fmt::format("{}/{}-{}.wav", request.folder,
                                         checkpoint_name(request.step), samples.size() + 1);
    publish_output(io, file, wav_bytes(speech)).take_or_raise();
    samples.push_back(
        {.file = file, .rate_hz = speech.rate_hz, .num_samples = speech.samples.size()});
  }
  return samples;
}

}  // namespace stoker::train
