// The kernels behind fused_read.h, one set an instruction level; only fused_read.cc chooses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::cache {

// `copy` moves bytes, `widen` turns f16 into f32. Both return the CRC of the source bytes that
// began with `crc_before`. `fill` writes four bytes again and again; the last ones may be cut off.
// No alignment is needed but that of a value.
struct FusedKernels {
  const char* name;
  std::uint32_t (*copy)(const std::byte* from, std::byte* to, std::size_t num_bytes,
                        std::uint32_t crc_before);
  std::uint32_t (*widen)(const std::byte* from, float* to, std::size_t num_values,
                         std::uint32_t crc_before);
  void (*widen_only)(const std::byte* from, float* to, std::size_t num_values);
  void (*fill)(std::byte* to, std::size_t num_bytes, std::uint32_t four_bytes);
};

// The portable one.
void fill_by_values(std::byte* to, std::size_t num_bytes, std::uint32_t four_bytes);

extern const FusedKernels kPortableKernels;
extern const FusedKernels kAvx2Kernels;    // needs AVX2, F16C, SSE4.2
extern const FusedKernels kAvx512Kernels;  // needs AVX-512 F, BW, VL, VPCLMULQDQ, SSE4.2

}  // namespace stoker::cache
