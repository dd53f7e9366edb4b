#include "stoker/observe/recommend/data_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/base/philox.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kSampledFiles = 64;
constexpr double kBytesPerSample = 2;
constexpr double kSecondsPerHour = 3600;

std::string ending_of(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  std::string ending(dot == file.npos ? std::string_view() : file.substr(dot + 1));
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

}  // namespace

double mean_file_bytes(const data::Index& index) {
  KeyedDraws draws({kDefaultSeed, "survey files", 0, 0});
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < std::min(kSampledFiles, index.size()); ++i) {
    const Result<File> file = index.open_sound(index[draws.next_below(index.size())]);
    if (!file) continue;
    const Result<FileInfo> info = file->info();
    if (!info) continue;
    sum += static_cast<double>(info->size_bytes);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

DataSurvey survey_data(const data::Index& index, const config::Settings& settings) {
  DataSurvey survey;
  survey.num_utterances = index.size();
  survey.audio_s = index.audio_s();
  if (index.size() == 0) return survey;
  const config::MelRecipe recipe = config::recipe_of(settings.features);
  const auto count = static_cast<double>(index.size());
  std::vector<double> lengths_s;
  lengths_s.reserve(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const data::Utterance utterance = index[i];
    lengths_s.push_back(utterance.duration_s());
    ++survey.formats[ending_of(utterance.file)];
    ++survey.rates_hz[utterance.rate_hz];
    if (utterance.rate_hz != recipe.sample_rate_hz) survey.resampled_share += 1 / count;
  }
  std::sort(lengths_s.begin(), lengths_s.end());
  survey.shortest_s = lengths_s.front();
  survey.median_s = lengths_s[lengths_s.size() / 2];
  survey.p95_s = lengths_s[lengths_s.size() * 95 / 100];
  survey.longest_s = lengths_s.back();
  const auto rate_hz = static_cast<double>(recipe.sample_rate_hz);
  const double frames = survey.audio_s * rate_hz / static_cast<double>(recipe.hop_samples);
  const double value_bytes = settings.cache.dtype == config::MelDtype::kF32 ? 4 : 2;
  survey.frames_per_clip = frames / count;
  survey.mel_bytes = frames * static_cast<double>(recipe.num_mels) * value_bytes;
  survey.pcm_bytes = survey.audio_s * rate_hz * kBytesPerSample;
  survey.mean_file_bytes = mean_file_bytes(index);
  return survey;
}

Json survey_json(const DataSurvey& survey) {
  Json formats = Json::object(), rates = Json::object();
  for (const auto& [name, count] : survey.formats) formats[name] = count;
  for (const auto& [rate, count] : survey.rates_hz) rates[std::to_string(rate)] = count;
  return {{"clips", survey.num_utterances},
          {"audio_s", survey.audio_s},
          {"length_s",
           {{"shortest", survey.shortest_s},
            {"median", survey.median_s},
            {"p95", survey.p95_s},
            {"longest", survey.longest_s}}},
          {"formats", std::move(formats)},
          {"rates_hz", std::move(rates)},
          {"resampled_share", survey.resampled_share},
          {"mean_file_bytes", survey.mean_file_bytes},
          {"mel_bytes", survey.mel_bytes},
          {"pcm_bytes", survey.pcm_bytes},
          {"frames_per_clip", survey.frames_per_clip}};
}

std::string survey_text(const DataSurvey& survey) {
  std::string formats, rates;
  for (const auto& [name, count] : survey.formats)
    formats += (formats.empty() ? "" : ", ") + (name.empty() ? "no ending" : name);
  for (const auto& [rate, count] : survey.rates_hz)
    rates += (rates.empty() ? "" : ", ") + grouped(rate);
  return fmt::format("{}, {:.2f} h, {:.1f} to {:.1f} s (half below {:.1f}), {} at {} Hz, {} a file",
                     counted(survey.num_utterances, "clip", "clips"),
                     survey.audio_s / kSecondsPerHour, survey.shortest_s, survey.longest_s,
                     survey.median_s, formats, rates,
                     bytes_text(static_cast<std::uint64_t>(survey.mean_file_bytes)));
}

}  // namespace stoker::observe
