// What the endpoint serves, made from one value: text for Prometheus and one small page for
// browsers.
#pragma once

#include <string>
#include <string_view>

#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

inline constexpr std::string_view kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// Format 0.0.4, one family after the other. What is not known has no sample. Names of files and
// whatever else users write are left out.
std::string prometheus_text(const LiveFigures& figures);

// A value between quotes: backslash, quote and line feed escaped, bytes that are not UTF-8 as \xNN.
std::string label_value(std::string_view text);

// Valid HTML 5 that the browser asks for again by itself, without script or outside resource, at
// home on phones and on dark screens. Names of files are left out.
std::string live_page(const LiveFigures& figures);

}  // namespace stoker::observe
