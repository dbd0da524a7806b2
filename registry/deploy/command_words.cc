#include "registry/deploy/command_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/quote.h"
#include "factory/base/text.h"

namespace kiln {

namespace {

constexpr const char* kShellHint =
    "quote it if it is part of a word, or write a script and run that; an array of strings is taken as it is";

bool begins_name(char c) { return is_letter(c) || c == '_'; }
bool in_name(char c) { return is_letter_or_digit(c) || c == '_'; }

// Reads as a POSIX shell does (XCU 2.2, 2.3), as far as words and variables go.
class WordReader {
 public:
  WordReader(const JsonNode& node, std::vector<std::string>& notes)
      : node_(node), text_(node.string()), notes_(notes) {
    for (const char c : text_)
      if (is_control(c) && c != '\n' && c != '\t')
        node_.fail("a command must not have control characters", kShellHint);
  }

  std::vector<CommandWord> read() {
    while (at_ < text_.size()) step();
    if (in_word_) end_word();
    return std::move(words_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++at_;
      end_word();
    } else if (c == '\n') {
      const bool last = text_.find_first_not_of(kWhiteSpace, at_) == text_.npos;
      if (last || (words_.empty() && !in_word_)) {
        ++at_;
        return end_word();
      }
      node_.fail("a command must be one line", kShellHint);
    } else if (c == '\\') {
      read_escape();
    } else if (c == '\'') {
      read_single();
    } else if (c == '"') {
      read_double();
    } else if (c == '$') {
      read_variable();
    } else if (contains(";&|<>()`", c)) {
      node_.fail(fmt::format("'{}' needs a shell, and kiln runs the command without one", c), kShellHint);
    } else {
      note_pattern(c);
      add(c);
    }
  }

  void note_pattern(char c) {
    const bool pattern = c == '*' || c == '?' || c == '[' || (c == '~' && !in_word_);
    if (!pattern || noted_) return;
    noted_ = true;
    notes_.push_back(fmt::format("'{}' is passed on as it is, because no shell reads the command (at {})", c,
                                 node_.pointer()));
  }

  void add(char c) {
    in_word_ = true;
    if (word_.empty() || word_.back().variable) word_.push_back({});
    word_.back().text += c;
    ++at_;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  void read_escape() {
    ++at_;
    if (at_ == text_.size()) node_.fail("a backslash is the last character", kShellHint);
    if (text_[at_] == '\n') {
      ++at_;
    } else {
      add(text_[at_]);
    }
  }

  void read_single() {
    in_word_ = true;
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == text_.npos) node_.fail("the quote ' is not closed", kShellHint);
    for (++at_; at_ < end;) add(text_[at_]);
    ++at_;
  }

  void read_double() {
    in_word_ = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      const char c = text_[at_];
      if (c == '`') node_.fail("'`' needs a shell, and kiln runs the command without one", kShellHint);
      if (c == '$') {
        read_variable();
      } else if (c == '\\' && at_ + 1 < text_.size() &&
                 std::string_view("$`\"\\\n").find(text_[at_ + 1]) != std::string_view::npos) {
        ++at_;
        if (text_[at_] == '\n')
          ++at_;
        else
          add(text_[at_]);
      } else {
        add(c);
      }
    }
    if (at_ == text_.size()) node_.fail("the quote \" is not closed", kShellHint);
    ++at_;
  }

  void read_variable() {
    std::size_t from = at_ + 1;
    const bool braces = from < text_.size() && text_[from] == '{';
    if (braces) ++from;
    std::size_t end = from;
    while (end < text_.size() && in_name(text_[end])) ++end;
    const bool named = end > from && begins_name(text_[from]);
    if (!named || (braces && (end == text_.size() || text_[end] != '}')))
      node_.fail("'$' is not followed by the name of a variable", "write ${NAME}, or '$' in single quotes");
    in_word_ = true;
    word_.push_back({text_.substr(from, end - from), true});
    at_ = end + (braces ? 1 : 0);
  }

  const JsonNode& node_;
  std::string text_;
  std::vector<std::string>& notes_;
  std::size_t at_ = 0;
  std::vector<CommandWord> words_;
  CommandWord word_;
  bool in_word_ = false;
  bool noted_ = false;
};

// `quoted`: for the script, or for the container's shell, which reads an argument of the script.
std::string inner_word(const CommandWord& word, std::string (*quoted)(std::string_view)) {
  std::string text;
  for (const WordPiece& piece : word)
    text += piece.variable ? fmt::format("\"${{{}}}\"", piece.text) : quoted(piece.text);
  return text.empty() ? "''" : text;
}

}  // namespace

std::vector<CommandWord> read_command(const JsonNode& node, std::vector<std::string>& notes) {
  if (!node.is_array()) return WordReader(node, notes).read();
  std::vector<CommandWord> words;
  for (const JsonNode& item : node.items()) {
    const std::string text = item.string();
    if (contains(text, '\0')) item.fail("a word must not have NUL in it");
    words.push_back(text.empty() ? CommandWord{} : CommandWord{{text, false}});
  }
  return words;
}

bool has_variables(const std::vector<CommandWord>& words) {
  return std::ranges::any_of(words, [](const CommandWord& word) {
    return std::ranges::any_of(word, [](const WordPiece& piece) { return piece.variable; });
  });
}

std::string command_text(const std::vector<CommandWord>& words) {
  const bool inside = has_variables(words);
  std::string text;
  for (const CommandWord& word : words) text += " " + inner_word(word, inside ? shell_text_word : job_word);
  if (!inside) return text.substr(text.empty() ? 0 : 1);
  return "sh -c " + job_quoted("exec" + text);
}

std::string shown(const CommandWord& word) {
  std::string text;
  for (const WordPiece& piece : word) text += piece.variable ? "${" + piece.text + "}" : piece.text;
  return text;
}

std::string job_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : quote_shell_text(text)) quoted += c == '\n' ? "'$'\\n''" : std::string_view(&c, 1);
  return quoted;
}

std::string job_word(std::string_view text) {
  std::string word = shell_text_word(text);
  return !contains(word, '\n') ? word : job_quoted(text);
}

}  // namespace kiln
