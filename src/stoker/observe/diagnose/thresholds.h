// Every limit that a diagnosis compares with, each with its reason: no other file of this room has
// one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::observe {

// Of the consumer's time: below it nobody sees the waiting in a training curve or on a bill, and
// the noise of a shared machine alone reaches 2 %.
inline constexpr double kStarvedShare = 0.05;
// A consumer's own work beside its step: one of twenty is what people begin to look for.
inline constexpr double kHostWorkShare = 0.05;
// A cause that would give back less than this of the consumer's time is not worth a line.
inline constexpr double kLeastShare = 0.01;

// Interval CV from which a run is called uneven: the limit of the old diagnostic tool.
inline constexpr double kHighVariation = 0.2;
// Autocorrelation from which a pattern repeats: chance alone stays below 4/sqrt(n), and a pattern
// that explains less than a third of the variation is not one that people see.
inline constexpr double kLeastCorrelation = 0.3;
inline constexpr double kCorrelationDeviations = 4.0;
// Longest period looked for: validation or checkpoints every few hundred steps; three periods must
// fit into what was seen.
inline constexpr std::size_t kMostPeriod = 512;
inline constexpr std::size_t kLeastPeriods = 3;
// A lag counts as the period although a multiple of it correlates a little better.
inline constexpr double kHarmonicSlack = 0.85;

// Share of the workers' time from which a stage other than the mel dominates: the mel is by far the
// largest in data as most people have them, so any other one that reaches this is unusual.
inline constexpr double kDominantShare = 0.4;
// The same for text, which takes 1 % as a rule.
inline constexpr double kDominantTextShare = 0.25;
// Cores count as used up from here: between two batches and at hand-overs a worker always idles a
// little.
inline constexpr double kSaturatedShare = 0.8;
// Workers above the cores by this factor only push each other aside.
inline constexpr double kTooManyWorkers = 2.5;
// Periods of a quota that ended in a stop; one in twenty happens at start-up.
inline constexpr double kThrottledShare = 0.05;
// What others use of our cores before it can be felt: a daemon takes a few hundredths.
inline constexpr double kNeighbourCores = 0.25;
// Work of others counts as one waiting thread for each core that it uses.
inline constexpr double kLeastCores = 0.1;

// Pressure stall information: share of the time in which a task waited for memory. A machine with
// free memory shows 0.
inline constexpr double kMemoryPressure = 0.05;
inline constexpr double kSwapPagesPerS = 200;
// Below this share of free memory the page cache goes and reads come from storage again.
inline constexpr double kLittleMemory = 0.05;
inline constexpr double kMajorFaultsPerBatch = 1.0;

// A file below it costs more to open than to read from any storage.
inline constexpr double kTinyFileBytes = 48.0 * 1024;
// An utterance that took this many times the median of its kind is an outlier.
inline constexpr double kOutlierFactor = 4.0;
// One file is the cause where outliers are of so few files.
inline constexpr std::size_t kFewFiles = 3;
// and these make most of what outliers take: a busy machine makes others now and then.
inline constexpr double kFewFilesShare = 0.6;
// They hold the others up where they take this share of the time.
inline constexpr double kSlowFilesShare = 0.25;

// One row in three padded: with buckets it is one in twenty.
inline constexpr double kPaddedShare = 0.3;

// Steps beyond this many medians of their shape are single long ones.
inline constexpr double kLongStepFactor = 1.5;
// A consumer's thread that waited for a core for this part of its lateness was kept from it.
inline constexpr double kRobbedShare = 0.5;
// A step this much longer than what the user said it takes.
inline constexpr double kSlowStepFactor = 1.25;
// Batches in the consumer's hands beyond the one that it works on.
inline constexpr double kHeldBatches = 1.5;

// Workers bring more where the supply grows by this factor with them; less is noise.
inline constexpr double kWorkerGrowth = 1.15;
// Supply above what the consumer gets, beyond what two runs differ by.
inline constexpr double kSpareSupply = 1.25;
// Workers that wait for each other are off their cores for most of the time.
inline constexpr double kBlockedShare = 0.4;
// Supply that grows by less with the workers comes from one thread at a time: workers that only
// sleep would bring a whole one each.
inline constexpr double kSerialGrowth = 0.25;  // of a worker, for each one more
inline constexpr double kMostSerialGrowth = 1.6;

// GPU: a card whose kernels fill less than this share of the time idles.
inline constexpr double kIdleGpuPercent = 80;
// A clock below this share of its limit while it is held down.
inline constexpr double kThrottledClock = 0.85;
inline constexpr double kThrottledSamples = 0.2;
// A consumer's thread this busy cannot launch faster.
inline constexpr double kBusyHost = 0.85;

// Copies that fill this share of the time between batches set the pace: what is between two of them
// is not the feed's to shorten.
inline constexpr double kBusyCopies = 0.8;
// Kernels of the feed that take this part of what a step is late have made it late.
inline constexpr double kContendingKernels = 0.5;
// Of the looks at the consumer's streams, those that found nothing left to do: a host that keeps
// the GPU supplied is caught so by chance alone.
inline constexpr double kIdleLooks = 0.5;
inline constexpr std::size_t kFewestLooks = 8;

// Waiting before the first batches that is more than this share of the watch, with none later.
inline constexpr double kStartShare = 0.1;
// Batches at the beginning that belong to the start beside a full buffer.
inline constexpr std::size_t kStartBatches = 4;

// What a prediction misses at least: two runs of the same settings differ by this much.
inline constexpr double kLeastSpread = 0.03;
// Short runs differ by the place in the epoch, too: beyond this their spread says nothing.
inline constexpr double kMostSpread = 0.1;
inline constexpr std::size_t kNumResamples = 24;
inline constexpr std::size_t kResampleBlock = 8;  // batches that stay together
inline constexpr std::size_t kMostSimulated = 768;
// A copy out of the cache with its checksum, one core; machines differ by a factor of two, and the
// stages that it replaces by one of fifty.
inline constexpr double kCachedBytesPerS = 3e9;
inline constexpr double kMelBytesPerFrame = 160;  // 80 mels of 16 bits

inline constexpr std::size_t kNumGaps = 5;
// A wait shorter than this is no gap, however evenly the run goes.
inline constexpr double kLeastGapS = 50e-6;
// Confidence where only records are known: waits for a core and for storage look alike in them.
inline constexpr double kRecordsAlone = 0.6;
// Fewer batches give figures without weight.
inline constexpr std::size_t kFewBatches = 30;

}  // namespace stoker::observe
