// The failures a feed can end with; docs/reference/errors.md is generated from this list.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::feed {

inline constexpr ErrorCode kFeedRanks{
    "E-FEED-RANKS", ExitCode::kUsage,
    "Rank, world size and data.batch_multiple do not fit together: every batch must divide evenly.",
    "give a rank below the world size (data.rank and data.world_size, or RANK and WORLD_SIZE), and "
    "a data.batch_multiple that is a multiple of the world size"};
inline constexpr ErrorCode kFeedShape{
    "E-FEED-SHAPE", ExitCode::kUsage,
    "The batch settings cannot hold the data, or ask for no rows at all.",
    "raise data.batch_frames, or lower data.batch_multiple or data.max_mel_frames"};
inline constexpr ErrorCode kFeedEmpty{
    "E-FEED-EMPTY", ExitCode::kData,
    "No utterance is left to feed after rejects, filters, splits and weights.",
    "run `stoker data check` on the folder to see why rows are left out"};
inline constexpr ErrorCode kFeedState{
    "E-FEED-STATE", ExitCode::kUsage,
    "The saved state is not a line that this version of stoker wrote, was changed since, or names "
    "a "
    "place that the order does not have.",
    "give the file that --state-out or Feed::state() wrote, unchanged"};
inline constexpr ErrorCode kFeedChanged{
    "E-FEED-CHANGED", ExitCode::kData,
    "The saved state belongs to other data or other settings, so its place has no meaning here.",
    "restore the data and settings of the saved run, or start without the state"};
inline constexpr ErrorCode kFeedBadRows{
    "E-FEED-BADROWS", ExitCode::kData,
    "More files turned bad while running than data.max_bad_rows and data.max_bad_fraction allow.",
    "run `stoker data check`; the files are listed in rejects.jsonl"};
inline constexpr ErrorCode kFeedNotCached{
    "E-FEED-NOTCACHED", ExitCode::kUsage,
    "data.preprocessing_mode precompute needs every row in the cache, and some are missing; or a "
    "stale "
    "record may not be rebuilt.",
    "run `stoker precompute` first, or use data.preprocessing_mode auto"};
inline constexpr ErrorCode kFeedFileChanged{
    "E-FEED-FILE", ExitCode::kData,
    "A file is no longer what it was when the data set was indexed.",
    "start again: the data set is indexed anew"};
inline constexpr ErrorCode kFeedMemory{
    "E-FEED-MEMORY", ExitCode::kMemory, "The batch buffers do not fit into the memory given.",
    "raise data.buffer_memory, or lower data.batch_frames or data.batch_size"};
inline constexpr ErrorCode kFeedAugment{
    "E-FEED-AUGMENT", ExitCode::kUsage,
    "Utterances cannot be changed on the fly as the augment settings ask.",
    "leave augment.speed_range and pitch shift out (a data set may hold copies at other speeds), "
    "and let "
    "augment.noise_dir hold recordings and nothing else, or leave it empty for white noise"};
inline constexpr ErrorCode kFeedArrays{
    "E-FEED-ARRAYS", ExitCode::kUsage,
    "A named array is in the cache, but no folder is named to compare its records with.",
    "name the folder of its .npy files in cache.arrays"};
inline constexpr ErrorCode kFeedTunerLog{"E-FEED-TUNERLOG", ExitCode::kUsage,
                                         "The file is not a log that the tuner wrote.",
                                         "give the file that --tuner-log wrote, unchanged"};
inline constexpr ErrorCode kFeedRamTier{
    "E-FEED-RAMTIER", ExitCode::kMemory,
    "cache.tier ram could not lock the cache in memory, and strict forbids less.",
    "raise the limit of locked memory (ulimit -l), or lower cache.tier_memory"};

inline constexpr ErrorCode kBatchReleased{
    "E-FEED-RELEASED", ExitCode::kUsage,
    "A batch was used after release(); its memory belongs to another batch now.",
    "release it later, or take copy() before"};
inline constexpr ErrorCode kFeedFork{
    "E-FEED-FORK", ExitCode::kUsage,
    "A feed was used in a process that was forked from the one it runs in; its threads are not "
    "there.",
    "open the feed in the new process, or start that with spawn or forkserver"};
inline constexpr ErrorCode kFeedClosed{"E-FEED-CLOSED", ExitCode::kUsage,
                                       "The feed was used after close().",
                                       "open another one, or close it later"};
inline constexpr ErrorCode kFeedTimeout{
    "E-FEED-TIMEOUT", ExitCode::kData, "No batch came within the time that the consumer gives.",
    "raise timeout, or see what the feed is doing: stats() and repr()"};
inline constexpr ErrorCode kFeedIteration{
    "E-FEED-ITERATION", ExitCode::kUsage,
    "A loop over the feed went on after another one had begun, or two threads asked at once.",
    "use one loop at a time; a second feed may read the same data"};

inline constexpr ErrorCode kRecordsFormat{
    "E-RECORDS-FORMAT", ExitCode::kUsage,
    "The file is not a ring of records that a feed wrote, or its header is damaged.",
    "give records.ring of a run folder, or the ring of a process that runs"};
inline constexpr ErrorCode kRecordsVersion{
    "E-RECORDS-VERSION", ExitCode::kUsage,
    "The ring of records was written by a version of stoker with another format.",
    "read it with the version that wrote it"};
inline constexpr ErrorCode kRecordsCut{
    "E-RECORDS-CUT", ExitCode::kStorage,
    "The ring of records is shorter than its header says: a copy was cut short, or the file was "
    "truncated while it was read.",
    "copy the file again, or read the one that the feed writes"};

inline constexpr ErrorCode kRecordsNone{
    "E-RECORDS-NONE", ExitCode::kUsage,
    "The folder has no records of batches: it is not that of a training, or observe.records was "
    "off.",
    "give the --checkpoint-dir of a training; `stoker report` shows what a run without records "
    "has"};
inline constexpr ErrorCode kRecordsProcess{
    "E-RECORDS-PROCESS", ExitCode::kUsage,
    "The process has no records that could be read: it is gone, runs no feed, is another user's, "
    "or observe.records is off.",
    "give the number of a process that runs a feed, or --run with the folder of a training"};

inline constexpr std::array kErrorCodes{
    &kFeedRanks,   &kFeedShape,     &kFeedEmpty,     &kFeedState,       &kFeedChanged,
    &kFeedBadRows, &kFeedNotCached, &kFeedMemory,    &kFeedFileChanged, &kFeedTunerLog,
    &kFeedRamTier, &kFeedAugment,   &kFeedArrays,    &kBatchReleased,   &kFeedFork,
    &kFeedClosed,  &kFeedTimeout,   &kFeedIteration, &kRecordsFormat,   &kRecordsVersion,
    &kRecordsCut,  &kRecordsNone,   &kRecordsProcess};

}  // namespace stoker::feed
