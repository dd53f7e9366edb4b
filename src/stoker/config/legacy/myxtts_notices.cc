#include <array>

#include "stoker/config/legacy/myxtts_tables.h"

namespace stoker::config {
namespace {

constexpr std::string_view kModel =
    "the model's parts follow from training.model_size and cannot be set one by one";
constexpr std::string_view kLoss = "the model has its own loss terms; their weights are fixed";
constexpr std::string_view kVoice = "voice cloning follows from data.reference; it has no knobs";
constexpr std::string_view kStyle = "there are no style tokens; data.reference gives the style";
constexpr std::string_view kShown =
    "always measured; stoker diagnose, monitor and the report show it";
constexpr std::string_view kMemory =
    "memory is bounded by data.buffer_memory, gpu.data_gpu_memory "
    "and gpu.model_gpu_memory, allocated once";
constexpr std::string_view kInterval =
    "intervals are counted in steps: training.save_step, val_step and log_step";

constexpr std::array kNotices{
    MyxttsNotice{"data", "persistent_workers", "stoker's workers are threads and never restart"},
    MyxttsNotice{"data", "multiprocessing_context", "workers are threads; no process is started"},
    MyxttsNotice{"data", "async_data_loading",
                 "loading is always asynchronous; data.optimize_cpu_gpu_overlap turns it off"},
    MyxttsNotice{"data", "auto_download_ljspeech", "nothing is downloaded; give data.path"},
    MyxttsNotice{"data", "dataset_name", "the layout is found from the folder's content"},
    MyxttsNotice{"data", "cache_data preload_data",
                 "stoker precompute builds the cache; cache.tier: ram keeps it in memory"},
    MyxttsNotice{"data", "enable_data_validation",
                 "every row is always checked; see data.bad_inputs"},
    MyxttsNotice{"data", "enable_multilingual supported_languages language_detection_method",
                 "each source has a language: text.language and data.sources"},
    MyxttsNotice{"data", "enable_phone_normalization use_phonemes enable_phonemes phoneme_language",
                 "text.vocabulary: phonemes takes them from text.phonemes_file"},
    MyxttsNotice{"data", "enable_text_normalization", "text.cleaner: none turns normalisation off"},
    MyxttsNotice{"data", "enable_vad", "features.trim_silence cuts silence at both ends"},
    MyxttsNotice{"data", "silence_threshold", "the threshold is features.trim_top_db, in decibels"},
    MyxttsNotice{"data", "enable_tensorrt", "there is no TensorRT; kernels are fused by hand"},
    MyxttsNotice{"data", "enable_xla", "there is no XLA; training.graphs replays CUDA graphs"},
    MyxttsNotice{"data", "max_wav_length min_wav_length",
                 "lengths are given in seconds: data.min_audio_length and data.max_audio_length"},
    MyxttsNotice{"data", "pad_to_multiple", "shapes are always multiples of 8"},
    MyxttsNotice{"data", "prefetch_factor",
                 "data.prefetch_buffer_size counts batches over all workers"},
    MyxttsNotice{"data", "shuffle_buffer_multiplier",
                 "each epoch is a full permutation; there is no shuffle buffer"},
    MyxttsNotice{"data", "sort_by_length", "batches are always built from rows of similar length"},

    MyxttsNotice{"gpu_optimization", "enable_async_prefetch max_prefetch_batches",
                 "gpu.enhanced_gpu_prefetch and gpu.buffer_size set the prefetch"},
    MyxttsNotice{
        "gpu_optimization",
        "cleanup_interval enable_memory_defragmentation enable_memory_pool memory_pool_size",
        kMemory},
    MyxttsNotice{"gpu_optimization",
                 "enable_performance_logging log_gpu_stats log_memory_stats log_timing_stats "
                 "min_gpu_utilization_warning monitoring_interval target_gpu_utilization",
                 kShown},
    MyxttsNotice{"gpu_optimizations", "allow_memory_growth", kMemory},
    MyxttsNotice{"gpu_optimizations", "auto_mixed_precision",
                 "training.precision sets the arithmetic"},
    MyxttsNotice{
        "gpu_optimizations",
        "inter_op_parallelism_threads intra_op_parallelism_threads parallel_data_calls "
        "tensorflow_data_autotune",
        "TensorFlow is gone; data.num_workers and data.auto_tune_performance set the threads"},
    MyxttsNotice{"logging", "level", "--verbose and --quiet set how much is said"},
    MyxttsNotice{"logging",
                 "log_data_loading_time log_gpu_utilization log_memory_usage save_training_plots",
                 kShown},
    MyxttsNotice{"loss", "use_adaptive_loss_weights use_huber_loss use_label_smoothing", kLoss},
    MyxttsNotice{"vocoder", "type", "speech is made by the built-in vocoder"},

    MyxttsNotice{"model",
                 "architecture attention_dim attention_dropout attention_implementation "
                 "attention_location_n_filters audio_encoder audio_encoder_depth audio_encoder_dim "
                 "audio_encoder_dropout audio_encoder_heads audio_encoder_layers d_model decoder "
                 "decoder_attention_heads decoder_cross_attention decoder_depth decoder_dim "
                 "decoder_dropout decoder_heads decoder_layers decoder_strategy "
                 "diffusion_beta_schedule diffusion_timesteps enable_diffusion_inference "
                 "enable_weight_tying encoder_attention_heads max_attention_sequence_length "
                 "max_text_length mel_input_dim model_type n_heads n_layers postnet_dim "
                 "postnet_dropout postnet_kernel_size postnet_n_convolutions prenet_dim "
                 "prenet_dropout text_encoder text_encoder_conv_kernel_size text_encoder_depth "
                 "text_encoder_dim text_encoder_dropout text_encoder_heads text_encoder_layers "
                 "use_attention_prenet use_duration_predictor use_memory_efficient_attention",
                 kModel},
    MyxttsNotice{"model", "dropout dropout_rate", "training.dropout_rate sets it"},
    MyxttsNotice{"model", "enable_gradient_checkpointing",
                 "activations are kept; lower data.batch_frames when memory is short"},
    MyxttsNotice{"model", "languages multi_language shared_embedding_languages n_speakers",
                 "languages and speakers come from the data set"},
    MyxttsNotice{"model",
                 "optimized_vocab_size text_vocab_size tokenizer_model tokenizer_type "
                 "use_optimized_nllb_vocab vocab_optimization_method",
                 "text.vocabulary sets the tokens"},
    MyxttsNotice{
        "model",
        "contrastive_loss_margin contrastive_loss_temperature enable_speaker_interpolation "
        "enable_voice_adaptation enable_voice_denoising freeze_speaker_encoder "
        "max_reference_audio_length min_reference_audio_length "
        "pretrained_speaker_encoder_path speaker_embedding speaker_embedding_dim "
        "speaker_encoder_layers speaker_encoder_type use_pretrained_speaker_encoder "
        "use_speaker_embedding use_voice_conditioning voice_cloning_loss_weight "
        "voice_cloning_temperature voice_conditioning_layers voice_conditioning_strength "
        "voice_encoder_dropout voice_feature_dim voice_similarity_threshold",
        kVoice},
    MyxttsNotice{"model",
                 "gst_enable_emotion_control gst_enable_speaking_rate_control gst_num_heads "
                 "gst_num_style_tokens gst_reference_encoder_dim gst_style_embedding_dim "
                 "gst_style_loss_weight gst_style_token_dim use_gst",
                 kStyle},
    MyxttsNotice{"model",
                 "vocoder_initial_channel vocoder_resblock_dilation_sizes "
                 "vocoder_resblock_kernel_sizes vocoder_type vocoder_upsample_kernel_sizes "
                 "vocoder_upsample_rates",
                 "speech is made by the built-in vocoder"},

    MyxttsNotice{"training",
                 "adaptive_weight_cooling_period adaptive_weight_max_change_percent "
                 "adaptive_weight_min_stable_steps adaptive_weight_min_warmup_steps "
                 "adaptive_weight_variance_threshold attention_loss_weight "
                 "auxiliary_head_regularization duration_loss_weight energy_loss_weight "
                 "feature_loss_weight huber_delta kl_loss_weight label_smoothing "
                 "label_smoothing_factor loss_smoothing_factor max_duration_frames "
                 "mel_label_smoothing mel_loss_type mel_loss_weight pitch_loss_weight "
                 "prosody_energy_loss_weight prosody_matching_loss_weight "
                 "prosody_pitch_loss_weight speaker_classification_loss_weight "
                 "speaking_rate_loss_weight spectral_consistency_loss_weight stop_label_smoothing "
                 "stop_loss_weight stop_token_positive_weight teacher_forcing_ratio "
                 "use_adaptive_loss_weights use_huber_loss use_label_smoothing use_simple_loss "
                 "vocoder_feature_loss_weight vocoder_mel_loss_weight "
                 "voice_reconstruction_loss_weight voice_similarity_loss_weight",
                 kLoss},
    MyxttsNotice{
        "training",
        "auto_lr_reduction lr_reduction_factor lr_reduction_patience cosine_restarts "
        "scheduler_params use_warmup_cosine_schedule",
        "training.scheduler, warmup_steps, restart_period and restart_mult set the schedule"},
    MyxttsNotice{
        "training",
        "convergence_threshold convergence_window early_stopping_restore_best_weights "
        "save_best_only",
        "training.early_stopping_patience and keep_checkpoints decide; every checkpoint kept "
        "is whole"},
    MyxttsNotice{"training",
                 "checkpoint_interval evaluation_interval log_interval save_interval "
                 "validation_interval",
                 kInterval},
    MyxttsNotice{"training", "checkpoint_path stage1_checkpoint_path stage2_checkpoint_path",
                 "training.checkpoint_dir with training.resume goes on from the newest checkpoint"},
    MyxttsNotice{"training",
                 "stage1_epochs stage1_learning_rate stage2_epochs stage2_learning_rate "
                 "use_two_stage_training",
                 "there is one stage; training.learning_rate and training.epochs set it"},
    MyxttsNotice{"training", "save_weights_only",
                 "a checkpoint holds weights, optimiser and state in files of their own"},
    MyxttsNotice{
        "training",
        "enable_gradient_monitoring gradient_norm_threshold loss_alert_threshold "
        "max_loss_spike_threshold track_loss_components",
        "loss and gradient norm are always watched; training.max_bad_steps bounds bad steps"},
    MyxttsNotice{"training", "loss_scale_patience loss_scale_strategy",
                 "fp16 is scaled on the device by itself"},
    MyxttsNotice{"training", "enable_memory_cleanup", kMemory},
    MyxttsNotice{"training", "enable_memory_efficient_attention max_attention_sequence_length",
                 kModel},
    MyxttsNotice{"training", "enable_xla_compilation",
                 "there is no XLA; training.graphs replays CUDA graphs"},
    MyxttsNotice{"training", "enable_automatic_evaluation",
                 "training.val_step sets when the model is evaluated"},
    MyxttsNotice{"training", "multi_gpu visible_gpus",
                 "CUDA_VISIBLE_DEVICES chooses GPUs; torchrun starts one process for each"},
    MyxttsNotice{"training",
                 "spectrogram_log_example_index spectrogram_log_num_examples "
                 "spectrogram_reference_index spectrogram_reference_subset",
                 "observe.spectrogram_log_interval shows the first rows of the evaluation part"},
    MyxttsNotice{"training", "text2audio_log_tensorboard text2audio_speaker_id",
                 "spoken sentences are always logged, with the first speaker"},
    MyxttsNotice{"training", "use_wandb wandb_project",
                 "curves are TensorBoard events: observe.tensorboard_log_dir"},
};

}  // namespace

std::span<const MyxttsNotice> myxtts_notices() { return kNotices; }

}  // namespace stoker::config
