// Reads tokens, mel and samples of a data set's utterances for one worker: from records of the
// cache where they may be used, else from the sources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/cache/read/reader.h"
#include "stoker/data/features/sound_loader.h"
#include "stoker/feed/source/data_set_source.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

class DataSetReader final : public UtteranceReader {
 public:
  explicit DataSetReader(const DataSetSource& source);

  void enter_epoch(std::uint64_t epoch) override { epoch_ = epoch; }
  void prefetch(std::uint32_t utterance) const override;
  void prefetch_tokens(std::uint32_t utterance) const override;
  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override;
  Result<std::uint32_t> read_mel(std::uint32_t utterance, const MelTarget& out,
                                 pipeline::FillContext& context) override;
  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override;
  std::span<const std::byte> find_mel(std::uint32_t utterance, config::MelDtype dtype) override;
  std::span<const std::byte> find_pcm(std::uint32_t utterance) override;
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   pipeline::FillContext& context) override;

  Result<std::uint32_t> read_array(std::uint32_t utterance, std::size_t array,
                                   std::span<std::byte> out) override;
  ReadCounts take_counts() override { return std::exchange(counts_, {}); }

  // Decodes the utterance to know its length; nothing when it cannot be decoded.
  std::optional<std::uint32_t> count_frames(std::uint32_t utterance);

 private:
  using Samples = data::SoundLoader::Samples;

  std::span<const std::byte> find_record(const std::optional<cache::RecordRef>& record);
  Result<void> read_cached_mel(const cache::RecordRef& record, const MelTarget& out);
  Result<std::uint32_t> make_mel(std::uint32_t utterance, const MelTarget& out,
                                 pipeline::FillContext& context);
  Samples load_samples(std::uint32_t utterance, pipeline::FillContext* context);
  // As load_samples(), augmented for the epoch.
  Samples load_changed(std::uint32_t utterance, pipeline::FillContext& context);
  // The utterance's file, open and as it was when indexed.
  Result<data::OpenSound> open_sound(std::uint32_t utterance);
  Result<void> check_info(std::uint32_t utterance, const audio::SoundInfo& info);
  bool has_same_content(std::uint32_t utterance);
  Samples load_file(std::uint32_t utterance, pipeline::FillContext* context);
  Samples load_sound(const data::OpenSound& sound, pipeline::FillContext* context);
  Result<std::uint32_t> read_file_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                      pipeline::FillContext& context);
  void note_cached(std::uint64_t num_bytes) {
    counts_.num_bytes += num_bytes;
    ++counts_.num_cached;
  }
  void note_file(const data::OpenSound& sound);
  Samples load_record(const cache::RecordRef& record);
  Samples read_record(const cache::RecordRef& record, std::span<std::int16_t> out);
  Result<void> check_planned(std::uint32_t utterance, std::size_t num_samples) const;
  // The front of `out`, where the utterance has as many samples as was planned.
  Result<std::span<std::int16_t>> find_room(std::uint32_t utterance, std::size_t num_samples,
                                            std::span<std::int16_t> out) const;
  Result<std::uint32_t> write_mel(std::uint32_t utterance, std::span<const std::int16_t> samples,
                                  const MelTarget& out);
  Result<void> fall_back(std::uint32_t utterance, const Error& error) const;
  // From the text, in place of a record of `count` tokens that cannot be read.
  Result<std::uint32_t> make_tokens(std::uint32_t utterance, std::uint32_t count,
                                    std::span<std::int32_t> out);
  Result<std::uint32_t> make_array(std::uint32_t utterance, std::size_t array,
                                   std::span<std::byte> out);

  const DataSetSource& source_;
  ReadCounts counts_;
  cache::ReadScratch scratch_;
  data::SoundLoader loader_;
  data::UtteranceTokenizer tokenizer_;
  std::optional<audio::LogMel::Workspace> workspace_;
  std::uint64_t epoch_ = 0;
  std::vector<std::int16_t> pcm_;
  std::vector<std::int16_t> changed_;
  std::vector<std::unique_ptr<cache::RecordMaker::Worker>> array_workers_;  // by array
  cache::MadeRecord made_;
  std::vector<std::byte> mel_;  // in the cache's number format, when the batch has another
};

}  // namespace stoker::feed
