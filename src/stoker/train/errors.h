// The failures that training and speaking can end with; docs/reference/errors.md is generated from
// this list.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::train {

inline constexpr ErrorCode kTrainLibrary{
    "E-TRAIN-LIB", ExitCode::kUsage, "The trainer's library is absent or cannot be loaded.",
    "build with libtorch (tools/bootstrap installs it; the Python package: pip install . in a "
    "clone, "
    "beside torch 2.11 or newer), or name the file in STOKER_TRAIN_LIBRARY"};
inline constexpr ErrorCode kTrainDoor{
    "E-TRAIN-DOOR", ExitCode::kUsage,
    "The trainer's library is of another version than the program.",
    "build and install both together, or unset STOKER_TRAIN_LIBRARY"};
inline constexpr ErrorCode kTrainSettings{"E-TRAIN-SETTINGS", ExitCode::kUsage,
                                          "Settings of training exclude each other.",
                                          "change one of the two settings that are named"};
inline constexpr ErrorCode kTrainData{
    "E-TRAIN-DATA", ExitCode::kData, "The data set cannot be trained on.",
    "run `stoker data info` on the folder to see lengths of sound and text"};
inline constexpr ErrorCode kTrainRun{
    "E-TRAIN-RUN", ExitCode::kUsage,
    "The run folder holds a run already, or none where one is to be resumed.",
    "add --resume to go on, --reset-training to start again from its weights, or name another "
    "folder with --checkpoint-dir"};
inline constexpr ErrorCode kTrainLocked{
    "E-TRAIN-LOCKED", ExitCode::kLockHeld, "Another process trains in this run folder.",
    "wait for it, or name another folder with --checkpoint-dir"};
inline constexpr ErrorCode kTrainChanged{
    "E-TRAIN-CHANGED", ExitCode::kData,
    "Data or settings differ from those the checkpoint was trained with.",
    "restore them, or add --allow-changed-data to go on with the new ones"};
inline constexpr ErrorCode kTrainNonFinite{
    "E-TRAIN-NONFINITE", ExitCode::kData,
    "More steps than training.max_bad_steps had a loss or a gradient that is not a number.",
    "bad-steps.jsonl in the run folder names the utterances; lower training.learning_rate, or "
    "leave them out"};
inline constexpr ErrorCode kTrainMemory{
    "E-TRAIN-MEMORY", ExitCode::kMemory, "The model and a batch do not fit the memory.",
    "lower data.batch_frames or data.batch_size, or choose a smaller training.model_size"};
inline constexpr ErrorCode kTrainFailed{
    "E-TRAIN-FAILED", ExitCode::kGpu, "libtorch reported an error; its words are quoted.",
    "run the same command with --device cpu to see whether it is the GPU"};
inline constexpr ErrorCode kCheckpointMissing{
    "E-CHECKPOINT-MISSING", ExitCode::kStorage, "There is no whole checkpoint in the folder.",
    "name a run folder, its checkpoints folder or one step-NNNNNNNN folder in it"};
inline constexpr ErrorCode kCheckpointBad{
    "E-CHECKPOINT-BAD", ExitCode::kStorage,
    "A file of a checkpoint is damaged, cut or not what its header says.",
    "use an older checkpoint; --resume looks for the newest whole one by itself"};
inline constexpr ErrorCode kCheckpointVersion{
    "E-CHECKPOINT-VERSION", ExitCode::kStorage,
    "A checkpoint was written by a newer version of stoker, or for another machine.",
    "use the version that wrote it"};
inline constexpr ErrorCode kCheckpointShape{
    "E-CHECKPOINT-SHAPE", ExitCode::kUsage,
    "A checkpoint is of another model than the settings ask for.",
    "give the settings that it was trained with; config.yaml of the run has them"};
inline constexpr ErrorCode kSpeakText{
    "E-SPEAK-TEXT", ExitCode::kUsage, "A text has nothing that the model could speak.",
    "give a text in the language and alphabet of the checkpoint (stoker text shows the steps)"};
inline constexpr ErrorCode kSpeakReference{
    "E-SPEAK-REFERENCE", ExitCode::kData, "A reference is too short, silent or cannot be used.",
    "give about three seconds of clear speech of one person"};
inline constexpr ErrorCode kSpeakVocabulary{
    "E-SPEAK-VOCABULARY", ExitCode::kUsage,
    "The checkpoint was trained with another vocabulary than the text is read with.",
    "leave out --vocabulary and --language, or use a checkpoint trained with them"};

inline constexpr std::array kErrorCodes{
    &kTrainLibrary,      &kTrainDoor,      &kTrainSettings,     &kTrainData,       &kTrainRun,
    &kTrainLocked,       &kTrainChanged,   &kTrainNonFinite,    &kTrainMemory,     &kTrainFailed,
    &kCheckpointMissing, &kCheckpointBad,  &kCheckpointVersion, &kCheckpointShape, &kSpeakText,
    &kSpeakReference,    &kSpeakVocabulary};

}  // namespace stoker::train
