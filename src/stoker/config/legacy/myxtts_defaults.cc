#include <array>

#include "stoker/config/legacy/myxtts_tables.h"

namespace stoker::config {
namespace {

constexpr std::array<WrittenValue, 58> kDefaults{{
    {"features.preset", "myxtts"},
    {"features.sample_rate", "22050"},
    {"features.trim_silence", "true"},
    {"features.loudness", "lufs"},
    {"features.target_loudness_lufs", "-23"},
    {"text.language", "en"},
    {"text.vocabulary", "myxtts"},
    {"text.cleaner", "english_cleaners"},
    {"text.unknown", "drop"},
    {"text.add_blank", "true"},
    {"data.enable_multispeaker", "false"},
    {"data.max_speakers", "1000"},
    {"data.train_split", "0.9"},
    {"data.val_split", "0.1"},
    {"data.subset_seed", "42"},
    {"data.max_text_tokens", "1024"},
    {"data.max_text_length", "200"},
    {"data.max_mel_frames", "1024"},
    {"data.max_audio_length", "11.0"},
    {"data.reference_audio_length", "3.0"},
    {"data.batch_size", "56"},
    {"data.num_workers", "18"},
    {"data.prefetch_buffer_size", "12"},
    {"data.preprocessing_mode", "auto"},
    {"data.use_native_loading", "true"},
    {"data.optimize_cpu_gpu_overlap", "true"},
    {"data.auto_tune_performance", "true"},
    {"augment.enable_pitch_shift", "false"},
    {"augment.pitch_shift_range", "[-2, 2]"},
    {"augment.enable_noise_mixing", "false"},
    {"augment.noise_mixing_probability", "0.3"},
    {"augment.noise_mixing_snr_range", "[10, 30]"},
    {"cache.tier", "disk"},
    {"cache.enable_memory_mapping", "true"},
    {"cache.cache_verification", "true"},
    {"cache.auto_rebuild_token_cache", "true"},
    {"cache.auto_rebuild_mel_cache", "false"},
    {"gpu.prefetch_to_gpu", "true"},
    {"gpu.enhanced_gpu_prefetch", "true"},
    {"gpu.buffer_size", "50"},
    {"gpu.model_start_delay", "2.0"},
    {"training.epochs", "1000"},
    {"training.gradient_accumulation_steps", "1"},
    {"training.max_memory_fraction", "0.9"},
    {"training.optimizer", "adamw"},
    {"training.beta1", "0.9"},
    {"training.beta2", "0.999"},
    {"training.eps", "1e-8"},
    {"training.weight_decay", "1e-6"},
    {"training.gradient_clip_norm", "1.0"},
    {"training.scheduler", "noam"},
    {"training.warmup_steps", "4000"},
    {"training.save_step", "25000"},
    {"training.val_step", "5000"},
    {"training.log_step", "100"},
    {"training.early_stopping_patience", "25"},
    {"training.keep_checkpoints", "5"},
    {"observe.text2audio_interval_steps", "200"},
}};

std::vector<WrittenValue> enhanced(ModelSize size) {
  const auto by_size = [size](std::string_view tiny, std::string_view small,
                              std::string_view other) {
    if (size == ModelSize::kTiny) return tiny;
    return size == ModelSize::kSmall ? small : other;
  };
  return {{"training.learning_rate", by_size("3e-5", "5e-5", "8e-5")},
          {"training.gradient_clip_norm", by_size("0.5", "0.7", "0.8")},
          {"training.scheduler", "cosine_restarts"},
          {"training.restart_period", by_size("6000", "7000", "8000")},
          {"training.restart_mult", "0.8"},
          {"training.min_learning_rate", "1e-7"}};
}

}  // namespace

std::span<const WrittenValue> myxtts_defaults() { return kDefaults; }

std::vector<WrittenValue> level_values(OptimizationLevel level, ModelSize size) {
  switch (level) {
    case OptimizationLevel::kNone:
      return {};
    case OptimizationLevel::kBasic:
      return {{"training.learning_rate", "1e-5"},
              {"training.gradient_clip_norm", "0.5"},
              {"training.warmup_steps", "3000"},
              {"training.scheduler", "noam"}};
    case OptimizationLevel::kEnhanced:
      return enhanced(size);
    case OptimizationLevel::kPlateauBreaker:
      return {{"training.learning_rate", "1.5e-5"},
              {"training.gradient_clip_norm", "0.3"},
              {"training.scheduler", "cosine_restarts"},
              {"training.restart_period", "100000"}};
    case OptimizationLevel::kExperimental:
      return {{"training.scheduler", "cosine"}, {"training.restart_period", "8000"}};
  }
  return {};
}

}  // namespace stoker::config
