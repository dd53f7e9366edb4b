#include "stoker/observe/report/sentences.h"

#include <array>
#include <optional>
#include <vector>

#include "stoker/observe/report/report_words.h"

namespace stoker::observe {
namespace {

// Verdicts, evidence, cures, gaps and what repeats; then title and advice of every cause. A line a
// sentence, whatever its length.
// clang-format off
constexpr std::array kSentences{
    SentencePair{"The feed is not your bottleneck.", "فید گلوگاه شما نیست."},
    SentencePair{"The feed is not your bottleneck: {}.", "فید گلوگاه شما نیست: {}."},
    SentencePair{"The feed is not your bottleneck; it could bring {} times as much.", "فید گلوگاه شما نیست؛ می‌توانست {} برابر بیاورد."},
    SentencePair{"The feed is not your bottleneck; it could bring {} times as much: {}.", "فید گلوگاه شما نیست؛ می‌توانست {} برابر بیاورد: {}."},
    SentencePair{"The consumer loses time of its own. {}", "مصرف‌کننده خودش وقت از دست می‌دهد. {}"},
    SentencePair{"The consumer waits for the feed {} % of its time.", "مصرف‌کننده {}٪ وقتش را منتظر فید است."},
    SentencePair{"The consumer waits for the feed {} % of its time: {}.", "مصرف‌کننده {}٪ وقتش را منتظر فید است: {}."},
    SentencePair{"The consumer takes batches as fast as they come: this is the supply, not a verdict.", "مصرف‌کننده دسته‌ها را به محض آمدن می‌گیرد: این عرضه است، نه رأی."},
    SentencePair{"The consumer takes batches as fast as they come: this is the supply, not a verdict: {}.", "مصرف‌کننده دسته‌ها را به محض آمدن می‌گیرد: این عرضه است، نه رأی: {}."},
    SentencePair{"Too few batches were seen for a verdict.", "برای رأی دادن دسته‌های کافی دیده نشد."},
    SentencePair{"{} of the watch went by before the buffer was full; later the consumer waits {}", "{} از مدت پایش پیش از پر شدن بافر گذشت؛ بعد از آن مصرف‌کننده {} منتظر می‌ماند"},
    SentencePair{"{} took {} beyond what others take", "{} به اندازهٔ {} بیش از بقیه طول کشید"},
    SentencePair{"the longest recording is {} ({}), the mean one {}", "بلندترین ضبط {} است ({})، میانگین {}"},
    SentencePair{"a worker waits {} ms in fetch for each batch, {} of its time", "کارگر برای هر دسته {} میلی‌ثانیه در fetch منتظر می‌ماند، {} وقتش"},
    SentencePair{"nothing is known of the machine: waiting for a core would look the same", "از ماشین چیزی معلوم نیست: انتظار برای هسته هم همین شکل را دارد"},
    SentencePair{"a read of {} takes {} ms", "یک خواندن از {} به اندازهٔ {} میلی‌ثانیه طول می‌کشد"},
    SentencePair{"{} of the data are in the page cache", "{} از داده در page cache است"},
    SentencePair{"the files are on {} ({})", "فایل‌ها روی {} هستند ({})"},
    SentencePair{"a file has {} on average", "هر فایل به‌طور میانگین {} است"},
    SentencePair{"{} takes {} ms of a batch, {} of the workers' time", "{} از هر دسته {} میلی‌ثانیه می‌گیرد، {} وقت کارگرها"},
    SentencePair{"files have {} Hz on average, features {} Hz", "نرخ فایل‌ها به‌طور میانگین {} هرتز و نرخ ویژگی‌ها {} هرتز است"},
    SentencePair{"{} of the files are compressed", "{} از فایل‌ها فشرده‌اند"},
    SentencePair{"workers use {} of {} cores", "کارگرها {} از {} هسته را به کار می‌برند"},
    SentencePair{"without it the feed brings {} batches/s, with it {}", "بدون آن فید {} دسته در ثانیه می‌آورد و با آن {}"},
    SentencePair{"more workers bring no more: one thread at a time for {} ms of a batch", "کارگر بیشتر چیزی نمی‌افزاید: در {} میلی‌ثانیه از هر دسته فقط یک نخ کار می‌کند"},
    SentencePair{"{} keeps {} of {} cores busy", "{} به اندازهٔ {} از {} هسته را مشغول نگه می‌دارد"},
    SentencePair{"{} keep {} of {} cores busy", "{} به اندازهٔ {} از {} هسته را مشغول نگه می‌دارند"},
    SentencePair{"the consumer's thread, which makes the batches,", "نخ مصرف‌کننده، که خودش دسته‌ها را می‌سازد،"},
    SentencePair{"from {} the feed brings {} batches/s, as it is {}", "از {} فید {} دسته در ثانیه می‌آورد و با وضع کنونی {}"},
    SentencePair{"memory", "حافظه"},
    SentencePair{"files that are not in memory", "فایل‌هایی که در حافظه نیستند"},
    SentencePair{"with {} the feed brings {} batches/s, as it is {}", "با {} فید {} دسته در ثانیه می‌آورد و با وضع کنونی {}"},
    SentencePair{"the naive loader makes each batch in the consumer's thread when it is asked for", "loader naive هر دسته را وقتی خواسته شود در نخ مصرف‌کننده می‌سازد"},
    SentencePair{"the native one brings {} batches/s with {}, this one {}", "loader native با {} دسته در ثانیه ({}) می‌آید و این یکی با {}"},
    SentencePair{"the quota is {} cores of {}; {} of its periods ended in a stop", "سهمیه {} هسته از {} است؛ {} از دوره‌هایش با توقف تمام شد"},
    SentencePair{"others use {} of {} cores", "دیگران {} از {} هسته را به کار می‌برند"},
    SentencePair{"{} share {} cores", "{} در {} هسته شریک‌اند"},
    SentencePair{"threads wait {} s for a core in each second", "نخ‌ها در هر ثانیه {} ثانیه منتظر هسته می‌مانند"},
    SentencePair{"tasks wait {} of the time for memory", "کارها {} وقت را منتظر حافظه‌اند"},
    SentencePair{"{} pages are swapped in each second, {} major faults a batch", "در هر ثانیه {} صفحه از swap خوانده می‌شود، {} major fault برای هر دسته"},
    SentencePair{"the consumer holds {} batches, the buffer has {}", "مصرف‌کننده {} دسته نگه می‌دارد و بافر {} دارد"},
    SentencePair{"the buffer has {}; supply is {} times the demand on average", "بافر {} دارد؛ عرضه به‌طور میانگین {} برابر تقاضاست"},
    SentencePair{"a copy to the GPU takes {} ms", "هر کپی به GPU به اندازهٔ {} میلی‌ثانیه طول می‌کشد"},
    SentencePair{"the feed's kernels take {} ms of each batch", "kernelهای فید از هر دسته {} میلی‌ثانیه می‌گیرند"},
    SentencePair{"gpu.pin_memory is off", "gpu.pin_memory خاموش است"},
    SentencePair{"host memory is pinned", "حافظهٔ میزبان pinned است"},
    SentencePair{"the bus has {} of {} lanes of generation {}", "گذرگاه {} از {} lane نسل {} را دارد"},
    SentencePair{"{} worker", "{} کارگر"},
    SentencePair{"{} workers", "{} کارگر"},
    SentencePair{"{} batch", "{} دسته"},
    SentencePair{"{} batches", "{} دسته"},
    SentencePair{"{} time", "{} بار"},
    SentencePair{"{} times", "{} بار"},
    SentencePair{"{} takes {} of the consumer's time, {} in {} steps", "{} به اندازهٔ {} وقت مصرف‌کننده را می‌گیرد، {} در {} گام"},
    SentencePair{"the consumer's own steps take {} longer", "گام‌های خود مصرف‌کننده {} بیشتر طول می‌کشند"},
    SentencePair{"single steps take {} of the time beyond the median step", "تک‌گام‌ها {} وقت را بیش از گام میانه می‌گیرند"},
    SentencePair{"they come every {} steps", "هر {} گام می‌آیند"},
    SentencePair{"they come without a rhythm", "بی‌نظم می‌آیند"},
    SentencePair{"a step takes {} more than the {} ms that it should", "هر گام {} بیش از {} میلی‌ثانیه که باید طول می‌کشد"},
    SentencePair{"held down in {} of the samples: {} MHz of {}, {} W, {} °C", "در {} از نمونه‌ها پایین نگه داشته شده: {} مگاهرتز از {}، {} وات، {} درجه"},
    SentencePair{"the GPU works {} % of the time although batches are there", "GPU فقط {}٪ وقت کار می‌کند، با اینکه دسته آماده است"},
    SentencePair{"the GPU had done its last step in {} of the looks at it, while the host prepared the next one", "در {} از نگاه‌ها GPU گام قبلی را تمام کرده بود و میزبان هنوز گام بعدی را آماده می‌کرد"},
    SentencePair{"copies to the GPU take {} ms of the {} ms between two batches", "کپی به GPU به اندازهٔ {} میلی‌ثانیه از {} میلی‌ثانیهٔ میان دو دسته را می‌گیرد"},
    SentencePair{"the bus of {} lanes of generation {} carries {} GB/s", "گذرگاه با {} lane نسل {} به اندازهٔ {} گیگابایت در ثانیه می‌برد"},
    SentencePair{"steps are {} longer than they should be", "گام‌ها {} بیش از آنچه باید طول می‌کشند"},
    SentencePair{"the consumer's thread is busy {} of the time", "نخ مصرف‌کننده {} وقت مشغول است"},
    SentencePair{"{} of all frames are padding", "{} از همهٔ فریم‌ها پدینگ است"},
    SentencePair{"the native loader instead of the naive one", "loader native به جای naive"},
    SentencePair{"features from a cache instead of computing them again", "ویژگی‌ها از کش، به جای حساب کردن دوباره"},
    SentencePair{"leave out --disable-native-loading", "بدون --disable-native-loading"},
    SentencePair{"give each batch back before the next one is asked for", "هر دسته پیش از خواستن دستهٔ بعد پس داده شود"},
    SentencePair{"pinned host memory", "حافظهٔ pinned در میزبان"},
    SentencePair{"mels not on the GPU that trains", "مل روی GPUای که آموزش می‌دهد حساب نشود"},
    SentencePair{"packed batches without padding (gain in frames per second)", "دسته‌های packed بی پدینگ (سود در فریم در ثانیه)"},
    SentencePair{"end the other programs, or keep them off these cores (taskset)", "برنامه‌های دیگر تمام شوند یا از این هسته‌ها دور بمانند (taskset)"},
    SentencePair{"raise the CPU quota to {} cores", "سهمیهٔ CPU تا {} هسته بالا برود"},
    SentencePair{"split, convert or leave out the slow file", "فایل کند تکه، تبدیل یا کنار گذاشته شود"},
    SentencePair{"data or cache on storage that answers at once (local solid-state, memory)", "داده یا کش روی حافظه‌ای که بی‌درنگ جواب می‌دهد (SSD محلی، RAM)"},
    SentencePair{"take the lock out of the stage", "قفل از آن مرحله برداشته شود"},
    SentencePair{"log ten times less often", "ده برابر کمتر ثبت شود"},
    SentencePair{"save ten times less often", "ده برابر کمتر ذخیره شود"},
    SentencePair{"validate ten times less often", "ده برابر کمتر ارزیابی شود"},
    SentencePair{"read figures back ten times less often", "عددها ده برابر کمتر از GPU خوانده شوند"},
    SentencePair{"do this work ten times less often", "این کار ده برابر کمتر انجام شود"},
    SentencePair{"{} in {} of {}", "{} در {} از {}"},
    SentencePair{"{} in {}", "{} در {}"},
    SentencePair{"{}, of batch {} before it", "{}، در دستهٔ پیشین {}"},
    SentencePair{"the consumer: {} took {}", "مصرف‌کننده: {} به اندازهٔ {} طول کشید"},
    SentencePair{"the consumer's own step", "گام خود مصرف‌کننده"},
    SentencePair{"{} of the consumer", "{} در مصرف‌کننده"},
    SentencePair{"{} of the feed", "{} در فید"},
    SentencePair{"the end of an epoch", "پایان دوره"},
    SentencePair{"the change of the batch's shape", "عوض شدن شکل دسته"},
    SentencePair{"the turn of the {} workers", "نوبت {} کارگر"},
    SentencePair{"waiting for the feed", "انتظار برای فید"},
    SentencePair{"nothing in this process: look for a neighbour", "چیزی در این پردازه نیست: دنبال همسایه بگردید"},
    SentencePair{"memcpy over the same mapping and order", "memcpy روی همان mapping و با همان ترتیب"},
    SentencePair{"log-mel of samples in the processor's cache", "log-mel نمونه‌هایی که در کش پردازنده‌اند"},
    SentencePair{"pinned H2D {} GB/s, memcpy into pinned {} GB/s: the smaller", "کوچک‌ترِ این دو: H2D از حافظهٔ pinned با {} GB/s و memcpy به حافظهٔ pinned با {} GB/s"},
    SentencePair{"none: rows stay in GPU memory", "بی‌حد: ردیف‌ها در حافظهٔ GPU می‌مانند"},
    SentencePair{"no batch was handed out yet", "هنوز دسته‌ای تحویل نشده است"},
    SentencePair{"the storage is slow or cold", "حافظهٔ ذخیره‌سازی کند یا سرد است"},
    SentencePair{"precompute into one cache on a local solid-state disk, read ahead, or more workers", "یک کش روی SSD محلی بسازید (precompute)، پیش‌خوانی کنید یا کارگر بیشتری بگذارید"},
    SentencePair{"the data are on a network or rotating disk", "داده روی شبکه یا دیسک گردان است"},
    SentencePair{"copy the data or the cache to a local solid-state disk", "داده یا کش را روی SSD محلی کپی کنید"},
    SentencePair{"there are many tiny files", "فایل‌های ریز فراوان‌اند"},
    SentencePair{"precompute: the cache packs utterances into shards", "precompute: کش گفته‌ها را در شاردها می‌چیند"},
    SentencePair{"one giant or slow file holds up its batch", "یک فایل بسیار بزرگ یا کند دستهٔ خود را معطل می‌کند"},
    SentencePair{"split, convert or leave out that file; a deeper buffer hides it", "آن فایل را تکه کنید، تبدیل کنید یا کنار بگذارید؛ بافر عمیق‌تر آن را پنهان می‌کند"},
    SentencePair{"decoding takes the workers' time", "decode وقت کارگرها را می‌گیرد"},
    SentencePair{"precompute, or convert the files to WAV", "precompute، یا تبدیل فایل‌ها به WAV"},
    SentencePair{"resampling takes the workers' time", "تغییر نرخ نمونه‌برداری وقت کارگرها را می‌گیرد"},
    SentencePair{"precompute, or store the files at the features' rate", "precompute، یا ذخیرهٔ فایل‌ها با نرخ ویژگی‌ها"},
    SentencePair{"the mel is computed on too few cores", "مل روی هسته‌های کم حساب می‌شود"},
    SentencePair{"precompute, or compute mels on the GPU", "precompute، یا محاسبهٔ مل روی GPU"},
    SentencePair{"normalising and tokenising take the workers' time", "یکدست کردن متن و توکن‌سازی وقت کارگرها را می‌گیرد"},
    SentencePair{"precompute: the cache holds tokens too", "precompute: کش توکن‌ها را هم دارد"},
    SentencePair{"putting batches together takes the time", "چیدن دسته‌ها وقت می‌گیرد"},
    SentencePair{"fewer optional parts, f16 batches, --batch-layout packed", "بخش اختیاری کمتر، دستهٔ f16، یا --batch-layout packed"},
    SentencePair{"much of each batch is padding", "بخش بزرگی از هر دسته پدینگ است"},
    SentencePair{"batch by frames with buckets, or --batch-layout packed", "دسته را با فریم و باکت بسازید، یا --batch-layout packed"},
    SentencePair{"there are too few workers", "کارگر کم است"},
    SentencePair{"raise num_workers", "num_workers را بالا ببرید"},
    SentencePair{"there are too many workers for the cores or the quota", "کارگر برای هسته‌ها یا سهمیه زیاد است"},
    SentencePair{"lower num_workers", "num_workers را پایین بیاورید"},
    SentencePair{"the CPU quota stops the workers", "سهمیهٔ CPU کارگرها را متوقف می‌کند"},
    SentencePair{"raise the quota, or precompute to need less", "سهمیه را بالا ببرید، یا precompute کنید تا کمتر لازم باشد"},
    SentencePair{"another program uses the cores", "برنامهٔ دیگری هسته‌ها را گرفته است"},
    SentencePair{"move the other program, or precompute to need less", "آن برنامه را جابه‌جا کنید، یا precompute کنید تا کمتر لازم باشد"},
    SentencePair{"memory is short", "حافظه کم است"},
    SentencePair{"free memory, lower --buffer-memory, or the disk tier of the cache", "حافظه آزاد کنید، --buffer-memory را کم کنید، یا کش را روی دیسک بگذارید"},
    SentencePair{"the buffer is too small", "بافر کوچک است"},
    SentencePair{"raise prefetch_buffer_size", "prefetch_buffer_size را بالا ببرید"},
    SentencePair{"copies to the GPU are from pageable memory", "کپی به GPU از حافظهٔ pageable است"},
    SentencePair{"--set gpu.pin_memory=true", "--set gpu.pin_memory=true"},
    SentencePair{"the bus to the GPU is narrow or shared", "گذرگاه GPU باریک یا مشترک است"},
    SentencePair{"send PCM16 or f16, keep data on the GPU, another slot", "PCM16 یا f16 بفرستید، داده را روی GPU نگه دارید، یا شکاف دیگری"},
    SentencePair{"the mel on the GPU competes with the model", "مل روی GPU با مدل رقابت می‌کند"},
    SentencePair{"precompute, or --set gpu.mel_place=cpu", "precompute، یا --set gpu.mel_place=cpu"},
    SentencePair{"the GPU is held down by heat or power", "گرما یا توان GPU را پایین نگه داشته است"},
    SentencePair{"cool the card, raise its power limit", "کارت را خنک کنید، سقف توانش را بالا ببرید"},
    SentencePair{"one thread at a time does the work", "در هر لحظه فقط یک نخ کار می‌کند"},
    SentencePair{"only the start waits", "فقط آغاز کار منتظر می‌ماند"},
    SentencePair{"nothing, for long runs; precompute for short ones", "برای اجراهای بلند هیچ؛ برای کوتاه‌ها precompute"},
    SentencePair{"the consumer's own steps are slow", "گام‌های خود مصرف‌کننده کندند"},
    SentencePair{"profile the step", "گام را profile کنید"},
    SentencePair{"logging holds the consumer up", "ثبت گزارش مصرف‌کننده را معطل می‌کند"},
    SentencePair{"log less often, or from another thread", "کمتر ثبت کنید، یا از نخ دیگری"},
    SentencePair{"checkpoints hold the consumer up", "checkpointها مصرف‌کننده را معطل می‌کنند"},
    SentencePair{"save less often, or in the background", "کمتر ذخیره کنید، یا در پس‌زمینه"},
    SentencePair{"validation takes the consumer's time", "ارزیابی وقت مصرف‌کننده را می‌گیرد"},
    SentencePair{"validate less often or on less data", "کمتر، یا روی دادهٔ کمتر ارزیابی کنید"},
    SentencePair{"host work between steps", "کار CPU بین گام‌ها"},
    SentencePair{"find what runs with this period, and move it to another thread", "ببینید چه چیزی با این دورهٔ تناوب اجرا می‌شود و به نخ دیگری ببرید"},
    SentencePair{"the host waits for the GPU in every step", "CPU در هر گام منتظر GPU می‌ماند"},
    SentencePair{"keep figures on the device and read them later", "عددها را روی دستگاه نگه دارید و بعداً بخوانید"},
    SentencePair{"thousands of small kernels: the host cannot launch them fast enough", "هزاران kernel ریز: CPU به فرستادنشان نمی‌رسد"},
    SentencePair{"CUDA graphs, fused kernels", "CUDA graph، kernelهای ترکیبی"},
    SentencePair{"the consumer holds many batches", "مصرف‌کننده دسته‌های زیادی نگه می‌دارد"},
    SentencePair{"give batches back after the step, or raise prefetch_buffer_size", "دسته را پس از گام پس بدهید، یا prefetch_buffer_size را بالا ببرید"},
    SentencePair{"ranks wait for each other", "rankها منتظر هم‌اند"},
    SentencePair{"the same batch shapes on all ranks; look for the slow one", "شکل دستهٔ یکسان روی همهٔ rankها؛ دنبال کندتر بگردید"},
};
// clang-format on

// What is in the places of the pattern; nothing where the text is not of this pattern.
std::optional<std::vector<std::string>> values_in(std::string_view text, std::string_view pattern) {
  std::vector<std::string> values;
  const std::size_t first = pattern.find("{}");
  if (first == pattern.npos) return text == pattern ? std::optional(values) : std::nullopt;
  if (!text.starts_with(pattern.substr(0, first))) return std::nullopt;
  text.remove_prefix(first);
  pattern.remove_prefix(first + 2);
  while (true) {
    const std::size_t next = pattern.find("{}");
    const std::string_view literal = pattern.substr(0, next);
    const bool is_last = next == pattern.npos;
    if (is_last && !text.ends_with(literal)) return std::nullopt;
    const std::size_t end = is_last ? text.size() - literal.size() : text.find(literal);
    if (end == text.npos || end == 0) return std::nullopt;
    values.emplace_back(text.substr(0, end));
    if (is_last) return values;
    text.remove_prefix(end + literal.size());
    pattern.remove_prefix(next + 2);
  }
}

}  // namespace

std::span<const SentencePair> all_sentences() { return kSentences; }

// Of several patterns that fit, the one with most of its own letters is meant.
std::string in_persian(std::string_view english) {
  const SentencePair* best = nullptr;
  std::vector<std::string> best_values;
  for (const SentencePair& pair : kSentences) {
    if (best != nullptr && pair.english.size() <= best->english.size()) continue;
    std::optional<std::vector<std::string>> values = values_in(english, pair.english);
    if (!values) continue;
    best = &pair;
    best_values = std::move(*values);
  }
  if (best == nullptr) return std::string(english);
  for (std::string& value : best_values) value = in_persian(value);
  return filled(best->persian, best_values, ReportLanguage::kPersian);
}

}  // namespace stoker::observe
