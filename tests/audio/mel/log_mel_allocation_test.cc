// LogMel::run takes no memory from the heap, whatever the recipe, the samples and the dtype.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/config/mel_recipe.h"
#include "tests/audio/mel/mel_signals.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STOKER_COUNTS_MALLOC 0
#else
#define STOKER_COUNTS_MALLOC 1
#endif

namespace {
thread_local std::size_t taken_pieces = 0;
}  // namespace

// Every way to the heap of this program and the libraries in it; operator new goes through malloc.
#if STOKER_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++taken_pieces;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++taken_pieces;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++taken_pieces;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++taken_pieces;
  return __libc_memalign(alignment, size);
}
}
#endif

namespace stoker::audio {
namespace {

class LogMelAllocationTest : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (!STOKER_COUNTS_MALLOC) GTEST_SKIP() << "a sanitizer has the heap";
  }
};

template <class Sample>
std::size_t pieces_of_run(const LogMel& mel, const std::vector<Sample>& samples,
                          config::MelDtype dtype) {
  auto workspace = mel.make_workspace(samples.size());
  const std::size_t rows = mel.num_frames(samples.size());
  std::vector<float> memory(rows * mel.num_mels());
  const MelView view{
      .data = memory.data(), .dtype = dtype, .row_stride = mel.num_mels(), .rows = rows};
  const std::size_t before = taken_pieces;
  mel.run(std::span<const Sample>(samples), view, workspace);
  return taken_pieces - before;
}

TEST_P(LogMelAllocationTest, ARunTakesNothingFromTheHeap) {
  const std::vector<std::int16_t> samples = speech_like(30000);
  const std::vector<float> floats = noise(30000, 5);
  for (const SimdLevel level : runnable_levels()) {
    const LogMel mel(config::mel_preset(GetParam()), level);
    for (const auto dtype :
         {config::MelDtype::kF32, config::MelDtype::kF16, config::MelDtype::kBf16}) {
      EXPECT_EQ(pieces_of_run(mel, samples, dtype), 0U) << simd_level_name(level);
      EXPECT_EQ(pieces_of_run(mel, floats, dtype), 0U) << simd_level_name(level);
    }
  }
}

TEST_F(LogMelAllocationTest, TheCounterSeesVectorsAndAlignedMemory) {
  const std::size_t before = taken_pieces;
  const std::vector<int> counted(100);
  EXPECT_EQ(taken_pieces, before + 1);
  std::free(std::aligned_alloc(64, 128));
  EXPECT_EQ(taken_pieces, before + 2);
}

INSTANTIATE_TEST_SUITE_P(Presets, LogMelAllocationTest,
                         testing::ValuesIn(config::mel_preset_names().begin(),
                                           config::mel_preset_names().end()),
                         [](const auto& preset) { return std::string(preset.param); });

}  // namespace
}  // namespace stoker::audio
