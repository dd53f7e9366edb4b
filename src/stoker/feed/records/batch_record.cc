#include "stoker/feed/records/batch_record.h"

namespace stoker::feed {

std::string_view name_of(RecordStage stage) {
  static constexpr std::array<std::string_view, kNumRecordStages> kNames{
      "plan",    "fetch",    "decode",        "resample", "mel",    "text",
      "augment", "assemble", "wait_for_slot", "copy",     "kernel", "wait_for_consumer"};
  return kNames[static_cast<std::size_t>(stage)];
}

std::string_view name_of(ConsumerWork work) {
  static constexpr std::array<std::string_view, kNumConsumerWorks> kNames{
      "logging", "checkpoint", "validation", "sync", "other"};
  return kNames[static_cast<std::size_t>(work)];
}

}  // namespace stoker::feed
