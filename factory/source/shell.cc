#include "factory/source/shell.h"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

bool is_compound(const ShellToken& word) { return is_one_of(word.raw, "if for while until case"); }

class CommandReader {
 public:
  ShellText read(ShellTokens tokens);

 private:
  // A "(" or "{" that is not closed yet.
  struct Group {
    std::string_view sign;
    std::string before;  // it
  };

  void list(std::vector<ShellToken>& tokens);
  void read_token(ShellToken& token, const ShellToken* next);
  void line_end();
  void word(ShellToken& token);
  void operation(ShellToken& token, const ShellToken* next);
  void open(std::string_view sign);
  bool close(std::string_view sign);
  void substitutions(ShellToken& token);
  void start(std::string before);
  void finish(const std::string& after);

  ShellText out_;
  ShellCommand command_;       // the one that is being read
  std::vector<Group> groups_;  // of this list
  bool wants_target_ = false;  // its last redirection has none yet
  int depth_ = 0;
  int substitutions_ = 0;
  int pipeline_ = 0;
  int pipelines_ = 0;
};

ShellText CommandReader::read(ShellTokens tokens) {
  list(tokens.tokens);
  out_.comments = std::move(tokens.comments);
  std::ranges::stable_sort(out_.commands, {}, [](const auto& one) { return one.span.begin; });
  return std::move(out_);
}

void CommandReader::list(std::vector<ShellToken>& tokens) {
  start("");
  for (std::size_t i = 0; i < tokens.size(); ++i)
    read_token(tokens[i], i + 1 < tokens.size() ? &tokens[i + 1] : nullptr);
  finish("");
}

void CommandReader::read_token(ShellToken& token, const ShellToken* next) {
  switch (token.kind) {
    case ShellToken::Kind::word:
      return word(token);
    case ShellToken::Kind::pattern:
      substitutions(token);
      return start("\n");
    case ShellToken::Kind::line_end:
      return line_end();
    case ShellToken::Kind::operation:
      return operation(token, next);
  }
}

// A command may stand on the line below its reserved word.
void CommandReader::line_end() {
  std::string lead = command_.words.empty() ? command_.lead : "";
  finish("\n");
  start("\n");
  command_.lead = std::move(lead);
}

void CommandReader::word(ShellToken& token) {
  substitutions(token);
  if (wants_target_) {
    command_.redirects.back().target = std::move(token);
    wants_target_ = false;
    return;
  }
  bool first = command_.words.empty();
  if (first && token.raw == "{") return open("{");
  if (first && token.raw == "}" && close("{")) return;
  if (first) out_.compound |= is_compound(token);
  if (first && is_lead_in(token)) {
    start(command_.before);
    if (token.raw != "fi" && token.raw != "done") command_.lead = token.raw;
    return;
  }
  command_.words.push_back(std::move(token));
}

void CommandReader::operation(ShellToken& token, const ShellToken* next) {
  const std::string& sign = token.text;
  if (sign.find_first_of("<>") != std::string::npos) {
    command_.redirects.push_back({sign, {}});
    command_.redirects.back().target.span = {token.span.end, token.span.end};
    wants_target_ = true;
  } else if (sign == "(") {
    bool function = command_.words.size() == 1 && next != nullptr && next->text == ")";
    if (function) out_.functions.push_back(command_.words.front().text);
    open(sign);
  } else if (sign == ")") {
    if (!close("(")) start("\n");  // nothing opened it
  } else {
    std::string after = sign == ";;" ? "\n" : sign;
    finish(after);
    start(std::move(after));
  }
}

// What stands in front of it is dropped: `name` of a function, an array's `name=`.
void CommandReader::open(std::string_view sign) {
  groups_.push_back({sign == "(" ? "(" : "{", command_.before});
  ++depth_;
  start("");
}

bool CommandReader::close(std::string_view sign) {
  if (groups_.empty() || groups_.back().sign != sign) return false;
  finish("");
  --depth_;
  start(std::move(groups_.back().before));
  groups_.pop_back();
  return true;
}

void CommandReader::substitutions(ShellToken& token) {
  if (token.substitutions.empty()) return;
  ShellCommand outer = std::move(command_);
  std::vector<Group> groups = std::exchange(groups_, {});
  bool wants_target = wants_target_;
  int pipeline = pipeline_;
  int depth = depth_++;
  ++substitutions_;
  for (ShellTokens& inner : token.substitutions) list(inner.tokens);
  --substitutions_;
  depth_ = depth;
  pipeline_ = pipeline;
  wants_target_ = wants_target;
  groups_ = std::move(groups);
  command_ = std::move(outer);
}

void CommandReader::start(std::string before) {
  command_ = {};
  command_.depth = depth_;
  command_.in_substitution = substitutions_ > 0;
  if (before != "|") pipeline_ = ++pipelines_;
  command_.pipeline = pipeline_;
  command_.before = std::move(before);
  wants_target_ = false;
}

void CommandReader::finish(const std::string& after) {
  auto& [words, redirects, span, lead, before, behind, pipeline, depth, in_substitution] = command_;
  if (words.empty() && redirects.empty()) return;
  behind = after;
  span =
      words.empty() ? redirects.front().target.span : Span{words.front().span.begin, words.back().span.end};
  for (const ShellRedirect& redirect : redirects)
    if (!redirect.sign.starts_with("<<")) span.end = std::max(span.end, redirect.target.span.end);
  out_.commands.push_back(std::move(command_));
}

}  // namespace

ShellText read_shell(std::string_view text, Span span, ShellDialect dialect) {
  return CommandReader().read(shell_tokens(text, span, dialect));
}

ShellText read_shell(std::string_view script) { return read_shell(script, {0, script.size()}); }

}  // namespace kiln
