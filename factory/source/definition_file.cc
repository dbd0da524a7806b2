#include "factory/source/definition_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/source/definition_arguments.h"

namespace kiln {
namespace {

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> kNames = {
      "help",      "setup",   "files",       "labels",    "environment", "pre",       "post",
      "runscript", "test",    "startscript", "arguments", "appinstall",  "applabels", "appfiles",
      "appenv",    "apptest", "apphelp",     "apprun",    "appstart"};
  return kNames;
}

const std::vector<std::string>& header_names() {
  static const std::vector<std::string> kNames = {
      "bootstrap",  "from",        "includecmd", "mirrorurl",  "updateurl",    "osversion", "include",
      "library",    "registry",    "namespace",  "stage",      "product",      "user",      "regcode",
      "productpgp", "registerurl", "modules",    "otherurl&n", "fingerprints", "confurl",   "setopt"};
  return kNames;
}

// `otherurl0` is known as `otherurl&n`.
bool is_header_name(std::string key) {
  std::size_t end = key.size();
  while (end > 0 && is_digit(key[end - 1])) --end;
  const auto& known = header_names();
  if (contains(known, key)) return true;
  if (end == key.size()) return false;
  key = key.substr(0, end) + "&n";
  return contains(known, key);
}

struct Line {
  std::string_view text;  // without its line end
  int number;
};

// The lines of a stage; `number` goes on from one to the next.
class Lines {
 public:
  Lines(std::string_view text, int first) : text_(text), number_(first) {}
  bool next(Line& line) {
    if (at_ >= text_.size()) return false;
    std::size_t end = text_.find('\n', at_);
    std::size_t next = end == std::string_view::npos ? text_.size() : end + 1;
    line = {text_.substr(at_, (end == std::string_view::npos ? text_.size() : end) - at_), number_++};
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    at_ = next;
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int number_;
};

Position place_in(const Line& line, std::string_view part) {
  return {line.number, 1 + static_cast<int>(part.data() - line.text.data())};
}

// The header of one stage, line by line; a value that ends in a backslash goes on.
class HeaderReader {
 public:
  HeaderReader(DefinitionStage& stage, const std::string& file) : stage_(stage), file_(file) {}
  void line(const Line& line);

 private:
  void finish(const HeaderField& field);
  DefinitionStage& stage_;
  const std::string& file_;
  HeaderField open_;
  bool continued_ = false;
};

void HeaderReader::line(const Line& line) {
  std::string_view text = trim(line.text);
  if (text.empty() || text.starts_with('#')) {
    if (continued_) finish(open_);
    continued_ = false;
    return;
  }
  std::string_view bare = trim(text.substr(0, text.find('#')));
  if (!continued_) {
    std::size_t colon = bare.find(':');
    if (colon == std::string_view::npos)
      refuse_at(file_, place_in(line, text),
                fmt::format("the header line '{}' has no ':'", bare.substr(0, 40)),
                "a header line is written as Key: value; sections begin with %");
    open_ = {lower_case(trim(bare.substr(0, colon))), std::string(trim(bare.substr(colon + 1))),
             place_in(line, text), place_in(line, trim(bare.substr(colon + 1)))};
  } else {
    open_.value += bare;
  }
  continued_ = open_.value.ends_with('\\');
  if (continued_) {
    open_.value.pop_back();
  } else {
    finish(open_);
  }
}

void HeaderReader::finish(const HeaderField& field) {
  if (!is_header_name(field.key))
    refuse_at(file_, field.place, fmt::format("unknown header keyword '{}'", field.key.substr(0, 40)),
              did_you_mean(field.key, header_names()));
  for (HeaderField& other : stage_.header) {
    if (other.key != field.key) continue;
    other = field;  // the last one counts
    return;
  }
  stage_.header.push_back(field);
}

// `%files # why` and `%post -c /bin/bash # why`.
std::string_view without_comment(std::string_view text) {
  for (std::size_t sign = text.find('#'); sign != std::string_view::npos; sign = text.find('#', sign + 1))
    if (sign > 0 && (text[sign - 1] == ' ' || text[sign - 1] == '\t')) return trim(text.substr(0, sign));
  return text;
}

DefinitionSection section_from(const Line& line, std::string_view word) {
  DefinitionSection section;
  section.place = place_in(line, word);
  std::string_view name = word;
  while (name.starts_with('%')) name.remove_prefix(1);
  name = without_comment(name);
  std::size_t blank = name.find(' ');
  section.name = lower_case(trim(name.substr(0, blank)));
  if (blank != std::string_view::npos) section.arguments = std::string(trim(name.substr(blank + 1)));
  section.last_line = line.number;
  return section;
}

void check_section(const DefinitionSection& section, const std::string& file) {
  const auto& known = section_names();
  if (!contains(known, section.name))
    refuse_at(file, section.place, fmt::format("unknown section '%{}'", section.name.substr(0, 40)),
              did_you_mean(section.name, known));
  if (section.name.starts_with("app") && section.arguments.empty())
    refuse_at(file, section.place, fmt::format("%{} needs the name of an app", section.name));
}

bool is_section_start(std::string_view line) {
  std::string_view word = trim_left(line);
  return word.starts_with('%');
}

DefinitionStage read_stage(std::string_view text, int first_line, const std::string& file,
                           std::vector<Error>& errors) {
  DefinitionStage stage;
  stage.place = {first_line, 1};
  HeaderReader header(stage, file);
  Lines lines(text, first_line);
  for (Line line{}; errors.size() < kMostErrors && lines.next(line);) {
    if (is_section_start(line.text)) {
      stage.sections.push_back(section_from(line, trim(line.text)));
      collected(errors, [&] { check_section(stage.sections.back(), file); });
    } else if (stage.sections.empty()) {
      collected(errors, [&] { header.line(line); });
    } else {
      DefinitionSection& section = stage.sections.back();
      section.body += line.text;
      section.body += '\n';
      section.last_line = line.number;
    }
  }
  collected(errors, [&] { header.line({"", 0}); });  // ends a value that is still continued
  return stage;
}

// Where stages begin: every line that starts with `Bootstrap:`, wherever it stands.
std::vector<std::size_t> stage_starts(std::string_view text) {
  constexpr std::string_view kWord = "bootstrap:";
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view word = text.substr(at, kWord.size());
    if (word.size() == kWord.size() && (word[0] == 'b' || word[0] == 'B') && lower_case(word) == kWord)
      starts.push_back(at);
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return starts;
}

bool is_empty(const DefinitionStage& stage) { return stage.header.empty() && stage.sections.empty(); }

// `finish` gets each stage as written, with its text and first line, and answers what it becomes.
template <typename Finish>
DefinitionFile read_stages(std::string_view text, const std::string& file, std::vector<Error>& errors,
                           Finish finish) {
  DefinitionFile definition;
  definition.file = file;
  if (!collected(errors, [&] { check_source(text, file); })) return definition;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::size_t> starts = stage_starts(text);
  if (starts.empty() || starts[0] != 0) starts.insert(starts.begin(), 0);
  starts.push_back(text.size());
  int line = 1;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    std::string_view part = text.substr(starts[i], starts[i + 1] - starts[i]);
    DefinitionStage stage = finish(part, line, read_stage(part, line, file, errors));
    if (!is_empty(stage)) definition.stages.push_back(std::move(stage));
    line += static_cast<int>(std::ranges::count(part, '\n'));
  }
  if (definition.stages.empty() && errors.empty())
    errors.emplace_back(ExitCode::input, SourceLocation{file, 0, 0, ""},
                        "the file has no header and no section: it is not a definition file");
  return definition;
}

std::string unquoted(std::string_view word) {
  while (word.starts_with('"')) word.remove_prefix(1);
  while (word.ends_with('"')) word.remove_suffix(1);
  return std::string(word);
}

// The first word at or after `at`, which moves past it; quotes keep blanks together.
std::string_view next_word(std::string_view text, std::size_t& at) {
  while (at < text.size() && space_at(text, at) == 1) ++at;
  std::size_t start = at;
  char quote = 0;
  for (; at < text.size() && (quote != 0 || space_at(text, at) != 1); ++at) {
    if (text[at] == quote) {
      quote = 0;
    } else if (quote == 0 && (text[at] == '"' || text[at] == '\'')) {
      quote = text[at];
    }
  }
  return text.substr(start, at - start);
}

// Calls `take` with each line of the body that is neither empty nor a comment, trimmed.
template <typename Take>
void for_each_entry(const DefinitionSection& section, Take take) {
  Lines lines(section.body, section.place.line + 1);
  for (Line line{}; lines.next(line);) {
    std::string_view text = trim(line.text);
    if (!text.empty() && !text.starts_with('#')) take(text, place_in(line, text));
  }
}

}  // namespace

std::vector<FilePair> DefinitionSection::files() const {
  std::vector<FilePair> pairs;
  for_each_entry(*this, [&](std::string_view text, Position where) {
    std::size_t at = 0;
    text = without_comment(text);
    std::string source = unquoted(next_word(text, at));
    std::string destination = unquoted(next_word(text, at));
    pairs.push_back({std::move(source), std::move(destination), where});
  });
  return pairs;
}

std::vector<NamedValue> DefinitionSection::labels() const {
  std::vector<NamedValue> values;
  for_each_entry(*this, [&](std::string_view text, Position where) {
    std::size_t blank = text.find(' ');
    std::string value(blank == std::string_view::npos ? "" : trim(text.substr(blank + 1)));
    values.push_back({std::string(trim(text.substr(0, blank))), std::move(value), where});
  });
  return values;
}

std::vector<NamedValue> DefinitionSection::assignments() const {
  std::vector<NamedValue> values;
  for_each_entry(*this, [&](std::string_view text, Position where) {
    std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty())
      return;  // Apptainer warns only
    values.push_back(
        {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1))), where});
  });
  return values;
}

const HeaderField* DefinitionStage::find(std::string_view key) const {
  for (const HeaderField& field : header)
    if (field.key == key) return &field;
  return nullptr;
}

std::string DefinitionStage::value(std::string_view key) const {
  const HeaderField* field = find(key);
  return field == nullptr ? "" : field->value;
}

DefinitionFile parse_definition(std::string_view text, const std::string& file,
                                const std::map<std::string, std::string>& arguments) {
  std::vector<Error> errors;
  DefinitionFile definition =
      read_stages(text, file, errors, [&](std::string_view part, int line, DefinitionStage stage) {
        if (!errors.empty() || !contains(part, "{{")) return stage;
        return read_stage(fill_in(part, line, file, defaults_of(stage), arguments), line, file, errors);
      });
  if (!errors.empty()) throw errors.front();
  return definition;
}

DefinitionFile read_definition(std::string_view text, const std::string& file, std::vector<Error>& errors) {
  return read_stages(text, file, errors, [](std::string_view, int, DefinitionStage stage) { return stage; });
}

}  // namespace kiln
