// Mean clips (144,953 samples, 290 kB) from the page cache to a reused buffer, beside two limits:
// memcpy of the same bytes from a mapping whose pages are already in place, and the kernel's own
// copy from a file that is already open. Read the best of several runs on a shared machine.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/audio/file/wav_writer.h"

namespace stoker::audio {
namespace {

constexpr std::size_t kClipSamples = 144'953;
constexpr std::size_t kNumClips = 128;
constexpr std::size_t kFileBytes = kWavHeaderBytes + kClipSamples * 2;

bool all_right = true;

// A folder of clips that goes away with the program.
class Clips {
 public:
  Clips() {
    std::string pattern = (std::filesystem::temp_directory_path() / "wav_bench_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    folder_ = open_file(system_io(), path_, OpenFor::kFolder).take_or_raise();
    std::vector<std::int16_t> samples(kClipSamples);
    for (std::size_t clip = 0; clip < kNumClips; ++clip) {
      for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<std::int16_t>((i * (61 + clip)) % 20'000);
      write_wav_pcm16(folder_, name(clip), samples, 22050).take_or_raise();
    }
  }
  ~Clips() { std::filesystem::remove_all(path_); }
  Clips(const Clips&) = delete;
  Clips& operator=(const Clips&) = delete;

  static std::string name(std::size_t clip) { return std::to_string(clip % kNumClips) + ".wav"; }
  File open(std::size_t clip) const {
    return open_beneath(folder_, name(clip), OpenFor::kRead).take_or_raise();
  }

 private:
  std::string path_;
  File folder_;
};

const Clips& clips() {
  static const Clips all;
  return all;
}

// The third sample tells the clips apart.
void require(benchmark::State& state, std::span<const std::int16_t> pcm, std::size_t clip) {
  const auto wanted = static_cast<std::int16_t>(2 * (61 + clip % kNumClips));
  if (pcm.size() == kClipSamples && pcm[2] == wanted) return;
  all_right = false;
  state.SkipWithError("the samples are not those that were written");
}

void finish(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kClipSamples * 2));
}

void copy_from_mapping(benchmark::State& state) {
  std::vector<const std::byte*> mapped(kNumClips);
  for (std::size_t clip = 0; clip < kNumClips; ++clip)
    system_io().map(clips().open(clip).handle(), kFileBytes, mapped[clip]);
  std::vector<std::byte> buffer(kClipSamples * 2);
  std::size_t clip = 0;
  for (auto _ : state) {
    std::memcpy(buffer.data(), mapped[clip++ % kNumClips] + kWavHeaderBytes, buffer.size());
    benchmark::ClobberMemory();
  }
  for (const std::byte* at : mapped) system_io().unmap(at, kFileBytes);
  finish(state);
}
BENCHMARK(copy_from_mapping);

void read_open_file(benchmark::State& state) {
  std::vector<File> files;
  for (std::size_t clip = 0; clip < kNumClips; ++clip) files.push_back(clips().open(clip));
  std::vector<std::byte> into(kFileBytes);
  std::size_t clip = 0;
  for (auto _ : state) files[clip++ % kNumClips].read_at(into, 0).take_or_raise();
  finish(state);
}
BENCHMARK(read_open_file);

// The road of a feed that knows the file from its index: the samples alone, where they belong.
void read_indexed_pcm16(benchmark::State& state) {
  const SoundInfo info = read_sound_info(clips().open(0)).take_or_raise();
  SoundReader reader;
  std::vector<std::int16_t> pcm(kClipSamples);
  std::size_t clip = 0;
  for (auto _ : state) {
    reader.read_pcm16(clips().open(clip), info, 0, pcm).take_or_raise();
    require(state, pcm, clip++);
  }
  finish(state);
}
BENCHMARK(read_indexed_pcm16);

void read_header_alone(benchmark::State& state) {
  std::size_t clip = 0;
  for (auto _ : state) {
    const auto info = read_sound_info(clips().open(clip++));
    std::uint64_t num_samples = info->num_samples;
    benchmark::DoNotOptimize(num_samples);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_header_alone);

}  // namespace
}  // namespace stoker::audio

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return stoker::audio::all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
