// Hopper's barriers in shared memory and bulk copies, as functions.
#pragma once

#include <cstdint>

namespace stoker::audio::device {

__device__ __forceinline__ std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

// A barrier of `count` arrivals; its phases alternate between 0 and 1.
class Barrier {
 public:
  __device__ __forceinline__ void init(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(count));
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  // Lets the phase wait for `num_bytes` of bulk copies too.
  __device__ __forceinline__ void expect(std::uint32_t num_bytes) {
    asm volatile(
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
        "r"(num_bytes)
        : "memory");
  }
  // Returns once the phase of that parity is complete. A wait of four seconds is a bug: it ends the
  // kernel instead of hanging the GPU.
  __device__ __forceinline__ void wait(int parity) {
    if (is_complete(parity)) return;
    const std::uint32_t begin_ns = now_ns();
    while (!is_complete(parity)) {
      if (now_ns() - begin_ns > kLongestWaitNs) __trap();
    }
  }

 private:
  static constexpr std::uint32_t kLongestWaitNs = 4'000'000'000;

  __device__ __forceinline__ static std::uint32_t now_ns() {
    std::uint32_t ns;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(ns));
    return ns;
  }

  __device__ __forceinline__ bool is_complete(int parity) {
    int complete;
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.s32 %0, 1, 0, done;\n"
        "}\n"
        : "=r"(complete)
        : "r"(shared_address(this)), "r"(parity)
        : "memory");
    return complete != 0;
  }

  std::uint64_t state_;
};

// Makes barriers initialised by this thread known to the copy engine.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Orders this thread's ordinary writes to shared memory before later bulk copies into it.
__device__ __forceinline__ void publish_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Moves registers between groups of four warps (sm_90a).
template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

// The next kernel of the stream may take this block's place as soon as it ends, if it was launched
// so, and waits for all blocks and what they wrote by itself.
__device__ __forceinline__ void let_next_kernel_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ __forceinline__ void wait_for_previous_kernel() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Fetches what lies there into the second cache. That may be done before it is written: the cache
// holds what is written later, too.
__device__ __forceinline__ void bring_near(const void* memory) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(memory));
}

// Both addresses and the size are multiples of 16 bytes.
__device__ __forceinline__ void copy_in(void* to, const void* from, std::uint32_t num_bytes,
                                        Barrier& arrival) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(num_bytes), "r"(shared_address(&arrival))
      : "memory");
}

}  // namespace stoker::audio::device
