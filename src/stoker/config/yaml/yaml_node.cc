#include "stoker/config/yaml/yaml_node.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"
#include "stoker/base/number_text.h"
#include "stoker/base/utf8.h"
#include "stoker/config/errors.h"

namespace stoker::config {
namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 20U;

[[noreturn]] void refuse_at(std::string_view text, std::size_t at, const std::string& name,
                            std::string found) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  raise(
      {.code = &kConfigYaml,
       .place = {.file = name,
                 .line =
                     static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) + 1,
                 .column = at - line_start + 1},
       .promised = "UTF-8 text indented with spaces",
       .found = std::move(found)});
}

bool is_refused_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

// A tab before the first word of a line would shift it by an unknown amount.
void refuse_indenting_tabs(std::string_view text, const std::string& name) {
  bool indenting = true;
  std::size_t tab = text.npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      indenting = true;
      tab = text.npos;
    } else if (indenting && c == '\t') {
      tab = std::min(tab, at);
    } else if (indenting && c != ' ') {
      indenting = false;
      if (tab != text.npos && c != '#' && c != '\r')
        refuse_at(text, tab, name, "a tab indents this line");
    }
  }
}

// The text without a UTF-8 byte order mark. Throws ConfigError with line and column for bytes that
// are not UTF-8, control characters, other encodings, and tabs that indent.
std::string_view check_yaml_text(std::string_view text, const std::string& name) {
  if (text.size() > kMaxFileBytes)
    raise({.code = &kConfigSize,
           .place = {.file = name},
           .promised = "at most 1 MiB",
           .found = fmt::format("{} bytes", text.size())});
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto control = std::find_if(text.begin(), text.end(), is_refused_control);
  const auto control_at = static_cast<std::size_t>(control - text.begin());
  const std::size_t invalid_at = find_invalid_utf8(text);
  if (invalid_at < std::min(control_at, text.size()))
    refuse_at(text, invalid_at, name, "a byte that is not UTF-8");
  if (control != text.end())
    refuse_at(text, control_at, name,
              fmt::format("the control character \\x{:02x}", static_cast<unsigned char>(*control)));
  refuse_indenting_tabs(text, name);
  return text;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}
  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(node(YamlNode::Kind::kNull, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark, 1); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode scalar = node(YamlNode::Kind::kScalar, mark);
    scalar.text = value;
    scalar.quoted = tag == "!";
    const bool null_word = value == "~" || value == "null" || value == "Null" || value == "NULL";
    if (!scalar.quoted && (null_word || value.empty())) scalar.kind = YamlNode::Kind::kNull;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that is being filled; `key_waits` while a map's key has no value yet.
  struct Open {
    YamlNode node;
    bool key_waits = false;
    std::unordered_map<std::string, std::uint64_t> lines = {};  // of a map: its keys
  };

  Place place_of(const YAML::Mark& mark) const {
    return {.file = name_,
            .line = static_cast<std::uint64_t>(mark.line) + 1,
            .column = static_cast<std::uint64_t>(mark.column) + 1};
  }

  YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode made;
    made.kind = kind;
    made.place = place_of(mark);
    return made;
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor == 0) return;
    raise({.code = &kConfigAnchor,
           .place = place_of(mark),
           .promised = "plain values",
           .found = "an anchor or alias"});
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    raise({.code = &kConfigAnchor,
           .place = place_of(mark),
           .promised = "plain values",
           .found = fmt::format("the tag {}", tag)});
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() == kMaxDepth)
      raise({.code = &kConfigDepth,
             .place = place_of(mark),
             .found = fmt::format("nested deeper than {} levels", kMaxDepth)});
    open_.push_back({node(kind, mark)});
  }

  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }

  void add(YamlNode value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& top = open_.back();
    if (top.node.kind == YamlNode::Kind::kList) {
      top.node.items.push_back(std::move(value));
    } else if (top.key_waits) {
      top.node.entries.back().second = std::move(value);
      top.key_waits = false;
    } else {
      add_key(top, std::move(value));
    }
  }

  static void add_key(Open& top, YamlNode key) {
    if (key.kind != YamlNode::Kind::kScalar)
      raise({.code = &kConfigYaml,
             .place = key.place,
             .promised = "a word as key",
             .found = "another kind of value before the colon"});
    const auto [earlier, is_new] = top.lines.emplace(key.text, *key.place.line);
    if (!is_new)
      raise({.code = &kConfigDuplicate,
             .place = key.place,
             .promised = fmt::format("one \"{}\"", key.text),
             .found = fmt::format("a second one; the first is on line {}", earlier->second)});
    top.node.entries.push_back({std::move(key), YamlNode{}});
    top.key_waits = true;
  }

  const std::string& name_;
  std::vector<Open> open_;
  YamlNode root_;
};

Error yaml_error(const YAML::Exception& refused, const std::string& name) {
  Place place{.file = name};
  if (!refused.mark.is_null()) {
    place.line = static_cast<std::uint64_t>(refused.mark.line) + 1;
    place.column = static_cast<std::uint64_t>(refused.mark.column) + 1;
  }
  return {.code = &kConfigYaml, .place = place, .found = refused.msg};
}

}  // namespace

YamlNode parse_yaml(std::string_view text, const std::string& name) {
  text = check_yaml_text(text, name);
  TreeBuilder builder(name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    YamlNode root = builder.take_root();
    TreeBuilder second(name);
    if (parser.HandleNextDocument(second))
      raise({.code = &kConfigYaml,
             .place = second.take_root().place,
             .promised = "one document",
             .found = "a second one"});
    if (root.is_null()) root.kind = YamlNode::Kind::kMap;
    return root;
  } catch (const YAML::Exception& refused) {
    raise(yaml_error(refused, name));
  }
}

YamlNode load_yaml(const std::string& path) {
  const auto refuse = [&](const Error& why) {
    raise({.code = &kConfigFile, .place = {.file = path}, .found = why.promised + why.found});
  };
  Result<File> file = open_file(system_io(), path, OpenFor::kRead);
  if (!file) refuse(file.error());
  const Result<FileInfo> info = file->info();
  if (!info) refuse(info.error());
  if (info->size_bytes > kMaxFileBytes)
    raise({.code = &kConfigSize,
           .place = {.file = path},
           .promised = "at most 1 MiB",
           .found = bytes_text(info->size_bytes)});
  const Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxFileBytes);
  if (!bytes) refuse(bytes.error());
  return parse_yaml(view_text(*bytes), path);
}

YamlNode parse_value(std::string_view text, const std::string& origin) {
  if (text.starts_with('[') || text.starts_with('{')) return parse_yaml(text, origin);
  YamlNode scalar;
  scalar.kind = YamlNode::Kind::kScalar;
  scalar.text = text;
  scalar.place.file = origin;
  return scalar;
}

}  // namespace stoker::config
