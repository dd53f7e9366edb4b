// The kernels behind fused_read.h, one set an instruction level; only fused_read.cc chooses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::cache {

// `copy` moves bytes, `widen` turns f16 into f32. Both return the CRC of the source bytes that
// began with `crc_before`. No alignment is needed.
struct FusedKernels {
  const char* name;
  std::uint32_t (*copy)(const std::byte* from, std::byte* to, std::size_t num_bytes,
                        std::uint32_t crc_before);
  std::uint32_t (*widen)(const std::byte* from, float* to, std::size_t num_values,
                         std::uint32_t crc_before);
  void (*widen_only)(const std::byte* from, float* to, std::size_t num_values);
};

extern const FusedKernels kPortableKernels;
extern const FusedKernels kAvx2Kernels;    // needs AVX2, F16C, SSE4.2
extern const FusedKernels kAvx512Kernels;  // needs AVX-512 F, BW, VL, VPCLMULQDQ, SSE4.2

}  // namespace stoker::cache
