// Quoting for everything that is rendered: whatever a value holds, it stays one value on one line.
#include <fmt/format.h>

#include "base/error.h"
#include "plan/render.h"

namespace kiln {
namespace {

// Line ends would start a new instruction, section or rule, and none of the formats can quote them all.
void refuse_line_ends(std::string_view value) {
  for (char c : value) {
    if (c != '\n' && c != '\r' && c != '\0') continue;
    std::string shown;
    for (char s : value.substr(0, 60)) shown += static_cast<unsigned char>(s) < 0x20 ? '?' : s;
    throw Error(ExitCode::input, fmt::format("the value '{}' has a line end or a NUL in it", shown),
                "values of recipes and matrices are single lines");
  }
}

}  // namespace

std::string quote_shell(std::string_view value) {
  refuse_line_ends(value);
  std::string quoted = "'";
  char before = 0;
  for (char c : value) {
    if (c == '\'') {
      quoted += "'\"'\"'";  // not \': Apptainer's own shell, which reads %environment, keeps that backslash
    } else if (c == '{' && before == '{') {
      quoted += "''{";  // Apptainer replaces {{ name }} wherever it stands
    } else {
      quoted += c;
    }
    before = c;
  }
  return quoted + "'";
}

std::string quote_docker_env(std::string_view value) {
  refuse_line_ends(value);
  std::string quoted = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\' || c == '$') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string quote_ninja(std::string_view value) {
  refuse_line_ends(value);
  std::string quoted;
  for (char c : value) {
    if (c == '$' || c == ' ' || c == ':') quoted += '$';
    quoted += c;
  }
  return quoted;
}

}  // namespace kiln
