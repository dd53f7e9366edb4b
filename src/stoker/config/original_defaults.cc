#include "stoker/config/original_defaults.h"

#include <array>

namespace stoker::config {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 23> kDefaults{{
    {"features.preset", "myxtts"},
    {"features.trim_silence", "true"},
    {"features.loudness", "lufs"},
    {"text.vocabulary", "myxtts"},
    {"text.cleaner", "english_cleaners"},
    {"text.unknown", "drop"},
    {"text.add_blank", "true"},
    {"data.max_text_tokens", "1024"},
    {"data.max_text_length", "200"},
    {"data.max_mel_frames", "1024"},
    {"data.max_audio_length", "11.0"},
    {"data.batch_size", "56"},
    {"data.num_workers", "18"},
    {"data.prefetch_buffer_size", "12"},
    {"cache.auto_rebuild_mel_cache", "false"},
    {"training.epochs", "1000"},
    {"training.scheduler", "noam"},
    {"training.warmup_steps", "4000"},
    {"training.save_step", "25000"},
    {"training.val_step", "5000"},
    {"training.log_step", "100"},
    {"training.early_stopping_patience", "25"},
    {"observe.text2audio_interval_steps", "200"},
}};

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> original_defaults() {
  return kDefaults;
}

}  // namespace stoker::config
