// Sentences per second through the normaliser and the tokenizer on one core, and that a warm
// tokenizer allocates nothing. Read the best of several runs on a shared machine.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/tokenizer.h"

namespace {

std::atomic<std::uint64_t> num_allocations{0};

}  // namespace

// Every allocation of the program is counted, those inside the library included. Not inlined, or
// g++ 13 takes the pair for a malloc with a foreign delete.
[[gnu::noinline]] void* operator new(std::size_t num_bytes) {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(num_bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stoker::text {
namespace {

struct Corpus {
  const char* language;
  std::vector<std::string_view> sentences;
  std::string_view expected_end;  // of the last sentence's words
};

// Plain sentences and sentences full of things to read, as transcripts mix them.
const Corpus kEnglish{
    "en",
    {"It was a bright cold day in April, and the clocks were striking as the long column moved on.",
     "Nobody in the village could remember a summer so dry, nor a harvest that had come so early.",
     "Mr. and Mrs. Hall left for St. Louis on Jan. 5, 1999, with $1,250.75 in cash and 3 bags.",
     "The committee met at 10:45 a.m. in room 101; only 7 of its 12 members had come that day.",
     "She looked at the letter again, folded it with care, and put it back into the old wooden "
     "box.",
     "In 1912 about 1,500 people drowned when the ship sank 600 km off the coast at 2:20 a.m.",
     "Between the hills the river ran slowly, brown with the rain of three weeks, toward the sea.",
     "Chapter IV says that King Henry VIII spent 3/4 of the money in the 1st year, i.e. too much."},
    "too much."};
// Left as written: the formatter cuts words of another script anew at each run.
// clang-format off
const Corpus kPersian{"fa",
                      {"در آن روزها کسی نمی‌دانست که باران چه وقت خواهد آمد و رودخانه تا کجا "
                       "بالا می‌آید.",
                       "او در سال ۱۳۵۷ با ۲۵ نفر از دوستانش ساعت ۸:۳۰ صبح به تهران رفت.",
                       "قیمت ۲ کیلو سیب ۸۵٬۰۰۰ تومان است و ۱۰٪ ارزان‌تر از "
                       "دیروز.",
                       "کتاب را بست، چراغ را خاموش کرد و به صدای باد در میان درختان گوش داد."},
                      "گوش داد."};
// clang-format on

bool all_right = true;

void require(benchmark::State& state, bool holds, const char* otherwise) {
  if (holds) return;
  all_right = false;
  state.SkipWithError(otherwise);
}

void bench_tokenize(benchmark::State& state, const Corpus& corpus, const char* vocabulary) {
  const Tokenizer tokenizer({.language = corpus.language, .vocabulary = vocabulary});
  TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  std::size_t num_ids = 0;
  const auto pass = [&] {
    std::size_t total = 0;
    for (const std::string_view sentence : corpus.sentences) {
      if (tokenizer.tokenize(sentence, scratch, ids) == TokenizeOutcome::kDone) total += ids.size();
    }
    return total;
  };
  const std::size_t expected = pass();
  const std::uint64_t before = num_allocations.load();
  for (auto _ : state) {
    num_ids = pass();
    benchmark::ClobberMemory();
  }
  require(state, num_allocations.load() == before || state.iterations() == 0,
          "a warm tokenizer allocated");
  require(state, num_ids == expected && expected != 0, "the ids differ from the first pass");
  require(state, scratch.unknown.empty(), "a sentence held unknown characters");
  require(state, scratch.normalized.ends_with(corpus.expected_end),
          "the last sentence reads otherwise");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(corpus.sentences.size()));
}

BENCHMARK_CAPTURE(bench_tokenize, english_characters, kEnglish, "characters");
BENCHMARK_CAPTURE(bench_tokenize, english_bytes, kEnglish, "bytes");
BENCHMARK_CAPTURE(bench_tokenize, english_myxtts, kEnglish, "myxtts");
BENCHMARK_CAPTURE(bench_tokenize, persian_characters, kPersian, "characters");

}  // namespace
}  // namespace stoker::text

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return stoker::text::all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
