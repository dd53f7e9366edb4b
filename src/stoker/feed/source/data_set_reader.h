// One worker's way from a row of a data set to its tokens, mel and samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/cache/read/reader.h"
#include "stoker/feed/source/data_set_source.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

class DataSetReader final : public UtteranceReader {
 public:
  explicit DataSetReader(const DataSetSource& store);

  void enter_epoch(std::uint64_t epoch) override { epoch_ = epoch; }
  void prefetch(std::uint32_t row) const override;
  void prefetch_tokens(std::uint32_t row) const override;
  Result<std::uint32_t> read_tokens(std::uint32_t row, std::span<std::int32_t> out) override;
  Result<std::uint32_t> read_mel(std::uint32_t row, const MelTarget& out,
                                 pipeline::FillContext& context) override;
  Result<std::uint32_t> read_pcm(std::uint32_t row, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override;
  std::span<const std::byte> find_mel(std::uint32_t row, config::MelDtype dtype) override;
  std::span<const std::byte> find_pcm(std::uint32_t row) override;
  Result<std::uint32_t> read_audio(std::uint32_t row, std::span<float> out,
                                   pipeline::FillContext& context) override;

  Result<std::uint32_t> read_array(std::uint32_t row, std::size_t array,
                                   std::span<std::byte> out) override;

  // Decodes the row to know its length; nothing when it cannot be decoded.
  std::optional<std::uint32_t> count_frames(std::uint32_t row);

 private:
  using Samples = Result<std::span<const std::int16_t>>;

  std::span<const std::byte> find_record(const std::optional<cache::RecordRef>& record);
  Result<void> read_cached_mel(const cache::RecordRef& record, const MelTarget& out);
  Result<std::uint32_t> make_mel(std::uint32_t row, const MelTarget& out,
                                 pipeline::FillContext& context);
  Samples load_samples(std::uint32_t row, pipeline::FillContext* context);
  // As load_samples(), augmented for the epoch.
  Samples load_changed(std::uint32_t row, pipeline::FillContext& context);
  // The row's file, open and as it was when indexed.
  struct Sound {
    data::Utterance utterance;
    File file;
    audio::SoundInfo info;
  };
  Result<Sound> open_sound(std::uint32_t row);
  Result<void> check_info(std::uint32_t row, const audio::SoundInfo& info);
  bool has_same_content(std::uint32_t row);
  Samples load_file(std::uint32_t row);
  Result<std::uint32_t> read_file_pcm(std::uint32_t row, std::span<std::int16_t> out);
  Samples load_record(const cache::RecordRef& record);
  Samples read_record(const cache::RecordRef& record, std::span<std::int16_t> out);
  Result<void> check_planned(std::uint32_t row, std::size_t num_samples) const;
  // The front of `out`, where the row has as many samples as was planned.
  Result<std::span<std::int16_t>> find_room(std::uint32_t row, std::size_t num_samples,
                                            std::span<std::int16_t> out) const;
  Result<std::uint32_t> write_mel(std::uint32_t row, std::span<const std::int16_t> samples,
                                  const MelTarget& out);
  Result<void> fall_back(std::uint32_t row, const Error& error) const;
  // From the text, in place of a record of `count` tokens that cannot be read.
  Result<std::uint32_t> make_tokens(std::uint32_t row, std::uint32_t count,
                                    std::span<std::int32_t> out);
  Result<std::uint32_t> make_array(std::uint32_t row, std::size_t array, std::span<std::byte> out);

  const DataSetSource& store_;
  cache::ReadScratch scratch_;
  audio::PreparedSpeech speech_;
  std::optional<audio::LogMel::Workspace> workspace_;
  std::uint64_t epoch_ = 0;
  std::vector<std::int16_t> pcm_;
  std::vector<std::int16_t> changed_;
  std::unique_ptr<cache::RecordMaker::Worker> token_worker_;
  std::vector<std::unique_ptr<cache::RecordMaker::Worker>> array_workers_;  // by array
  cache::MadeRecord made_;
  std::vector<std::byte> mel_;  // in the cache's number format, when the batch has another
};

}  // namespace stoker::feed
