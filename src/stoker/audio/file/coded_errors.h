// The error codes of compressed sound files, and of turning features back into sound.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::audio {

inline constexpr ErrorCode kFlacHeader{"E-FLAC-HEADER", ExitCode::kData,
                                       "The metadata blocks of the FLAC file make no sense.",
                                       "encode the recording again"};
inline constexpr ErrorCode kFlacTrunc{
    "E-FLAC-TRUNC", ExitCode::kData,
    "The FLAC file does not end with a whole frame, or ends early.",
    "copy the file again: it was cut off"};
inline constexpr ErrorCode kFlacDigest{
    "E-FLAC-MD5", ExitCode::kData,
    "The decoded samples are not the ones the encoder took the MD5 of.",
    "copy the file again: it was damaged"};
inline constexpr ErrorCode kOggPage{"E-OGG-PAGE", ExitCode::kData,
                                    "A page of the Ogg file is damaged or missing.",
                                    "copy the file again: it was damaged"};
inline constexpr ErrorCode kOggTrunc{"E-OGG-TRUNC", ExitCode::kData,
                                     "The Ogg file ends before its last page.",
                                     "copy the file again: it was cut off"};
inline constexpr ErrorCode kOggChained{"E-OGG-CHAINED", ExitCode::kData,
                                       "The Ogg file holds several streams.",
                                       "split it into one file a recording"};
inline constexpr ErrorCode kMp3Sync{"E-MP3-SYNC", ExitCode::kData,
                                    "Bytes between MP3 frames are no frame.",
                                    "copy the file again: it was damaged"};
inline constexpr ErrorCode kMp3Trunc{
    "E-MP3-TRUNC", ExitCode::kData,
    "The MP3 file ends inside a frame or before the promised last one.",
    "copy the file again: it was cut off"};
inline constexpr ErrorCode kMp3Kind{
    "E-MP3-KIND", ExitCode::kData,
    "The MPEG stream is not layer III at a fixed or variable bit rate.",
    "convert the file to FLAC or WAV"};
inline constexpr ErrorCode kCodedEmpty{"E-SOUND-EMPTY", ExitCode::kData,
                                       "The file holds no sample at all.",
                                       "export or download the recording again"};
inline constexpr ErrorCode kCodedDecode{"E-SOUND-DECODE", ExitCode::kData,
                                        "The decoder refused the file or stopped early.",
                                        "copy or encode the recording again"};
inline constexpr ErrorCode kCodedChannels{
    "E-SOUND-CHANNELS", ExitCode::kData, "The file has several channels and mixing is not allowed.",
    "convert the file to mono, or type --set data.allow_mix=true"};

inline constexpr ErrorCode kSoundShort{"E-SOUND-SHORT", ExitCode::kData,
                                       "The sound is too short to give one frame.",
                                       "leave it out, or use a smaller hop"};
inline constexpr ErrorCode kMelInvert{"E-MEL-INVERT", ExitCode::kUsage,
                                      "The preset's features cannot be turned back into sound.",
                                      "use a preset that keeps the level, such as hifigan"};

inline constexpr std::array kCodedErrorCodes{
    &kFlacHeader,  &kFlacTrunc,     &kFlacDigest, &kOggPage,  &kOggTrunc,
    &kOggChained,  &kMp3Sync,       &kMp3Trunc,   &kMp3Kind,  &kCodedEmpty,
    &kCodedDecode, &kCodedChannels, &kSoundShort, &kMelInvert};

}  // namespace stoker::audio
