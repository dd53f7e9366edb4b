// Every error code of the cache: shards, manifest, imported arrays, building and locking.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::cache {

// Imported arrays (.npy).
inline constexpr ErrorCode kNpyMagic{"E-NPY-MAGIC", ExitCode::kData,
                                     "The file does not start as an npy file does.",
                                     "save the array with numpy.save"};
inline constexpr ErrorCode kNpyVersion{"E-NPY-VERSION", ExitCode::kData,
                                       "The npy header has a version other than 1.0, 2.0 or 3.0.",
                                       "save the array again with a current numpy"};
inline constexpr ErrorCode kNpyHeader{"E-NPY-HEADER", ExitCode::kData,
                                      "The npy header is not the dictionary numpy writes.",
                                      "save the array again with numpy.save"};
inline constexpr ErrorCode kNpyPickle{"E-NPY-PICKLE", ExitCode::kData,
                                      "The array holds Python objects; pickles are never loaded.",
                                      "save it as a plain numeric array"};
inline constexpr ErrorCode kNpyType{"E-NPY-TYPE", ExitCode::kData,
                                    "The element type is not one that can be stored.",
                                    "convert it with astype() to a float or integer type"};
inline constexpr ErrorCode kNpyShape{"E-NPY-SHAPE", ExitCode::kData,
                                     "The shape is negative, absurd or has too many axes.",
                                     "save the array again with numpy.save, as [frames, channels]"};
inline constexpr ErrorCode kNpySize{"E-NPY-SIZE", ExitCode::kData,
                                    "The file holds less or more data than the shape says.",
                                    "the file was cut or added to; save the array again"};
inline constexpr ErrorCode kNpyValue{
    "E-NPY-VALUE", ExitCode::kData, "A value is not finite, or does not fit the stored type.",
    "replace such values (numpy.nan_to_num) and save the array again"};
inline constexpr ErrorCode kNpyZip{"E-NPY-ZIP", ExitCode::kData,
                                   "The file is a zip archive (.npz), which is not supported.",
                                   "save each array to its own .npy file"};
inline constexpr ErrorCode kNpyMixed{
    "E-NPY-MIXED", ExitCode::kData,
    "The files of a named array differ in element type, or in an axis behind the first.",
    "convert them to one type with astype(), or give each kind a folder of its own"};
inline constexpr ErrorCode kImportShape{
    "E-IMPORT-SHAPE", ExitCode::kData,
    "An imported feature has another shape than its folder says.",
    "make that file again, or remove it: stoker precompute makes the record from the sound"};
inline constexpr ErrorCode kImportTwice{
    "E-IMPORT-TWICE", ExitCode::kUsage, "There are two folders of one kind to import.",
    "type stoker cache import FOLDER with one of the two folders"};
inline constexpr ErrorCode kImportEmpty{
    "E-IMPORT-EMPTY", ExitCode::kData, "There is nothing to import in the folder.",
    "give the folder that holds tokens_*, mels_* or .npy files"};

// What is on disk.
inline constexpr ErrorCode kShardCorrupt{"E-CACHE-CORRUPT", ExitCode::kStorage,
                                         "Bytes of a shard are not what was written.",
                                         "stoker verify --fix rebuilds what is bad"};
inline constexpr ErrorCode kShardSize{"E-CACHE-SIZE", ExitCode::kStorage,
                                      "A shard is shorter or longer than it says.",
                                      "stoker verify --fix rebuilds what is bad"};
inline constexpr ErrorCode kShardForeign{"E-CACHE-FOREIGN", ExitCode::kStorage,
                                         "A shard is whole, but not the one the manifest means.",
                                         "stoker verify --fix rebuilds what is bad"};
inline constexpr ErrorCode kShardMissing{
    "E-CACHE-MISSING", ExitCode::kStorage,
    "A shard or record that should be in the cache is not there.",
    "stoker precompute builds what is missing"};
inline constexpr ErrorCode kCacheVersion{
    "E-CACHE-VERSION", ExitCode::kStorage, "The cache has another format version.",
    "build it again with this version of stoker, in another folder"};
inline constexpr ErrorCode kManifest{
    "E-CACHE-MANIFEST", ExitCode::kStorage, "The manifest is damaged or not a manifest.",
    "stoker precompute writes it anew from the shards that are whole"};
inline constexpr ErrorCode kNoCache{
    "E-CACHE-NONE", ExitCode::kStorage, "There is no cache in the folder.",
    "build it: stoker precompute --data FOLDER, with the same --cache and settings"};
inline constexpr ErrorCode kMapTruncated{"E-CACHE-TRUNCATED", ExitCode::kStorage,
                                         "A shard became shorter while it was mapped.",
                                         "stoker verify --fix rebuilds what is bad"};

// Building.
inline constexpr ErrorCode kCacheSettings{"E-CACHE-SETTINGS", ExitCode::kUsage,
                                          "The cache in this folder was made with other settings.",
                                          "--overwrite rebuilds it, or give another --cache"};
inline constexpr ErrorCode kCachePlace{"E-CACHE-PLACE", ExitCode::kUsage,
                                       "The cache cannot be put there.",
                                       "give --cache another folder"};
inline constexpr ErrorCode kCacheSpace{"E-CACHE-SPACE", ExitCode::kStorage,
                                       "The disk has not enough room for the cache.",
                                       "free some space or give --cache a folder on another disk"};
inline constexpr ErrorCode kLockHeld{"E-CACHE-LOCKED", ExitCode::kLockHeld,
                                     "Another process builds this cache.",
                                     "wait for it; --break-lock if it runs on a host that is gone"};
inline constexpr ErrorCode kLockBroken{
    "E-CACHE-NOLOCK", ExitCode::kLockHeld,
    "The file system has no locks, so a second builder would not be noticed.",
    "make sure nothing else builds here, then use --break-lock"};
inline constexpr ErrorCode kSourceChanged{
    "E-CACHE-CHANGED", ExitCode::kData, "A source file changed while the cache was built from it.",
    "run stoker precompute again"};
inline constexpr ErrorCode kBuildVerify{"E-CACHE-READBACK", ExitCode::kStorage,
                                        "A shard read back after writing is not what was written.",
                                        "the storage loses data; check the disk"};
inline constexpr ErrorCode kNoFrames{"E-CACHE-NOFRAMES", ExitCode::kData,
                                     "After trimming, too few samples are left for one frame.",
                                     "remove the row, or raise features.trim_top_db to trim less"};
inline constexpr ErrorCode kTooManyBad{
    "E-CACHE-BADROWS", ExitCode::kData, "More rows are bad than the bound allows.",
    "see rejects.jsonl; raise data.max_bad_fraction if that is wanted"};
inline constexpr ErrorCode kRowLeftOut{
    "E-CACHE-LEFTOUT", ExitCode::kData,
    "The row was bad when the cache was built; its source is the same.",
    "mend or remove the source, then run stoker precompute again"};
inline constexpr ErrorCode kRowGone{
    "E-CACHE-NOROW", ExitCode::kData,
    "The cache holds a record of a row that the data set rejects, leaves out or no longer has.",
    "stoker data check names rejected rows; stoker verify --fix removes the record"};
inline constexpr ErrorCode kRecordName{
    "E-CACHE-NAME", ExitCode::kStorage,
    "An id or an array's name in a cache cannot be the name of a file inside a folder.",
    "the cache was not written by stoker, or is damaged; nothing was exported"};
inline constexpr ErrorCode kStopped{"E-CACHE-STOPPED", ExitCode::kCheckFailed,
                                    "The build was asked to stop; what is whole is committed.",
                                    "run the same command again to go on"};

inline constexpr std::array kErrorCodes{
    &kNpyMagic,    &kNpyVersion,   &kNpyHeader,     &kNpyPickle,     &kNpyType,      &kNpyShape,
    &kNpySize,     &kNpyValue,     &kNpyZip,        &kNpyMixed,      &kImportShape,  &kImportTwice,
    &kImportEmpty, &kShardCorrupt, &kShardSize,     &kShardForeign,  &kShardMissing, &kCacheVersion,
    &kManifest,    &kNoCache,      &kMapTruncated,  &kCacheSettings, &kCachePlace,   &kCacheSpace,
    &kLockHeld,    &kLockBroken,   &kSourceChanged, &kBuildVerify,   &kNoFrames,     &kTooManyBad,
    &kRowLeftOut,  &kRowGone,      &kRecordName,    &kStopped};

}  // namespace stoker::cache
