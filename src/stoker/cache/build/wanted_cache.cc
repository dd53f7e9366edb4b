#include "stoker/cache/build/wanted_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/cache/list_key.h"
#include "stoker/config/settings_text.h"
#include "stoker/data/from_settings.h"
#include "stoker/text/sentencepiece/vocabulary.h"

namespace stoker::cache {
namespace {

constexpr std::uint64_t kMaxSidecarBytes = std::uint64_t{1} << 30U;

using Values = std::vector<std::pair<std::string, std::string>>;

Digest128 digest_of_values(const Values& values) {
  DigestStream stream;
  for (const auto& [name, value] : values) {
    stream.add_text(name);
    stream.add_text(value);
  }
  return stream.finish();
}

Values feature_values(const config::Settings& settings) {
  Values values = config::group_values(settings, config::Affects::kFeatures);
  values.emplace_back("code.mel", std::to_string(kMelCodeVersion));
  return values;
}

Values text_values(const config::Settings& settings) {
  Values values = config::group_values(settings, config::Affects::kText);
  values.emplace_back("code.text", std::to_string(kTextCodeVersion));
  if (settings.text.vocabulary == "sentencepiece")
    values.emplace_back("text.vocabulary_content",
                        text::sentencepiece::model_digest(settings.text.vocabulary_file));
  return values;
}

// PCM16 depends on what happens before the mel, not on the mel.
Digest128 pcm_digest(const config::Settings& settings) {
  Values values = feature_values(settings);
  std::erase_if(values, [](const auto& value) {
    return (value.first.starts_with("mel.") && value.first != "mel.sample_rate_hz") ||
           value.first == "cache.dtype" || value.first == "code.mel";
  });
  return digest_of_values(values);
}

std::unique_ptr<text::PhonemeSidecar> load_phonemes(const config::Settings& settings,
                                                    const data::Index& index) {
  const File& root = index.sources().front().root;
  Result<File> file = open_beneath(root, settings.text.phonemes_file, OpenFor::kRead);
  if (!file) raise(std::move(file).error());
  const std::vector<std::byte> bytes = read_whole(*file, kMaxSidecarBytes).take_or_raise();
  return std::make_unique<text::PhonemeSidecar>(
      text::PhonemeSidecar::parse(view_text(bytes), file->path()).take_or_raise());
}

}  // namespace

Manifest wanted_head(const config::Settings& settings, SimdLevel level) {
  Manifest head;
  head.path = fmt::format("{}/{}", simd_level_name(level), config::name_of(settings.cache.dtype));
  const Values features = feature_values(settings);
  const Values text = text_values(settings);
  head.features = digest_of_values(features);
  head.text = digest_of_values(text);
  for (const auto& [name, value] : features) head.settings.push_back({"features", name, value});
  for (const auto& [name, value] : text) head.settings.push_back({"text", name, value});
  std::sort(head.settings.begin(), head.settings.end());
  return head;
}

WantedCache::WantedCache(const config::Settings& settings, const data::Index& index,
                         SimdLevel level, Io& io)
    : rows_(index), mel_(config::recipe_of(settings.features), level) {
  target_.head = wanted_head(settings, level);
  if (const std::string list = list_key(settings, io); !list.empty())
    target_.head.settings.insert(target_.head.settings.begin(), {"data", "list", list});
  add_sound_makers(settings);
  add_token_maker(settings, io);
  add_array_makers(settings, io);
  for (const auto& maker : makers_) target_.makers.push_back(maker.get());
}

void WantedCache::add_sound_makers(const config::Settings& settings) {
  const SoundSource source{&rows_, data::speech_rule_of(settings),
                           data::index_options_of(settings).sound};
  if (settings.cache.content != config::CacheContent::kPcm)
    makers_.push_back(std::make_unique<MelMaker>(source, target_.head.features, mel_,
                                                 element_of(settings.cache.dtype)));
  if (settings.cache.content != config::CacheContent::kMel)
    makers_.push_back(std::make_unique<PcmMaker>(source, pcm_digest(settings)));
}

void WantedCache::add_token_maker(const config::Settings& settings, Io&) {
  TokenMaker::Source source;
  source.rows = &rows_;
  text::TokenizerOptions options = data::tokenizer_options_of(settings.text);
  if (settings.text.vocabulary == "phonemes") {
    phonemes_ = load_phonemes(settings, rows_.index());
    options.phones = phonemes_->symbols();
    source.phonemes = phonemes_.get();
  }
  const bool per_language = options.language == settings.text.language;
  for (const std::string& language : rows_.index().languages()) {
    if (per_language && !language.empty()) options.language = language;
    tokenizers_.push_back(std::make_unique<text::Tokenizer>(options));
    source.tokenizers.push_back(tokenizers_.back().get());
  }
  DigestStream digest;
  digest.add_text(target_.head.text.hex());
  for (const auto& tokenizer : tokenizers_) digest.add_text(tokenizer->identity());
  makers_.push_back(std::make_unique<TokenMaker>(std::move(source), digest.finish()));
}

void WantedCache::add_array_makers(const config::Settings& settings, Io& io) {
  for (const auto& [name, path] : settings.cache.arrays) {
    File folder = open_file(io, path, OpenFor::kFolder).take_or_raise();
    NpyFolder files = list_npy_folder(folder).take_or_raise();
    std::vector<NpyFolder::Row> used;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto at = std::lower_bound(
          files.rows.begin(), files.rows.end(), rows_[row].id,
          [](const NpyFolder::Row& file, std::string_view id) { return file.id < id; });
      if (at != files.rows.end() && at->id == rows_[row].id) used.push_back(*at);
    }
    makers_.push_back(std::make_unique<ArrayMaker>(
        std::move(folder), std::move(used),
        ArrayMaker::Options{RecordKind::kArray, name, digest_of("array " + name), accept_finite}));
  }
}

}  // namespace stoker::cache
