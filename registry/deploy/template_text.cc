#include "registry/deploy/template_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

struct TemplateCall {
  std::string method;
  std::vector<std::string> arguments;
};
struct TemplateVariable {
  std::string name;
  std::vector<TemplateCall> calls;
};

// name(.method("…", '…'))*
class VariableReader {
 public:
  VariableReader(std::string_view text, const SourceLocation& where) : text_(trimmed(text)), where_(where) {}

  TemplateVariable read() {
    TemplateVariable variable{word(), {}};
    while (take('.')) {
      TemplateCall call{word(), {}};
      need('(');
      while (!take(')')) {
        if (!call.arguments.empty()) need(',');
        call.arguments.push_back(quoted());
      }
      check(call);
      variable.calls.push_back(std::move(call));
    }
    blanks();
    if (at_ < text_.size()) fail();
    return variable;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ExitCode::input, where_, fmt::format("'{{{{ {} }}}}' is no variable", text_.substr(0, 80)),
                "such as {{ preferred_storage_location.replace(\"file://\", \"\") }}");
  }
  void check(const TemplateCall& call) const {
    const std::size_t arguments = call.method == "replace" ? 2 : 0;
    const bool known = call.method == "replace" || call.method == "lower" || call.method == "upper" ||
                       call.method == "strip";
    if (!known || call.arguments.size() != arguments || (arguments == 2 && call.arguments.front().empty()))
      fail();
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail();
  }
  std::string word() {
    blanks();
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_letter_or_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    if (at_ == from || is_digit(text_[from])) fail();
    return std::string(text_.substr(from, at_ - from));
  }
  std::string quoted() {
    blanks();
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) fail();
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == text_.npos) fail();
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    if (value.find('\\') != value.npos) fail();
    at_ = end + 1;
    return value;
  }

  std::string_view text_;
  const SourceLocation& where_;
  std::size_t at_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string applied(std::string value, const TemplateCall& call) {
  if (call.method == "replace") return replaced(std::move(value), call.arguments[0], call.arguments[1]);
  if (call.method == "lower") return lower_case(value);
  if (call.method == "upper") return upper_case(value);
  return std::string(trimmed(value));
}

// Gives `text` what stands between variables, and `variable` these.
template <typename Text, typename Variable>
void walk(std::string_view whole, const SourceLocation& where, Text text, Variable variable) {
  std::size_t at = 0;
  for (std::size_t open = whole.find('{'); open != whole.npos; open = whole.find('{', open + 1)) {
    const std::string_view two = whole.substr(open, 2);
    if (two == "{%")
      throw Error(ExitCode::input, where, "'{%' is no variable", "kiln knows {{ name }} alone");
    if (two != "{{") continue;
    const std::size_t close = whole.find("}}", open);
    if (close == whole.npos) throw Error(ExitCode::input, where, "'{{' is not closed by '}}'");
    text(whole.substr(at, open - at));
    variable(VariableReader(whole.substr(open + 2, close - open - 2), where).read());
    at = close + 2;
    open = close + 1;
  }
  text(whole.substr(at));
}

}  // namespace

std::vector<std::string> template_variables(std::string_view text, const SourceLocation& where) {
  std::vector<std::string> names;
  walk(
      text, where, [](std::string_view) {},
      [&](const TemplateVariable& variable) { names.push_back(variable.name); });
  return names;
}

std::string filled_template(std::string_view text, const std::map<std::string, std::string>& values,
                            const SourceLocation& where) {
  std::string filled;
  walk(
      text, where, [&](std::string_view between) { filled += between; },
      [&](const TemplateVariable& variable) {
        const auto found = values.find(variable.name);
        if (found == values.end() || found->second.empty())
          throw Error(ExitCode::input, where, fmt::format("nothing sets the variable '{}'", variable.name),
                      "the infrastructure has no storage");
        std::string value = found->second;
        for (const TemplateCall& call : variable.calls) value = applied(std::move(value), call);
        const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
          return is_letter_or_digit(c) || std::string_view("_./:@%+,=-").find(c) != std::string_view::npos;
        });
        if (!plain)
          throw Error(ExitCode::input, where,
                      fmt::format("the value '{}' of '{}' is no word of a shell", value, variable.name));
        filled += value;
      });
  return filled;
}

}  // namespace kiln
