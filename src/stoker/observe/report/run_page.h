// The report of a run as one HTML page: the verdict first, then what it rests on.
#pragma once

#include <string>

#include "stoker/base/io/io.h"
#include "stoker/base/report/html_report.h"
#include "stoker/observe/report/report_words.h"
#include "stoker/observe/report/run_story.h"

namespace stoker::observe {

// A page by itself, below 1 MB for a run of any length.
std::string run_page(const RunStory& story, ReportLanguage language);

// Its sections in a page that has more to tell; each only where the story has something for it.
void add_run_story(HtmlReport& page, const RunStory& story, ReportLanguage language);

// Writes the report of a training's folder, as `stoker report` does. Throws as load_run_story() and
// for a file that cannot be written.
RunStory write_run_report(Io& io, const std::string& run_folder, const std::string& file,
                          ReportLanguage language);

// The one sentence that the page begins with, in English.
std::string story_sentence(const RunStory& story);

}  // namespace stoker::observe
