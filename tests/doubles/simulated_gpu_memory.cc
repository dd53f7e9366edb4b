// The memory of the simulated GPU: what was taken on it, what is page-locked for it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "stoker/base/invariant.h"
#include "stoker/cuda/check.h"
#include "tests/doubles/simulated_gpu.h"

namespace stoker {
namespace {

// What unwritten device memory holds: nothing that looks right by accident.
constexpr int kPoison = 0xA5;

}  // namespace

std::uint64_t SimulatedGpu::allocated_bytes() const {
  const Lock lock(mutex_);
  std::uint64_t total = 0;
  for (const auto& [device, used] : used_bytes_) total += used;
  return total;
}

std::size_t SimulatedGpu::num_handles() const {
  const Lock lock(mutex_);
  return streams_.size() + events_.size() + pinned_.size();
}

void* SimulatedGpu::allocate(int device, std::size_t size_bytes) {
  ++num_made_;
  void* memory = nullptr;
  enter(
      "cudaMalloc",
      [&] {
        const Lock lock(mutex_);
        if (device >= options_.num_devices) return kStatusInvalidDevice;
        if (used_bytes_[device] + size_bytes > options_.memory_bytes) return cuda::kStatusMemory;
        memory = std::aligned_alloc(256, (size_bytes + 255) / 256 * 256);
        std::memset(memory, kPoison, size_bytes);
        memory_[memory] = {device, size_bytes};
        used_bytes_[device] += size_bytes;
        return 0;
      },
      std::to_string(size_bytes) + " bytes on GPU " + std::to_string(device));
  return memory;
}

void SimulatedGpu::free(int, void* memory) noexcept {
  const Lock lock(mutex_);
  settle();
  const auto found = memory_.find(memory);
  check_invariant(found != memory_.end(), "memory that was allocated here");
  used_bytes_[found->second.first] -= found->second.second;
  memory_.erase(found);
  std::free(memory);
}

void* SimulatedGpu::allocate_pinned(std::size_t size_bytes) {
  ++num_made_;
  void* memory = nullptr;
  enter("cudaHostAlloc", [&] {
    if (!options_.has_pinned) return cuda::kStatusMemory;
    const Lock lock(mutex_);
    memory = std::aligned_alloc(256, (size_bytes + 255) / 256 * 256);
    pinned_.insert(memory);
    return 0;
  });
  return memory;
}

void SimulatedGpu::lock_pages(const void* memory, std::size_t /*size_bytes*/) {
  ++num_made_;
  enter("cudaHostRegister", [&] {
    if (!options_.has_pinned) return cuda::kStatusMemory;
    const Lock lock(mutex_);
    pinned_.insert(const_cast<void*>(memory));
    return 0;
  });
}

void SimulatedGpu::unlock_pages(const void* memory) noexcept {
  const Lock lock(mutex_);
  pinned_.erase(const_cast<void*>(memory));
}

void SimulatedGpu::free_pinned(void* memory) noexcept {
  const Lock lock(mutex_);
  settle();
  check_invariant(pinned_.erase(memory) == 1, "memory that was pinned here");
  std::free(memory);
}

cuda::DeviceRoom SimulatedGpu::room(int device) {
  const Lock lock(mutex_);
  return {options_.memory_bytes - used_bytes_[device], options_.memory_bytes};
}

}  // namespace stoker
