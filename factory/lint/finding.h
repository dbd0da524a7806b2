// A finding of a check, and the report that checks write to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/source/source_file.h"

namespace kiln::lint {

// The rules: what each is called, how bad it is and how to do better. The texts are data/rules.json; the
// checks that find them are the check_*.cc of this folder.

// The table of this name of data/: "rules.json".
JsonDocument lint_data(const std::string& name);

enum class Severity { note, warning, error };  // in ascending order
std::string_view name_of(Severity severity);
std::optional<Severity> severity_from(std::string_view name);

struct Rule {
  std::string id;    // KL001
  std::string name;  // lost-state
  Severity severity = Severity::warning;
  std::string summary;  // one line
  std::string why;
  std::string bad;   // an example
  std::string good;  // the same, mended
  std::string hint;
  bool fixable = false;  // --fix mends at least some of its findings
};

// All rules, in the order of their ids.
const std::vector<Rule>& rules();

const Rule* find_rule(std::string_view id_or_name);

// Throws Error(usage) with the nearest id for a rule that does not exist. Names are accepted as well as ids.
const Rule& known_rule(std::string_view id_or_name);

// A hint for a rule that does not exist: the nearest one.
std::string nearest_rule(std::string_view id_or_name);

// Replaces [begin, end) of the finding's file by `text`.
struct Edit {
  Span span;
  std::string text;
};

struct Finding {
  std::string rule;  // id
  Severity severity = Severity::warning;
  SourceLocation where;
  int end_column = 0;  // one after the last byte, on the same line; 0 = not known
  int first_line = 0;  // of its command or instruction: a suppression may be above it
  std::string text;
  std::string package = {};  // subject of the text, if findings of one rule are reported together
  std::string hint;
  std::vector<Edit> fix;      // empty: only a person can
  bool suppressed = false;    // by a comment …
  std::string justification;  // … with this reason
};

// Collects findings. Severity and hint are the rule's unless changed in the reference that is returned, which
// the next call invalidates.
class Report {
 public:
  Finding& add(std::string_view rule, const SourceFile& file, Span span, std::string text);
  Finding& add(std::string_view rule, const SourceLocation& where, std::string text);
  // As `add`, unless the same text stands at the same place already.
  void add_once(std::string_view rule, const SourceLocation& where, std::string text);

  std::vector<Finding>& findings() { return findings_; }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

}  // namespace kiln::lint
