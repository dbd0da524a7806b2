#include <algorithm>
#include <cctype>

#include "lint/unit.h"

namespace kiln::lint {
namespace {

std::string in_capitals(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string_view without_end_blanks(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
    line.remove_suffix(1);
  return line;
}

// Delimiters of here-documents that a line opens, as BuildKit knows them: <<EOF, <<-EOF, <<"EOF".
std::vector<std::string> here_documents(std::string_view line) {
  std::vector<std::string> delimiters;
  for (std::size_t at = line.find("<<"); at != std::string_view::npos; at = line.find("<<", at + 2)) {
    std::size_t start = at + 2;
    if (start < line.size() && line[start] == '-') ++start;
    if (start < line.size() && (line[start] == '"' || line[start] == '\'')) ++start;
    std::size_t end = start;
    while (end < line.size() &&
           (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_'))
      ++end;
    if (end > start) delimiters.emplace_back(line.substr(start, end - start));
  }
  return delimiters;
}

class Reader {
 public:
  explicit Reader(const SourceFile& file) : file_(file), lines_(static_cast<int>(file.lines())) {}

  Dockerfile read() {
    while (line_ <= lines_) {
      std::string_view text = without_end_blanks(file_.line_text(line_));
      std::size_t blank = text.find_first_not_of(" \t");
      if (blank == std::string_view::npos) {
        ++line_;
      } else if (text[blank] == '#') {
        out_.comments.push_back({std::string(text.substr(blank + 1)), file_.start_of(line_) + blank});
        ++line_;
      } else {
        instruction(blank);
      }
    }
    return std::move(out_);
  }

 private:
  void instruction(std::size_t blank) {
    std::size_t start = file_.start_of(line_) + blank;
    std::string_view first = file_.line_text(line_).substr(blank);
    std::size_t length = std::min(first.find_first_of(" \t\r\\"), first.size());
    Instruction instruction;
    instruction.name = in_capitals(first.substr(0, length));
    instruction.name_span = {start, start + length};
    std::vector<std::string> delimiters = here_documents(first);
    while (line_ < lines_ && without_end_blanks(file_.line_text(line_)).ends_with('\\')) {
      ++line_;
      while (line_ < lines_ && is_comment_or_empty(line_)) ++line_;
    }
    if (instruction.name == "RUN" || instruction.name == "COPY" || instruction.name == "ADD")
      for (const std::string& delimiter : delimiters)
        while (line_ < lines_ && file_.line_text(++line_) != delimiter) continue;
    std::size_t end = file_.start_of(line_) + file_.line_text(line_).size();
    instruction.arguments = {instruction.name_span.end, end};
    while (instruction.arguments.begin < end &&
           std::isblank(static_cast<unsigned char>(file_.text()[instruction.arguments.begin])) != 0)
      ++instruction.arguments.begin;
    if (instruction.name == "FROM") ++out_.stages;
    instruction.stage = out_.stages;
    out_.instructions.push_back(std::move(instruction));
    ++line_;
  }

  bool is_comment_or_empty(int line) const {
    std::string_view text = without_end_blanks(file_.line_text(line));
    std::size_t blank = text.find_first_not_of(" \t");
    return blank == std::string_view::npos || text[blank] == '#';
  }

  const SourceFile& file_;
  int lines_;
  int line_ = 1;
  Dockerfile out_;
};

}  // namespace

bool in_recipe(Place place) {
  return place == Place::recipe || place == Place::build || place == Place::test || place == Place::host;
}

bool stays(Place place) { return place == Place::recipe || place == Place::run || place == Place::post; }

Dockerfile read_dockerfile(const SourceFile& file) { return Reader(file).read(); }

std::vector<Assignment> read_assignments(const SourceFile& file, const Instruction& instruction) {
  std::vector<Assignment> all;
  const ShellText words = read_shell(file.text(), instruction.arguments, ShellDialect::dockerfile);
  for (const ShellCommand& command : words.commands) {
    if (command.in_substitution) continue;
    bool old_form =
        instruction.name == "ENV" && command.words.size() > 1 && assigned_name(command.words.front()).empty();
    for (const ShellWord& word : command.words) {
      Assignment one;
      one.span = word.span;
      std::size_t equals = std::min(word.text.find('='), word.text.size());
      one.name = word.text.substr(0, equals);
      one.has_value = equals < word.text.size();
      if (one.has_value) one.value = word.text.substr(equals + 1);
      if (old_form) {
        one.name = word.text;
        one.has_value = true;
        one.value = command.words[1].text;
        one.span.end = command.words[1].span.end;
      }
      all.push_back(std::move(one));
      if (old_form) break;
    }
    if (old_form) break;
  }
  return all;
}

std::vector<Section> read_definition(const SourceFile& file) {
  std::vector<Section> sections = {{"", {0, 0}}};
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    std::string_view text = file.line_text(line);
    std::size_t start = file.start_of(line);
    std::size_t next = std::min(start + text.size() + 1, file.text().size());
    if (text.starts_with('%') && text.size() > 1 && std::isalpha(static_cast<unsigned char>(text[1])) != 0) {
      std::size_t end = std::min(text.find_first_of(" \t\r"), text.size());
      sections.push_back({std::string(text.substr(1, end - 1)), {next, next}});
    } else {
      sections.back().span.end = next;
    }
  }
  return sections;
}

}  // namespace kiln::lint
