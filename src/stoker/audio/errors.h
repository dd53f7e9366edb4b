// The error codes of this folder: what can be wrong with a sound file.
#pragma once

#include <algorithm>
#include <array>

#include "stoker/audio/file/coded_errors.h"
#include "stoker/base/error.h"

namespace stoker::audio {

// WAV: the file as a whole.
inline constexpr ErrorCode kWavEmpty{"E-WAV-EMPTY", ExitCode::kData,
                                     "The file holds no sample at all.",
                                     "export or download the recording again"};
inline constexpr ErrorCode kWavKind{"E-WAV-KIND", ExitCode::kData,
                                    "The content is not a WAV file that can be read.",
                                    "convert the file to WAV or FLAC"};
inline constexpr ErrorCode kWavTooBig{"E-WAV-TOOBIG", ExitCode::kData,
                                      "The file is larger than WAV's 32-bit sizes or the limit.",
                                      "cut the recording, or store it as FLAC"};
inline constexpr ErrorCode kWavChanged{"E-WAV-CHANGED", ExitCode::kData,
                                       "The file changed while it was being used.",
                                       "let the program that writes it finish, then index again"};

// WAV: its chunks.
inline constexpr ErrorCode kWavTrunc{"E-WAV-TRUNC", ExitCode::kData,
                                     "The header promises more samples than the file holds.",
                                     "copy the file again: it was cut off"};
inline constexpr ErrorCode kWavStreamed{
    "E-WAV-STREAMED", ExitCode::kData, "A streaming writer left the data size open (0xFFFFFFFF).",
    "rewrite the file (sox in.wav out.wav), or set data.allow_streamed"};
inline constexpr ErrorCode kWavChunk{"E-WAV-CHUNK", ExitCode::kData,
                                     "A chunk reaches past the end of the file.",
                                     "copy the file again: it was cut off or damaged"};
inline constexpr ErrorCode kWavChunks{"E-WAV-CHUNKS", ExitCode::kData,
                                      "The file has more chunks than any honest writer makes.",
                                      "rewrite the file (sox in.wav out.wav)"};
inline constexpr ErrorCode kWavPad{
    "E-WAV-PAD", ExitCode::kData,
    "A chunk of odd size is not followed by a pad byte, and what follows is unclear.",
    "rewrite the file (sox in.wav out.wav)"};
inline constexpr ErrorCode kWavNoFmt{"E-WAV-NOFMT", ExitCode::kData,
                                     "There is no fmt chunk, so the samples have no meaning.",
                                     "export the recording again"};
inline constexpr ErrorCode kWavDupFmt{"E-WAV-DUPFMT", ExitCode::kData,
                                      "There are two fmt chunks; readers disagree on which counts.",
                                      "export the recording again"};
inline constexpr ErrorCode kWavOrder{"E-WAV-ORDER", ExitCode::kData,
                                     "The fmt chunk is after the samples that it describes.",
                                     "rewrite the file (sox in.wav out.wav)"};
inline constexpr ErrorCode kWavNoData{"E-WAV-NODATA", ExitCode::kData, "There is no data chunk.",
                                      "export the recording again"};
inline constexpr ErrorCode kWavDupData{"E-WAV-DUPDATA", ExitCode::kData,
                                       "There are two data chunks; readers take only the first.",
                                       "rewrite the file (sox in.wav out.wav)"};
inline constexpr ErrorCode kWavOddData{
    "E-WAV-ODDDATA", ExitCode::kData, "The data size is not a whole number of sample frames.",
    "the last, partial sample frame is left out unless data.allow_odd_data is off"};

// WAV: what the fmt chunk says.
inline constexpr ErrorCode kWavFmt{"E-WAV-FMT", ExitCode::kData,
                                   "The fmt chunk is shorter than its format needs.",
                                   "export the recording again"};
inline constexpr ErrorCode kWavGuid{"E-WAV-GUID", ExitCode::kData,
                                    "The extensible format names an unknown sub-format.",
                                    "convert the file to plain PCM"};
inline constexpr ErrorCode kWavCodec{"E-WAV-CODEC", ExitCode::kData,
                                     "The samples are coded in a way that is not read from WAV.",
                                     "convert the file to PCM or FLAC"};
inline constexpr ErrorCode kWavChannels{
    "E-WAV-CHANNELS", ExitCode::kData, "The number of channels is not usable.",
    "convert the file to mono, or let several channels be mixed: "
    "--set data.allow_mix=true"};
inline constexpr ErrorCode kWavRate{"E-WAV-RATE", ExitCode::kData,
                                    "The sample rate is not one of a recording.",
                                    "export the recording again"};
inline constexpr ErrorCode kWavBits{"E-WAV-BITS", ExitCode::kData,
                                    "The number of bits a sample is not a supported one.",
                                    "convert the file to 16-bit PCM"};
inline constexpr ErrorCode kWavBlock{"E-WAV-BLOCK", ExitCode::kData,
                                     "block_align is not channels x bits / 8.",
                                     "export the recording again"};

// Samples.
inline constexpr ErrorCode kWavNonFinite{"E-WAV-NONFINITE", ExitCode::kData,
                                         "A sample is NaN or infinite.",
                                         "export the recording again as PCM"};

// Oddities: the file is used, and the oddity counted.
inline constexpr ErrorCode kWavRiffSize{"E-WAV-RIFFSIZE", ExitCode::kData,
                                        "The RIFF size is not the size of the file.", ""};
inline constexpr ErrorCode kWavTrailing{"E-WAV-TRAILING", ExitCode::kData,
                                        "Bytes that are no chunk follow the last chunk.", ""};
inline constexpr ErrorCode kWavByteRate{"E-WAV-BYTERATE", ExitCode::kData,
                                        "The byte rate is not rate x block_align.", ""};
inline constexpr ErrorCode kWavSuffix{"E-WAV-SUFFIX", ExitCode::kData,
                                      "The content is of another kind than the suffix says.", ""};

inline constexpr std::array kWavErrorCodes{
    &kWavEmpty,    &kWavKind,     &kWavTooBig,  &kWavChanged, &kWavTrunc,     &kWavStreamed,
    &kWavChunk,    &kWavChunks,   &kWavPad,     &kWavNoFmt,   &kWavDupFmt,    &kWavOrder,
    &kWavNoData,   &kWavDupData,  &kWavOddData, &kWavFmt,     &kWavGuid,      &kWavCodec,
    &kWavChannels, &kWavRate,     &kWavBits,    &kWavBlock,   &kWavNonFinite, &kWavRiffSize,
    &kWavTrailing, &kWavByteRate, &kWavSuffix};

// Log-mel on a GPU.
inline constexpr ErrorCode kMelVariant{
    "E-MEL-VARIANT", ExitCode::kUsage,
    "That kernel cannot compute this recipe, or not on this GPU.",
    "type --variant auto, which chooses a kernel that can"};

// All of this folder, coded_errors.h included.
inline constexpr auto kErrorCodes = [] {
  std::array<const ErrorCode*, kWavErrorCodes.size() + kCodedErrorCodes.size() + 1> all{};
  std::copy(kWavErrorCodes.begin(), kWavErrorCodes.end(), all.begin());
  std::copy(kCodedErrorCodes.begin(), kCodedErrorCodes.end(), all.begin() + kWavErrorCodes.size());
  all.back() = &kMelVariant;
  return all;
}();

}  // namespace stoker::audio
