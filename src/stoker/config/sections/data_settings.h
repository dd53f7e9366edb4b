// Settings of the data set: where it is, how its rows are read, which of them are used.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

struct DataSettings {
  static constexpr std::string_view kSection = "data";
  static constexpr std::string_view kTitle = "Data set";

  std::string path;
  std::string val_path;
  std::vector<MixedSource> sources;
  StringMap columns;
  std::string audio_root;
  std::string metadata_train_file, metadata_eval_file;
  std::string wavs_train_dir, wavs_eval_dir;
  Split split = Split::kAll;
  double train_split = 0.9, val_split = 0.1;
  double train_subset_fraction = 1.0, eval_subset_fraction = 1.0;
  std::int64_t subset_seed = kDefaultSeed;
  BadInputs bad_inputs = BadInputs::kSkip;
  double max_bad_fraction = 0.01;
  std::int64_t max_bad_rows = 8;
  ExtraPipes extra_pipes = ExtraPipes::kReject;
  InvisibleCharacters invisible = InvisibleCharacters::kDrop;
  Links links = Links::kBeneath;
  OtherRates other_rates = OtherRates::kResample;
  bool allow_streamed = false, allow_odd_data = true, allow_mix = true;

  static constexpr auto fields() {
    using C = DataSettings;
    return std::tuple{
        field("path", &C::path, "Folder or metadata file of the data set.")
            .flags("--data --train-data --data-path")
            .myxtts("data.dataset_path"),
        field("val_path", &C::val_path,
              "Data set to evaluate on; empty: the evaluation part of data.path.")
            .flags("--val-data"),
        field("sources", &C::sources,
              "Several data sets in one index: a list of {data, weight, name, language}."),
        field("columns", &C::columns,
              "Which column holds what, e.g. {audio: path, text: sentence, speaker: client_id}."),
        field("audio_root", &C::audio_root, "Folder that audio paths in the metadata start from."),
        field("metadata_train_file", &C::metadata_train_file,
              "Metadata of the training part, instead of the file looked for in the folder."),
        field("metadata_eval_file", &C::metadata_eval_file, "The same for the evaluation part."),
        field("wavs_train_dir", &C::wavs_train_dir, "Audio folder of the training part."),
        field("wavs_eval_dir", &C::wavs_eval_dir, "Audio folder of the evaluation part."),
        field("split", &C::split, "Which part of the rows to use."),
        field("train_split", &C::train_split, {0.0, 1.0}, "Share of ids in the training part."),
        field("val_split", &C::val_split, {0.0, 1.0}, "Share of ids in the evaluation part."),
        field("train_subset_fraction", &C::train_subset_fraction, {0.0, 1.0},
              "Share of the training part to use."),
        field("eval_subset_fraction", &C::eval_subset_fraction, {0.0, 1.0},
              "Share of the evaluation part to use."),
        field("subset_seed", &C::subset_seed, {0, INT64_MAX}, "Seed of both subsets."),
        field("bad_inputs", &C::bad_inputs, "Leave bad rows out within the bound, or fail."),
        field("max_bad_fraction", &C::max_bad_fraction, {0.0, 1.0},
              "Share of rows that may be bad before the work ends with exit 3."),
        field("max_bad_rows", &C::max_bad_rows, {0, 1'000'000'000},
              "Bad rows that are always allowed, however few rows there are."),
        field("extra_pipes", &C::extra_pipes,
              "More than two | in a row: reject it, or join the "
              "rest into the text."),
        field("invisible", &C::invisible, "Control, bidi and zero-width characters in texts."),
        field("links", &C::links, "Symbolic links: follow those that stay inside, or refuse all."),
        field("other_rates", &C::other_rates, "Files at another sample rate than the features."),
        field("allow_streamed", &C::allow_streamed,
              "Read WAV files whose data size is 0xFFFFFFFF to their end."),
        field("allow_odd_data", &C::allow_odd_data,
              "Read WAV files whose last sample is cut; it is left out."),
        field("allow_mix", &C::allow_mix, "Mix several channels to their mean."),
    };
  }
};

// Rows outside the limits are filtered: counted apart from rejects.
struct RowSettings {
  static constexpr std::string_view kSection = "data";
  static constexpr std::string_view kTitle = "Rows";

  double min_audio_s = 0.0;
  Maybe<double> max_audio_s;
  std::int64_t min_text_length = 0;
  Maybe<std::int64_t> max_text_length;
  Maybe<std::int64_t> max_text_tokens;
  Maybe<std::int64_t> max_mel_frames;
  double text_rate_factor = 4.0;
  Auto<bool> enable_multispeaker;
  std::string speaker_id_pattern;
  std::int64_t max_speakers = 1000;

  static constexpr auto fields() {
    using C = RowSettings;
    constexpr double kDaySeconds = 86400.0;
    constexpr std::int64_t kMany = 1'000'000'000;
    return std::tuple{
        field("min_audio_length", &C::min_audio_s, {0.0, kDaySeconds}, "Shorter rows are left out.")
            .unit("s"),
        field("max_audio_length", &C::max_audio_s, {0.0, kDaySeconds}, "Longer rows are left out.")
            .unit("s"),
        field("min_text_length", &C::min_text_length, {0, kMany},
              "Rows with fewer characters are left out.")
            .unit("characters"),
        field("max_text_length", &C::max_text_length, {1, kMany},
              "Rows with more characters are left out.")
            .unit("characters"),
        field("max_text_tokens", &C::max_text_tokens, {1, kMany},
              "Rows with more tokens are left out.")
            .unit("tokens"),
        field("max_mel_frames", &C::max_mel_frames, {1, kMany},
              "Rows with more mel frames are left out.")
            .unit("frames"),
        field("text_rate_factor", &C::text_rate_factor, {1.5, 1000.0},
              "Rows whose characters per second differ from the median by more than this factor "
              "are listed as suspicious."),
        field("enable_multispeaker", &C::enable_multispeaker,
              "auto: the speakers that the data set names; true: else those that ids name; false: "
              "one speaker."),
        field("speaker_id_pattern", &C::speaker_id_pattern,
              "Regular expression on the id whose group 1 is the speaker."),
        field("max_speakers", &C::max_speakers, {1, 10'000'000}, "More speakers are an error."),
    };
  }
};

}  // namespace stoker::config
