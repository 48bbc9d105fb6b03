#include "tools/config/yaml_file.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "tools/config/scalar.hpp"
#include "tools/config/text_check.hpp"

namespace troupe::config {

namespace {

Position position_of(const YAML::Mark& mark) {
  return {static_cast<std::size_t>(mark.line + 1), static_cast<std::size_t>(mark.column + 1)};
}

// Whether the scalar that starts at `rest` ends on its line. yaml-cpp takes a quote that is never
// closed, and folds following lines into a value: both would swallow keys.
bool is_on_one_line(std::string_view rest, const std::string& value, bool is_quoted) {
  if (!is_quoted) return rest.substr(0, value.size()) == value;
  const char quote = rest.empty() ? '\0' : rest.front();
  if (quote != '"' && quote != '\'') return false;  // a block scalar
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (quote == '"' && rest[i] == '\\') {
      ++i;
    } else if (rest[i] == quote) {
      const bool is_doubled = quote == '\'' && i + 1 < rest.size() && rest[i + 1] == quote;
      if (!is_doubled) return true;
      ++i;
    }
  }
  return false;
}

// Turns the parser's events into entries. After the first refusal the rest is ignored.
class Collector : public YAML::EventHandler {
 public:
  Collector(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(mark, "expected one document, found a second");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!accept(mark, "", anchor)) return;
    if (level_ == Level::kDocument) return;  // a file of comments only
    if (level_ == Level::kRoot && key_) {    // all of its keys are commented out
      add_section(mark);
      section_.clear();
    } else if (key_) {
      refuse(key_position_, "expected a value, found none" + after_key());
    } else {
      refuse(mark, "expected a value, found none");
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "expected a value, found an alias (anchors and aliases are not used here)");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!accept(mark, tag, anchor)) return;
    const bool is_quoted = tag == "!";
    const auto start = std::min(static_cast<std::size_t>(mark.pos), text_.size());
    if (!is_on_one_line(text_.substr(start), value, is_quoted)) {
      return refuse(mark, "expected a value on one line" + after_key() +
                              " (is a closing quote or bracket missing?)");
    }
    switch (level_) {
      case Level::kDocument:
        return refuse(mark, "expected sections such as 'node:', found " + in_quotes(value));
      case Level::kList:
        entries_.back().value.items.push_back(value);
        return;
      case Level::kRoot:
      case Level::kSection:
        if (!key_) return take_key(mark, value);
        return add(
            {take_path(), false, {{value}, false, is_quoted}, key_position_, position_of(mark)});
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (!accept(mark, tag, anchor)) return;
    const bool is_value = (level_ == Level::kRoot || level_ == Level::kSection) && key_;
    if (!is_value) return refuse(mark, "expected a key or a scalar, found a list");
    add({take_path(), false, {{}, true, false}, key_position_, position_of(mark)});
    list_parent_ = level_;
    level_ = Level::kList;
  }
  void OnSequenceEnd() override {
    if (!error_) level_ = list_parent_;
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (!accept(mark, tag, anchor)) return;
    if (level_ == Level::kDocument) {
      level_ = Level::kRoot;
    } else if (level_ == Level::kRoot && key_) {
      add_section(mark);
      level_ = Level::kSection;
    } else {
      refuse(mark, "expected a scalar, found a mapping" + after_key());
    }
  }
  void OnMapEnd() override {
    if (error_) return;
    if (level_ == Level::kSection) section_.clear();
    level_ = level_ == Level::kSection ? Level::kRoot : Level::kDocument;
  }

  bool has_refused() const { return error_.has_value(); }

  Result<std::vector<Entry>> finish() {
    if (error_) return *error_;
    return std::move(entries_);
  }

 private:
  enum class Level { kDocument, kRoot, kSection, kList };

  bool accept(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "expected a plain value, found an anchor");
    const bool is_plain = tag.empty() || tag == "?" || tag == "!";
    if (!is_plain) refuse(mark, "expected a plain value, found the tag " + in_quotes(tag));
    return !error_;
  }

  void refuse(const YAML::Mark& mark, const std::string& message) {
    refuse(position_of(mark), message);
  }
  void refuse(Position position, const std::string& message) {
    if (!error_) error_ = Error{Code::kInvalid, at(file_, position) + ": " + message};
  }

  std::string after_key() const { return key_ ? " for key " + in_quotes(*key_) : ""; }

  void take_key(const YAML::Mark& mark, const std::string& name) {
    const std::string path = section_.empty() ? name : section_ + "." + name;
    if (!seen_.insert(path).second) return refuse(mark, path + ": this key is given twice");
    if (name.find('.') != std::string::npos) {
      return refuse(mark, "expected a section and a key below it, found " + in_quotes(name));
    }
    key_ = name;
    key_position_ = position_of(mark);
  }

  std::string take_path() {
    const std::string name = *std::exchange(key_, std::nullopt);
    return section_.empty() ? name : section_ + "." + name;
  }

  void add_section(const YAML::Mark& mark) {
    section_ = take_path();
    add({section_, true, {}, key_position_, position_of(mark)});
  }

  void add(Entry entry) { entries_.push_back(std::move(entry)); }

  std::string file_;
  std::string_view text_;
  Level level_ = Level::kDocument;
  Level list_parent_ = Level::kRoot;
  int documents_ = 0;
  std::string section_;
  std::optional<std::string> key_;
  Position key_position_;
  std::set<std::string> seen_;
  std::vector<Entry> entries_;
  std::optional<Error> error_;
};

}  // namespace

std::string at(std::string_view file, Position position) {
  return std::string(file) + ":" + std::to_string(position.line) + ":" +
         std::to_string(position.column);
}

Result<std::vector<Entry>> read_yaml(std::string_view name, std::string_view text) {
  TROUPE_TRY(check_text(name, text));
  Collector collector(name, text);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    // yaml-cpp gives empty documents for ever at a token that it cannot place, such as a first ','.
    while (!collector.has_refused() && parser.HandleNextDocument(collector)) {
    }
  } catch (const YAML::Exception& failure) {
    TROUPE_TRY(collector.finish());
    return Error{Code::kInvalid,
                 at(name, position_of(failure.mark)) + ": not YAML: " + failure.msg};
  }
  return collector.finish();
}

}  // namespace troupe::config
