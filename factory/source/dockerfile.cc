#include "factory/source/dockerfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"

namespace kiln {
namespace {

struct VerbName {
  DockerVerb verb;
  std::string_view name;
  std::string_view flags;  // those that take a value end in "="
};

constexpr std::array<VerbName, 18> kVerbs = {{
    {DockerVerb::add, "ADD", "chown= chmod= link keep-git-dir checksum= exclude= unpack"},
    {DockerVerb::arg, "ARG", ""},
    {DockerVerb::cmd, "CMD", ""},
    {DockerVerb::copy, "COPY", "chown= chmod= from= link parents exclude="},
    {DockerVerb::entrypoint, "ENTRYPOINT", ""},
    {DockerVerb::env, "ENV", ""},
    {DockerVerb::expose, "EXPOSE", ""},
    {DockerVerb::from, "FROM", "platform="},
    {DockerVerb::healthcheck, "HEALTHCHECK", "interval= timeout= start-period= start-interval= retries="},
    {DockerVerb::label, "LABEL", ""},
    {DockerVerb::maintainer, "MAINTAINER", ""},
    {DockerVerb::onbuild, "ONBUILD", ""},
    {DockerVerb::run, "RUN", "mount= network= security= device="},
    {DockerVerb::shell, "SHELL", ""},
    {DockerVerb::stopsignal, "STOPSIGNAL", ""},
    {DockerVerb::user, "USER", ""},
    {DockerVerb::volume, "VOLUME", ""},
    {DockerVerb::workdir, "WORKDIR", ""},
}};

std::vector<std::string> known_verbs() {
  std::vector<std::string> names;
  for (const VerbName& one : kVerbs) names.emplace_back(one.name);
  return names;
}

bool is_stage_name(std::string_view name) {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, fits);
}

// One logical line while it becomes an instruction.
class InstructionReader {
 public:
  InstructionReader(DockerfileLines& lines, const LogicalLine& line, const std::string& file)
      : lines_(lines), line_(line), file_(file) {}
  DockerInstruction read() { return read_from(0, false); }

 private:
  DockerInstruction read_from(std::size_t offset, bool triggered);
  void read_flags(DockerInstruction& one);
  void read_flags(DockerInstruction& one, const std::vector<RawWord>& words);
  void read_arguments(DockerInstruction& one, bool triggered);
  void read_command(DockerInstruction& one);
  void read_health(DockerInstruction& one);
  void read_pairs(DockerInstruction& one);
  void read_arg(DockerInstruction& one);
  void read_paths(DockerInstruction& one);
  void read_from_words(DockerInstruction& one);
  void read_heredocs(DockerInstruction& one);
  void read_trigger(DockerInstruction& one, bool triggered);
  bool read_exec(DockerInstruction& one);
  void need_text(const DockerInstruction& one) const;
  std::string_view rest() const { return std::string_view(line_.text()).substr(at_); }
  Position here(std::size_t offset = 0) const { return line_.place_of(at_ + offset); }
  Position end_of(const RawWord& word) const {
    Position last = here(word.offset + word.text.size() - 1);
    return {last.line, last.column + 1};
  }
  [[noreturn]] void fail(Position place, std::string message, std::string hint = {}) const {
    refuse_at(file_, place, std::move(message), std::move(hint));
  }

  DockerfileLines& lines_;
  const LogicalLine& line_;
  const std::string& file_;
  std::size_t at_ = 0;
};

DockerInstruction InstructionReader::read_from(std::size_t offset, bool triggered) {
  at_ = offset;
  std::size_t size = 0;
  while (size < rest().size() && !is_blank(rest()[size])) ++size;
  std::string word = upper_case(rest().substr(0, size));
  auto known = std::ranges::find_if(kVerbs, [&](const VerbName& one) { return one.name == word; });
  if (known == kVerbs.end())
    fail(here(), fmt::format("unknown instruction '{}'", rest().substr(0, std::min<std::size_t>(size, 40))),
         did_you_mean(word, known_verbs()));
  DockerInstruction one;
  one.verb = known->verb;
  one.place = here();
  at_ += size;
  read_flags(one);
  one.last_line = line_.last_line;
  read_arguments(one, triggered);
  return one;
}

void InstructionReader::read_flags(DockerInstruction& one) {
  std::size_t others = 0;
  std::vector<RawWord> words = flag_words(rest(), others);
  if (!words.empty()) read_flags(one, words);
  at_ += others;
  while (at_ < line_.text().size() && space_at(line_.text(), at_) != 0) at_ += space_at(line_.text(), at_);
}

void InstructionReader::read_flags(DockerInstruction& one, const std::vector<RawWord>& words) {
  std::string_view allowed;
  for (const VerbName& verb : kVerbs)
    if (verb.verb == one.verb) allowed = verb.flags;
  std::vector<std::string> known;
  for (const RawWord& word : plain_words(allowed)) known.push_back(word.text);
  for (const RawWord& word : words) {
    std::size_t equals = word.text.find('=');
    bool has_value = equals != std::string::npos;
    DockerFlag flag{word.text.substr(2, has_value ? equals - 2 : std::string::npos),
                    has_value ? word.text.substr(equals + 1) : "", here(word.offset)};
    bool takes = contains(known, flag.name + "=");
    bool boolean = contains(known, flag.name);
    if (!takes && !boolean)
      fail(flag.place, fmt::format("{} has no flag --{}", name_of(one.verb), flag.name),
           did_you_mean(flag.name + "=", known));
    if (takes && !has_value) fail(flag.place, fmt::format("--{} needs a value", flag.name));
    if (boolean && has_value && flag.value != "true" && flag.value != "false")
      fail(flag.place, fmt::format("--{} is true or false, found '{}'", flag.name, flag.value));
    one.flags.push_back(std::move(flag));
  }
}

void InstructionReader::read_arguments(DockerInstruction& one, bool triggered) {
  one.text = std::string(trim_right(rest()));
  switch (one.verb) {
    case DockerVerb::run:
    case DockerVerb::cmd:
    case DockerVerb::entrypoint:
    case DockerVerb::shell:
      return read_command(one);
    case DockerVerb::healthcheck:
      return read_health(one);
    case DockerVerb::env:
    case DockerVerb::label:
      return read_pairs(one);
    case DockerVerb::arg:
      return read_arg(one);
    case DockerVerb::add:
    case DockerVerb::copy:
    case DockerVerb::volume:
    case DockerVerb::expose:
      return read_paths(one);
    case DockerVerb::from:
      return read_from_words(one);
    case DockerVerb::onbuild:
      return read_trigger(one, triggered);
    case DockerVerb::maintainer:
    case DockerVerb::stopsignal:
    case DockerVerb::user:
    case DockerVerb::workdir:
      return need_text(one);
  }
}

void InstructionReader::need_text(const DockerInstruction& one) const {
  if (one.text.empty()) fail(one.place, fmt::format("{} needs an argument", name_of(one.verb)));
}

// Fills `words` when the arguments are a JSON array.
bool InstructionReader::read_exec(DockerInstruction& one) {
  bool not_strings = false;
  auto words = exec_form(one.text, not_strings);
  if (not_strings) fail(here(), "the JSON form is an array of strings only");
  if (!words) return false;
  for (std::string& word : *words) one.words.push_back({std::move(word), here(), {}});
  one.exec = true;
  one.text.clear();
  return true;
}

void InstructionReader::read_command(DockerInstruction& one) {
  need_text(one);
  if (read_exec(one)) {
    if (one.words.empty() && (one.verb == DockerVerb::shell || one.verb == DockerVerb::run))
      fail(here(), fmt::format("{} has an empty command", name_of(one.verb)));
    return;
  }
  if (one.verb == DockerVerb::shell)
    fail(here(), "SHELL is written as a JSON array", R"(SHELL ["/bin/bash", "-c"])");
  if (one.verb != DockerVerb::run) return;
  one.pieces = line_.pieces_from(at_);
  read_heredocs(one);
}

void InstructionReader::read_health(DockerInstruction& one) {
  std::size_t size = 0;
  while (size < rest().size() && space_at(rest(), size) == 0) ++size;
  std::string kind = upper_case(rest().substr(0, size));
  if (kind != "CMD" && kind != "NONE")
    fail(here(), fmt::format("HEALTHCHECK is followed by CMD or NONE, found '{}'", rest().substr(0, size)));
  std::size_t begin = size;
  while (begin < rest().size() && space_at(rest(), begin) != 0) begin += space_at(rest(), begin);
  at_ += begin;
  one.text = std::string(trim_right(rest()));
  if (kind == "NONE") {
    if (!one.text.empty()) fail(here(), "HEALTHCHECK NONE takes no arguments");
    return;
  }
  if (one.text.empty()) fail(one.place, "HEALTHCHECK CMD needs a command");
  read_exec(one);
}

// `NAME=value …`, or the old `NAME value`, when the first word has no "=".
void InstructionReader::read_pairs(DockerInstruction& one) {
  need_text(one);
  std::vector<RawWord> words = quoted_words(one.text, lines_.escape());
  if (words.empty()) fail(one.place, fmt::format("{} needs a name and a value", name_of(one.verb)));
  if (!contains(words[0].text, '=')) {
    std::size_t size = 0;
    while (size < one.text.size() && !is_blank(one.text[size])) ++size;
    std::size_t value = size;
    while (value < one.text.size() && is_blank(one.text[value])) ++value;
    if (value == size) fail(one.place, fmt::format("{} needs a name and a value", name_of(one.verb)));
    one.pairs.push_back(
        {one.text.substr(0, size), one.text.substr(value), true, here(), end_of({one.text, 0})});
    one.text.clear();
    return;
  }
  for (const RawWord& word : words) {
    std::size_t equals = word.text.find('=');
    Position place = here(word.offset);
    if (equals == std::string::npos)
      fail(place, fmt::format("'{}' has no '='", word.text.substr(0, 40)),
           "quote a value that has blanks in it");
    if (equals == 0) fail(place, fmt::format("{} has a value without a name", name_of(one.verb)));
    one.pairs.push_back(
        {word.text.substr(0, equals), word.text.substr(equals + 1), true, place, end_of(word)});
  }
  one.text.clear();
}

void InstructionReader::read_arg(DockerInstruction& one) {
  for (const RawWord& word : quoted_words(one.text, lines_.escape())) {
    std::size_t equals = word.text.find('=');
    DockerPair pair{word.text.substr(0, equals), "", equals != std::string::npos, here(word.offset),
                    end_of(word)};
    if (pair.has_value) pair.value = word.text.substr(equals + 1);
    if (pair.name.empty()) fail(pair.place, "ARG has a value without a name");
    one.pairs.push_back(std::move(pair));
  }
  if (one.pairs.empty()) fail(one.place, "ARG needs a name");
  one.text.clear();
}

void InstructionReader::read_paths(DockerInstruction& one) {
  need_text(one);
  bool copies = one.verb == DockerVerb::add || one.verb == DockerVerb::copy;
  if (!(one.verb != DockerVerb::expose && read_exec(one))) {
    for (RawWord& word : plain_words(rest()))
      one.words.push_back({word.text, here(word.offset), end_of(word)});
    if (copies) read_heredocs(one);
    one.text.clear();
  }
  std::size_t least = copies ? 2 : 1;
  if (one.words.size() < least)
    fail(one.place, fmt::format("{} needs {}", name_of(one.verb),
                                copies ? "a source and a destination" : "an argument"));
}

void InstructionReader::read_from_words(DockerInstruction& one) {
  for (RawWord& word : plain_words(rest())) one.words.push_back({word.text, here(word.offset), end_of(word)});
  one.text.clear();
  bool named = one.words.size() == 3 && upper_case(one.words[1].text) == "AS";
  if (!named && one.words.size() != 1) fail(one.place, "FROM is written as FROM image or FROM image AS name");
  if (named && !is_stage_name(lower_case(one.words[2].text)))
    fail(one.words[2].place, fmt::format("'{}' is not a name for a stage", one.words[2].text),
         "a letter, then letters, digits and - _ .");
}

void InstructionReader::read_heredocs(DockerInstruction& one) {
  for (HeredocMark& mark : heredoc_marks(one.text)) {
    Position place = here(mark.offset);
    std::string content = lines_.heredoc(mark.name, mark.chomp, place);
    one.last_line += 1 + static_cast<int>(std::ranges::count(content, '\n'));
    one.heredocs.push_back({std::move(mark.name), std::move(content), mark.expand, place});
  }
}

void InstructionReader::read_trigger(DockerInstruction& one, bool triggered) {
  need_text(one);
  if (triggered) fail(one.place, "ONBUILD is not allowed after ONBUILD");
  one.text.clear();
  one.trigger.push_back(read_from(at_, true));
  DockerVerb verb = one.trigger[0].verb;
  if (verb == DockerVerb::from || verb == DockerVerb::maintainer)
    fail(one.trigger[0].place, fmt::format("{} is not allowed after ONBUILD", name_of(verb)));
}

void add_to(Dockerfile& dockerfile, DockerInstruction one) {
  if (one.verb == DockerVerb::from) {
    DockerStage stage;
    stage.base = one.words[0].text;
    if (one.words.size() == 3) stage.name = lower_case(one.words[2].text);
    stage.from = std::move(one);
    dockerfile.stages.push_back(std::move(stage));
  } else if (!dockerfile.stages.empty()) {
    dockerfile.stages.back().instructions.push_back(std::move(one));
  } else if (one.verb == DockerVerb::arg) {
    dockerfile.arguments.push_back(std::move(one));
  } else {
    refuse_at(dockerfile.file, one.place, fmt::format("{} stands above the first FROM", name_of(one.verb)),
              "only ARG may");
  }
}

}  // namespace

std::string_view name_of(DockerVerb verb) {
  for (const VerbName& one : kVerbs)
    if (one.verb == verb) return one.name;
  return "";
}

const DockerFlag* DockerInstruction::flag(std::string_view name) const {
  for (const DockerFlag& one : flags)
    if (one.name == name) return &one;
  return nullptr;
}

int DockerInstruction::line_of(std::size_t offset) const {
  int line = place.line;
  for (const auto& [start, where] : pieces)
    if (start <= offset) line = where.line;
  return line;
}

std::optional<std::size_t> Dockerfile::stage_named(std::string_view name, std::size_t before) const {
  std::string wanted = lower_case(name);
  for (std::size_t i = std::min(before, stages.size()); i > 0; --i)
    if (!wanted.empty() && stages[i - 1].name == wanted) return i - 1;
  return std::nullopt;
}

std::optional<std::size_t> Dockerfile::copied_stage(std::string_view name, std::size_t before) const {
  if (auto named = stage_named(name, before)) return named;
  const auto number = as_number<std::size_t>(name);
  return number && *number < before ? number : std::nullopt;
}

Dockerfile parse_dockerfile(std::string_view text, const std::string& file) {
  std::vector<Error> errors;
  Dockerfile dockerfile = read_dockerfile(text, file, errors);
  if (!errors.empty()) throw errors.front();
  return dockerfile;
}

Dockerfile read_dockerfile(std::string_view text, const std::string& file, std::vector<Error>& errors) {
  Dockerfile dockerfile;
  dockerfile.file = file;
  if (!collected(errors, [&] { check_source(text, file); })) return dockerfile;
  DockerfileLines lines(text, file);
  LogicalLine line;
  for (bool more = true; more && errors.size() < kMostErrors;)
    collected(errors, [&] {
      more = lines.next(line);
      if (more) add_to(dockerfile, InstructionReader(lines, line, file).read());
    });
  if (dockerfile.stages.empty() && errors.empty())
    errors.emplace_back(ExitCode::input, SourceLocation{file, 0, 0, ""},
                        "the file has no FROM: it is not a Dockerfile");
  dockerfile.escape = lines.escape();
  dockerfile.directives = std::move(lines.directives);
  dockerfile.comments = std::move(lines.comments);
  return dockerfile;
}

}  // namespace kiln
