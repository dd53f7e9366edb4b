// The sections of a report, each of which adds itself where the story has something for it; apart
// from the page so that each subject has its file.
#pragma once

#include <string>

#include "stoker/base/report/html_report.h"
#include "stoker/observe/report/report_words.h"
#include "stoker/observe/report/run_story.h"

namespace stoker::observe {

// What every section needs.
struct PageParts {
  HtmlReport& page;
  const RunStory& story;
  Words words;

  const Diagnosis* diagnosis() const { return story.watched ? &story.watched->diagnosis : nullptr; }
  const std::vector<feed::BatchRecord>& records() const;  // empty where there are none
};

std::string percent_text(double share, unsigned num_decimals = 1);  // "12.3 %"
std::string stage_name(const Words& words, feed::RecordStage stage);
std::string work_name(const Words& words, feed::ConsumerWork work);

// Over time.
void add_timeline(const PageParts& parts);
void add_intervals(const PageParts& parts);
void add_workers(const PageParts& parts);
void add_padding(const PageParts& parts);
void add_learning(const PageParts& parts);

// Why.
void add_waterfall(const PageParts& parts);
void add_gaps(const PageParts& parts);
void add_causes(const PageParts& parts);
void add_cures(const PageParts& parts);
void add_before_and_after(const PageParts& parts);

// With what.
void add_settings(const PageParts& parts);
void add_machine(const PageParts& parts);
void add_rejects(const PageParts& parts);

}  // namespace stoker::observe
