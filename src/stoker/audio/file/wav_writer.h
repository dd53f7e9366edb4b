// Writes WAV files in the one strict form every reader accepts: a 44-byte header, then samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::audio {

inline constexpr std::size_t kWavHeaderBytes = 44;

// The bytes of a mono PCM16 file. Precondition: the samples fit WAV's 32-bit sizes (< 4 GiB).
std::vector<std::byte> wav_pcm16_bytes(std::span<const std::int16_t> samples,
                                       std::uint32_t rate_hz);

// Creates `name` under `folder`; an existing file is an error, never overwritten. Not synced: a
// data set of thousands of files is made durable by its last step, not file by file.
Result<void> write_wav_pcm16(const File& folder, const std::string& name,
                             std::span<const std::int16_t> samples, std::uint32_t rate_hz);

}  // namespace stoker::audio
