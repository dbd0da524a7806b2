// The rules: what each is called, how bad it is and how to do better. The texts are data/rules.json; the
// checks that find them are the check_*.cc of this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"

namespace kiln::lint {

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

}  // namespace kiln::lint
