#include "stoker/observe/report/report_words.h"

#include <array>
#include <cstddef>

#include "stoker/observe/report/sentences.h"

namespace stoker::observe {
namespace {

// A line a word, whatever its length: English and Persian are read beside each other.
// clang-format off
constexpr std::array kWords{
    WordPair{Word::kTitle, "Report of a run", "گزارش یک اجرا"},
    WordPair{Word::kTitleDiagnosis, "Why does my GPU idle?", "چرا GPU من بیکار است؟"},
    WordPair{Word::kTitleBench, "How fast is the feed?", "فید چقدر سریع است؟"},
    WordPair{Word::kMade, "{}, by stoker {}", "{}، با stoker {}"},
    WordPair{Word::kRunning, "still running", "هنوز در حال اجرا"},
    WordPair{Word::kFinished, "ended", "پایان‌یافته"},
    WordPair{Word::kKilled, "broken off: its process is gone", "ناتمام: پردازهٔ آن دیگر نیست"},
    WordPair{Word::kSkip, "Skip to the content", "پرش به متن"},
    WordPair{Word::kSections, "Sections", "بخش‌ها"},
    WordPair{Word::kTable, "table", "جدول"},
    WordPair{Word::kAsTable, "The same as a table", "همین به شکل جدول"},
    WordPair{Word::kReached, "reached", "رسیده"},
    WordPair{Word::kMissed, "missed", "نرسیده"},
    WordPair{Word::kVerdict, "Verdict", "رأی"},
    WordPair{Word::kNoVerdict, "Nothing was timed: there is no verdict.", "چیزی زمان‌گیری نشده است: رأیی نیست."},
    WordPair{Word::kShareOfLimit, "The feed reaches {} of what limits it: {}.", "فید به {} از حد خود می‌رسد: {}."},
    WordPair{Word::kRate, "The feed brings {} clips a second.", "فید {} کلیپ در ثانیه می‌آورد."},
    WordPair{Word::kWaitingForFeed, "waiting for the feed", "انتظار برای فید"},
    WordPair{Word::kStarvedAbove, "starved above {}", "بالای {} گرسنه است"},
    WordPair{Word::kBatchesPerS, "batches per second", "دسته در ثانیه"},
    WordPair{Word::kClipsPerS, "clips per second", "کلیپ در ثانیه"},
    WordPair{Word::kSupply, "supply", "عرضه"},
    WordPair{Word::kSupplyNote, "batches per second that the feed could bring", "دسته در ثانیه‌ای که فید می‌توانست بیاورد"},
    WordPair{Word::kIntervalCv, "std/mean of the intervals", "انحراف معیار به میانگین فاصله‌ها"},
    WordPair{Word::kUnevenAbove, "uneven above {}", "بالای {} ناهموار است"},
    WordPair{Word::kSteps, "steps", "گام‌ها"},
    WordPair{Word::kLossFirstLast, "loss, first to last", "زیان (loss)، از اول تا آخر"},
    WordPair{Word::kGpuBusy, "GPU busy", "مشغولی GPU"},
    WordPair{Word::kGpuGood, "good above {}", "بالای {} خوب است"},
    WordPair{Word::kNotThere, "Not in this report", "در این گزارش نیست"},
    WordPair{Word::kMissingFile, "{} is not there.", "{} آنجا نیست."},
    WordPair{Word::kMissingBroken, "{} cannot be used: {}", "{} قابل استفاده نیست: {}"},
    WordPair{Word::kNoGpu, "No figures of a GPU: its lane is left out.", "عددی از GPU نیست: ردیف آن نیامده است."},
    WordPair{Word::kTimeline, "GPU, feed and consumer over time", "GPU، فید و مصرف‌کننده در طول زمان"},
    WordPair{Word::kTimelineNote, "The last {} batches, of {} in all. What is above each other happened at the same time.", "آخرین {} دسته، از {} دسته در کل. آنچه زیر هم است هم‌زمان رخ داده است."},
    WordPair{Word::kTimeAxis, "time (s)", "زمان (s)"},
    WordPair{Word::kLaneGpu, "GPU (%)", "GPU (%)"},
    WordPair{Word::kLaneConsumer, "consumer: time between batches (ms)", "مصرف‌کننده: زمان بین دسته‌ها (ms)"},
    WordPair{Word::kLaneFeed, "feed: batches ready", "فید: دسته‌های آماده"},
    WordPair{Word::kLaneCores, "processor cores", "هسته‌های پردازنده"},
    WordPair{Word::kLaneDisk, "disk (MB/s)", "دیسک (MB/s)"},
    WordPair{Word::kInterval, "interval", "فاصله"},
    WordPair{Word::kWaiting, "waiting", "انتظار"},
    WordPair{Word::kReady, "ready", "آماده"},
    WordPair{Word::kOwnCores, "this run", "این اجرا"},
    WordPair{Word::kOtherCores, "others", "دیگران"},
    WordPair{Word::kWholeRun, "The whole run", "کل اجرا"},
    WordPair{Word::kWholeRunNote, "Of the figures that the trainer wrote.", "از عددهایی که آموزش نوشته است."},
    WordPair{Word::kWholeRunMean, "Of the figures that the trainer wrote; each point is the mean of {} lines.", "از عددهایی که آموزش نوشته است؛ هر نقطه میانگین {} سطر است."},
    WordPair{Word::kStepAxis, "step", "گام"},
    WordPair{Word::kStepMs, "time of a step (ms)", "زمان یک گام (ms)"},
    WordPair{Word::kWholeStep, "whole step", "کل گام"},
    WordPair{Word::kDataMs, "waiting for data", "انتظار برای داده"},
    WordPair{Word::kMachineRun, "The machine over the whole run", "ماشین در کل اجرا"},
    WordPair{Word::kMachineRunNote, "Sampled about once a second.", "تقریباً هر ثانیه یک نمونه."},
    WordPair{Word::kIntervals, "Time between batches", "زمان بین دسته‌ها"},
    WordPair{Word::kIntervalAxis, "interval (ms)", "فاصله (ms)"},
    WordPair{Word::kBatchesAxis, "batches", "دسته‌ها"},
    WordPair{Word::kIntervalsNote, "Median {}, 99 of 100 below {}, longest {}. What is longer than the axis is counted in the last bar.", "میانه {}، نودونه درصد زیر {}، بلندترین {}. آنچه از محور بلندتر است در آخرین ستون شمرده شده است."},
    WordPair{Word::kWaterfall, "Where the consumer's time goes", "وقت مصرف‌کننده کجا می‌رود"},
    WordPair{Word::kShareAxis, "share of the time (%)", "سهم از زمان (%)"},
    WordPair{Word::kOwnSteps, "its own steps", "گام‌های خودش"},
    WordPair{Word::kWaitFor, "waiting: {}", "انتظار: {}"},
    WordPair{Word::kWaitOther, "waiting, no cause named", "انتظار، بی علت نام‌برده"},
    WordPair{Word::kAll, "all", "همه"},
    WordPair{Word::kWaterfallNote, "Waiting is split by the causes below; the start is left out.", "انتظار بین علت‌های پایین تقسیم شده است؛ آغاز اجرا حساب نشده است."},
    WordPair{Word::kWorkers, "What the workers do", "کارگرها چه می‌کنند"},
    WordPair{Word::kWorkersAxis, "workers", "کارگرها"},
    WordPair{Word::kWorkersNote, "Workers in each stage on average; what is left of {} idles or waits for a free slot.", "میانگین کارگرها در هر مرحله؛ باقی از {} کارگر بیکار یا منتظر اسلات آزاد است."},
    WordPair{Word::kWorkersNone, "There are no workers: the consumer's thread makes the batches.", "کارگری نیست: نخ مصرف‌کننده دسته‌ها را می‌سازد."},
    WordPair{Word::kIdle, "idle", "بیکار"},
    WordPair{Word::kOther, "other", "بقیه"},
    WordPair{Word::kPadding, "Padding by bucket", "پدینگ هر باکت"},
    WordPair{Word::kBucket, "rows × frames", "ردیف × فریم"},
    WordPair{Word::kFramesAxis, "frames a batch", "فریم در هر دسته"},
    WordPair{Word::kSpeech, "speech", "گفتار"},
    WordPair{Word::kPaddingPart, "padding", "پدینگ"},
    WordPair{Word::kPaddingNote, "{} of all frames are padding: the model computes on them as on speech.", "{} از همهٔ فریم‌ها پدینگ است: مدل روی آن‌ها هم مثل گفتار حساب می‌کند."},
    WordPair{Word::kPaddingMore, "The {} buckets with the most padding, of {}.", "{} باکت با بیشترین پدینگ، از {} باکت."},
    WordPair{Word::kGaps, "Longest gaps", "بلندترین وقفه‌ها"},
    WordPair{Word::kGapLength, "beyond the usual", "بیش از معمول"},
    WordPair{Word::kGapAt, "after", "پس از"},
    WordPair{Word::kGapBatch, "batch", "دسته"},
    WordPair{Word::kEpochBatch, "epoch {}, batch {}", "دورهٔ {}، دستهٔ {}"},
    WordPair{Word::kReason, "reason", "علت"},
    WordPair{Word::kCyclic, "HIGH VARIATION DETECTED: cyclic pattern, period {}", "HIGH VARIATION DETECTED: الگوی چرخه‌ای، دورهٔ تناوب {}"},
    WordPair{Word::kCyclicWhat, "{} batches ({}), strength {}; what repeats: {}", "{} دسته ({})، شدت {}؛ آنچه تکرار می‌شود: {}"},
    WordPair{Word::kCauses, "Causes", "علت‌ها"},
    WordPair{Word::kCause, "cause", "علت"},
    WordPair{Word::kShare, "share of the time", "سهم از زمان"},
    WordPair{Word::kEvidence, "evidence", "شاهد"},
    WordPair{Word::kWhatToDo, "what to do", "چه کنید"},
    WordPair{Word::kAnd, "; ", "؛ "},
    WordPair{Word::kCures, "Cures", "چاره‌ها"},
    WordPair{Word::kCuresNote, "Times as many batches as now, predicted from the measured ones; the range holds nine of ten predictions.", "چند برابر دسته‌های کنونی، پیش‌بینی‌شده از دسته‌های اندازه‌گیری‌شده؛ بازه نُه پیش‌بینی از ده را در بر دارد."},
    WordPair{Word::kChange, "change", "تغییر"},
    WordPair{Word::kGain, "gain (times)", "سود (برابر)"},
    WordPair{Word::kGainRange, "range", "بازه"},
    WordPair{Word::kBeforeAfter, "Before and after", "پیش و پس"},
    WordPair{Word::kBefore, "as it is", "وضع کنونی"},
    WordPair{Word::kPredicted, "predicted: {}", "پیش‌بینی: {}"},
    WordPair{Word::kMeasured, "applied: {}", "اجراشده: {}"},
    WordPair{Word::kBeforeAfterNote, "The first cure that a setting does was run: predicted {} times, measured {} times.", "نخستین چاره‌ای که با یک تنظیم انجام می‌شود اجرا شد: پیش‌بینی {} برابر، اندازه‌گیری {} برابر."},
    WordPair{Word::kRows, "Measured beside each other", "اندازه‌گیری کنار هم"},
    WordPair{Word::kRowsNote, "Best window of each row; {} brings {} times as much as {}.", "بهترین پنجرهٔ هر سطر؛ {}، {} برابر {} می‌آورد."},
    WordPair{Word::kRow, "row", "سطر"},
    WordPair{Word::kLimit, "limit", "حد"},
    WordPair{Word::kOfLimit, "share of the limit", "سهم از حد"},
    WordPair{Word::kStall, "stall", "معطلی"},
    WordPair{Word::kP50, "p50 (ms)", "p50 (ms)"},
    WordPair{Word::kP99, "p99 (ms)", "p99 (ms)"},
    WordPair{Word::kLearning, "Loss and spoken samples", "زیان و نمونه‌های گفتار"},
    WordPair{Word::kLoss, "loss", "زیان (loss)"},
    WordPair{Word::kLossNote, "flow: the decoder's error; prior: what the text alone predicts of each frame; duration: how long each token lasts.", "flow: خطای decoder؛ prior: آنچه متن به‌تنهایی از هر فریم پیش‌بینی می‌کند؛ duration: اینکه هر توکن چقدر طول می‌کشد."},
    WordPair{Word::kMoreSounds, "{} more samples are in the folder of the run.", "{} نمونهٔ دیگر در پوشهٔ اجرا هست."},
    WordPair{Word::kSettings, "Settings that differ from the default", "تنظیم‌هایی که با پیش‌فرض فرق دارند"},
    WordPair{Word::kSetting, "setting", "تنظیم"},
    WordPair{Word::kValue, "value", "مقدار"},
    WordPair{Word::kDefault, "default", "پیش‌فرض"},
    WordPair{Word::kMachine, "Machine", "ماشین"},
    WordPair{Word::kWhat, "what", "چه"},
    WordPair{Word::kFound, "found", "یافته"},
    WordPair{Word::kCoresAllowed, "cores that the run may use", "هسته‌هایی که اجرا اجازه دارد"},
    WordPair{Word::kQuota, "cores by quota", "هسته‌ها طبق سهمیه"},
    WordPair{Word::kCoresOwn, "cores in use by the run", "هسته‌هایی که اجرا به کار برد"},
    WordPair{Word::kCoresOthers, "cores in use by others", "هسته‌هایی که دیگران به کار بردند"},
    WordPair{Word::kMemoryLeft, "memory available, least", "حافظهٔ در دسترس، کمترین"},
    WordPair{Word::kMemoryLeftMean, "memory available, mean", "حافظهٔ در دسترس، میانگین"},
    WordPair{Word::kStorage, "storage of the data", "حافظهٔ ذخیره‌سازی داده"},
    WordPair{Word::kPageCache, "of the data in the page cache", "از داده در page cache"},
    WordPair{Word::kDiskRead, "read from disk, mean", "خوانده از دیسک، میانگین"},
    WordPair{Word::kDiskBusy, "disk busy", "مشغولی دیسک"},
    WordPair{Word::kGpuUse, "GPU busy, mean", "مشغولی GPU، میانگین"},
    WordPair{Word::kGpuMemory, "GPU memory in use, most", "حافظهٔ GPU در مصرف، بیشترین"},
    WordPair{Word::kGpuPower, "GPU power, mean", "توان GPU، میانگین"},
    WordPair{Word::kGpuClock, "GPU clock, mean", "کلاک GPU، میانگین"},
    WordPair{Word::kGpuTemperature, "GPU temperature, highest", "دمای GPU، بیشترین"},
    WordPair{Word::kGpuThrottled, "GPU held down by heat or power", "GPU زیر فشار گرما یا توان"},
    WordPair{Word::kOf, "{} of {}", "{} از {}"},
    WordPair{Word::kOfSamples, "{} of the samples", "{} از نمونه‌ها"},
    WordPair{Word::kRejects, "Rejects", "ردشده‌ها"},
    WordPair{Word::kRejectsNote, "{} rows or files could not be used; here are {}.", "{} ردیف یا فایل قابل استفاده نبود؛ {} تای آن‌ها اینجاست."},
    WordPair{Word::kFile, "file", "فایل"},
    WordPair{Word::kCode, "code", "کد"},
    WordPair{Word::kMessage, "message", "پیام"},
    WordPair{Word::kStagePlan, "plan", "plan (برنامه)"},
    WordPair{Word::kStageFetch, "fetch", "fetch (خواندن)"},
    WordPair{Word::kStageDecode, "decode", "decode (رمزگشایی)"},
    WordPair{Word::kStageResample, "resample", "resample (تغییر نرخ)"},
    WordPair{Word::kStageMel, "mel", "mel (مل)"},
    WordPair{Word::kStageText, "text", "text (متن)"},
    WordPair{Word::kStageAugment, "augment", "augment (تغییر صدا)"},
    WordPair{Word::kStageAssemble, "assemble", "assemble (چیدن)"},
    WordPair{Word::kWorkLogging, "logging", "logging (ثبت)"},
    WordPair{Word::kWorkCheckpoint, "checkpoint", "checkpoint"},
    WordPair{Word::kWorkValidation, "validation", "validation (ارزیابی)"},
    WordPair{Word::kWorkSync, "sync", "sync (هم‌زمانی)"},
    WordPair{Word::kWorkOther, "other work", "کار دیگر"},
};
// clang-format on

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (static_cast<std::size_t>(kWords[i].word) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::optional<ReportLanguage> language_from(std::string_view name) {
  if (name == "en") return ReportLanguage::kEnglish;
  if (name == "fa") return ReportLanguage::kPersian;
  return std::nullopt;
}

std::span<const WordPair> all_words() { return kWords; }

std::string filled(std::string_view pattern, std::span<const std::string> values,
                   ReportLanguage language) {
  constexpr std::string_view kBeginApart = "\u2068", kEndApart = "\u2069";
  std::string out;
  for (const std::string& value : values) {
    const std::size_t place = pattern.find("{}");
    if (place == pattern.npos) break;
    out += pattern.substr(0, place);
    if (language == ReportLanguage::kPersian) out += kBeginApart;
    out += value;
    if (language == ReportLanguage::kPersian) out += kEndApart;
    pattern.remove_prefix(place + 2);
  }
  return out.append(pattern);
}

std::string_view Words::pattern(Word word) const {
  const WordPair& pair = kWords[static_cast<std::size_t>(word)];
  return language_ == ReportLanguage::kPersian ? pair.persian : pair.english;
}

std::string Words::operator()(Word word, const std::vector<std::string>& values) const {
  return filled(pattern(word), values, language_);
}

std::string Words::sentence(std::string_view english) const {
  return language_ == ReportLanguage::kPersian ? in_persian(english) : std::string(english);
}

PageWords Words::page() const {
  if (language_ == ReportLanguage::kEnglish) return {};
  return {.language = "fa",
          .direction = "rtl",
          .skip = pattern(Word::kSkip),
          .sections = pattern(Word::kSections),
          .table = pattern(Word::kTable),
          .as_table = pattern(Word::kAsTable),
          .reached = pattern(Word::kReached),
          .missed = pattern(Word::kMissed)};
}

}  // namespace stoker::observe
