// Reads and writes the value of a setting, strictly and in one form for each kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/config/choices.h"
#include "stoker/config/value_types.h"
#include "stoker/config/yaml/yaml_node.h"

namespace stoker::config {

// What a reader needs to know beside the text; `key` ("data.batch_size") is named in errors.
struct ValueRule {
  std::string key;
  std::string unit;                       // "MiB": what a plain number of bytes counts
  std::vector<std::string_view> choices;  // of text and enumerations; empty: any text
  std::vector<std::string_view> words{};  // taken beside the value: "auto", "none"
};

template <class Number>
struct NumberRule : ValueRule {
  Number low;
  Number high;
};

// Each throws ConfigError E-CONFIG-VALUE or E-CONFIG-RANGE naming key, value and what is allowed.
bool read_bool(const YamlNode& node, const ValueRule& rule);
std::int64_t read_int(const YamlNode& node, const NumberRule<std::int64_t>& rule);
double read_number(const YamlNode& node, const NumberRule<double>& rule);
Bytes read_bytes(const YamlNode& node, const NumberRule<std::uint64_t>& rule);
std::string read_text(const YamlNode& node, const ValueRule& rule);
std::size_t read_choice(const YamlNode& node, const ValueRule& rule);  // its index
Interval read_interval(const YamlNode& node, const NumberRule<double>& rule);
std::vector<std::string> read_list(const YamlNode& node, const ValueRule& rule);
StringMap read_map(const YamlNode& node, const ValueRule& rule);
std::vector<MixedSource> read_sources(const YamlNode& node, const ValueRule& rule);

// JSON, which is YAML too; numbers in the shortest form that reads back as the same value.
std::string write_json(bool value);
std::string write_json(std::int64_t value);
std::string write_json(double value);
std::string write_json(Bytes value);
std::string write_json(std::string_view value);
std::string write_json(const Interval& value);
std::string write_json(const std::vector<std::string>& value);
std::string write_json(const StringMap& value);
std::string write_json(const std::vector<MixedSource>& value);

// The same value as people write it in YAML: quotes only where they are needed.
std::string plain_text(const std::string& json);

}  // namespace stoker::config
