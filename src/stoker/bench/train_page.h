// The rows of the training benchmark as a page: the table, how busy the GPU was second by second,
// and how long the steps took.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/report/html_report.h"

namespace stoker::bench {

// Header and cells as people read them; "-" where nothing was measured.
ReportTable train_table(const std::vector<Json>& rows);

// A page by itself. Rows that list their steps (per_step) get a histogram.
std::string train_page(const std::vector<Json>& rows, const std::string& subtitle);

}  // namespace stoker::bench
