// Dockerfiles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "lint/check_file.h"

namespace kiln::lint {
namespace {

class DockerfileCheck {
 public:
  DockerfileCheck(const SourceFile& file, Report& report)
      : file_(file), report_(report), parsed_(read_dockerfile(file)) {}

  void run() {
    for (const Instruction& instruction : parsed_.instructions) check(instruction);
    for (const auto& [stage, unit] : stage_units_) {
      check_git(unit, report_);
      check_downloads(unit, report_);
    }
    for (Finding& finding : report_.findings())
      if (finding.where.file == file_.path()) finding.first_line = first_line_of(finding.where.line);
  }

 private:
  void check(const Instruction& instruction) {
    if (instruction.name == "FROM") check_from(instruction);
    if (instruction.name == "ARG") remember_argument(instruction);
    if (instruction.name == "ENV" || instruction.name == "ARG") check_assignments(instruction);
    if (instruction.name == "ADD") check_add(instruction);
    if (instruction.name == "RUN" && text(instruction).substr(0, 1) != "[") check_run(instruction);
  }

  std::string_view text(const Instruction& instruction) const {
    return std::string_view(file_.text())
        .substr(instruction.arguments.begin, instruction.arguments.end - instruction.arguments.begin);
  }

  std::vector<ShellWord> words(const Instruction& instruction) const {
    std::vector<ShellWord> all;
    for (const ShellCommand& command :
         read_shell(file_.text(), instruction.arguments, ShellDialect::dockerfile).commands)
      if (!command.in_substitution) all.insert(all.end(), command.words.begin(), command.words.end());
    return all;
  }

  void check_from(const Instruction& instruction) {
    std::vector<ShellWord> parts = words(instruction);
    while (!parts.empty() && parts.front().text.starts_with("--")) parts.erase(parts.begin());
    if (parts.empty()) return;
    std::string reference = with_arguments(parts.front().text);
    bool known =
        reference == "scratch" || stages_.contains(reference) || reference.find('$') != std::string::npos;
    if (!known) check_base(reference, file_.at(parts.front().span.begin), report_);
    if (parts.size() >= 3) stages_.insert(parts[2].text);
  }

  void remember_argument(const Instruction& instruction) {
    for (const Assignment& one : read_assignments(file_, instruction))
      if (one.has_value) arguments_[one.name] = one.value;
  }

  // $NAME and ${NAME} with the defaults of ARG.
  std::string with_arguments(std::string reference) const {
    for (const auto& [name, value] : arguments_)
      for (const std::string& form : {"${" + name + "}", "$" + name})
        if (std::size_t at = reference.find(form); at != std::string::npos)
          reference.replace(at, form.size(), value);
    return reference;
  }

  void check_assignments(const Instruction& instruction) {
    for (const Assignment& one : read_assignments(file_, instruction)) {
      if (std::string flag = native_flag(one.value); !flag.empty())
        report_.add("KL003", file_, one.span, fmt::format("{} is the builder's CPU, not the target's", flag));
      if (std::string reason = secret_in(one.name, one.value); !reason.empty())
        report_.add("KL060", file_, one.span, reason);
      else if (instruction.name == "ARG" && !one.has_value && !secret_in(one.name, "a value").empty())
        report_.add("KL060", file_, one.span,
                    fmt::format("the value of {} stays in the image's history", one.name));
      if (has_credentials(one.value)) report_.add("KL061", file_, one.span, "this URL has a password");
      if (one.name == "LD_LIBRARY_PATH" && instruction.name == "ENV" &&
          one.value.find("LD_LIBRARY_PATH") == std::string::npos)
        report_.add("KL078", file_, one.span, "the base's LD_LIBRARY_PATH is lost");
      if (one.name == "LD_LIBRARY_PATH" && one.value.find("stubs") != std::string::npos)
        report_.add("KL082", file_, one.span, "the stub hides the host's driver");
    }
  }

  void check_add(const Instruction& instruction) {
    std::vector<ShellWord> parts = words(instruction);
    bool checksum = std::any_of(parts.begin(), parts.end(),
                                [](const ShellWord& word) { return word.text.starts_with("--checksum"); });
    std::erase_if(parts, [](const ShellWord& word) { return word.text.starts_with("--"); });
    if (parts.size() < 2) return;
    parts.pop_back();
    bool plain = true;
    for (const ShellWord& source : parts) {
      bool remote = is_url(source.text) || source.text.starts_with("git@");
      bool archive = source.text.find(".tar") != std::string::npos || source.text.ends_with(".tgz") ||
                     source.text.ends_with(".txz") || source.text.find('$') != std::string::npos ||
                     source.text.find('*') != std::string::npos;
      plain = plain && !remote && !archive;
      if (!remote) continue;
      if (std::string branch = branch_in_url(source.text); !branch.empty())
        report_.add("KL011", file_, source.span, fmt::format("{} in this URL is a branch: it moves", branch));
      if (!checksum && !is_commit(source.text))
        report_.add("KL012", file_, source.span, "nothing checks what ADD gets");
    }
    if (!plain || text(instruction).starts_with("[")) return;
    report_.add("KL076", file_, instruction.name_span, "ADD does more than this needs").fix = {
        {instruction.name_span, "COPY"}};
  }

  void check_run(const Instruction& instruction) {
    ScriptUnit unit;
    unit.file = &file_;
    unit.span = instruction.arguments;
    // --mount=…, --network=…
    while (file_.text().compare(unit.span.begin, 2, "--") == 0) {
      std::size_t end = file_.text().find_first_of(" \t\n", unit.span.begin);
      if (end == std::string::npos || end >= unit.span.end) break;
      end = file_.text().find_first_not_of(" \t\n\\", end);
      unit.span.begin = std::min(end, unit.span.end);
    }
    unit.place = instruction.stage < parsed_.stages ? Place::run_dropped : Place::run;
    bool cached = text(instruction).find("type=cache") != std::string_view::npos;
    if (cached && unit.place == Place::run)
      unit.place = Place::run_dropped;  // what is cached is not in the layer
    unit.span = without_here_document(unit.span);
    unit.shell = read_shell(file_.text(), unit.span, ShellDialect::dockerfile);
    check_alone(unit, report_);
    add_to_stage(instruction.stage, std::move(unit));
  }

  // What one RUN clones or downloads, a later one of the stage may pin or check.
  void add_to_stage(std::size_t stage, ScriptUnit unit) {
    auto [found, first] = stage_units_.try_emplace(stage, unit);
    if (first) return;
    auto& commands = found->second.shell.commands;
    int pipelines = commands.empty() ? 0 : commands.back().pipeline + 1;
    for (ShellCommand& command : unit.shell.commands) {
      command.pipeline += pipelines;
      commands.push_back(std::move(command));
    }
  }

  // Of the instruction that a line belongs to.
  int first_line_of(int line) const {
    int first = line;
    for (const Instruction& instruction : parsed_.instructions)
      if (int start = file_.line_of(instruction.name_span.begin); start <= line) first = start;
    return first;
  }

  // RUN <<EOF: the body is the script.
  Span without_here_document(Span span) const {
    std::string_view text = std::string_view(file_.text()).substr(span.begin, span.end - span.begin);
    if (!text.starts_with("<<")) return span;
    std::size_t first = text.find('\n');
    std::size_t last = text.rfind('\n');
    return first == std::string_view::npos || last <= first
               ? span
               : Span{span.begin + first + 1, span.begin + last + 1};
  }

  const SourceFile& file_;
  Report& report_;
  Dockerfile parsed_;
  std::map<std::size_t, ScriptUnit> stage_units_;  // all RUNs of a stage
  std::set<std::string> stages_;
  std::map<std::string, std::string> arguments_;
};

struct Header {
  std::string value;
  Span span;
};

// `Bootstrap: docker` and the like: keys in lower case.
std::map<std::string, Header> read_header(const SourceFile& file, const Section& section) {
  std::map<std::string, Header> fields;
  for (int line = file.line_of(section.span.begin); line <= static_cast<int>(file.lines()); ++line) {
    std::size_t start = file.start_of(line);
    if (start >= section.span.end) break;
    std::string_view text = file.line_text(line);
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.starts_with('#')) continue;
    std::string key;
    for (char c : text.substr(0, colon))
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::size_t value = std::min(text.find_first_not_of(" \t", colon + 1), text.size());
    std::size_t end = text.find_last_not_of(" \t\r") + 1;
    fields[key] = {std::string(text.substr(value, std::max(end, value) - value)),
                   {start + value, start + std::max(end, value)}};
  }
  return fields;
}

Place place_of(std::string_view section) {
  if (section == "post") return Place::post;
  return section == "environment" ? Place::environment : Place::other;
}

bool is_shell_section(std::string_view section) {
  static constexpr std::array<std::string_view, 6> kSections = {"post",      "environment", "test",
                                                                "runscript", "startscript", "setup"};
  return std::find(kSections.begin(), kSections.end(), section) != kSections.end();
}

// An %environment is read by every start of the container.
void check_environment(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands)
    for (const ShellWord& word : command.words)
      if (assigned_name(word) == "LD_LIBRARY_PATH" &&
          word.text.find("LD_LIBRARY_PATH", 1) == std::string::npos)
        add(report, "KL078", unit, command, word.span,
            "what was in LD_LIBRARY_PATH, such as --nv's, is lost");
}

}  // namespace

void check_dockerfile(const SourceFile& file, Report& report) { DockerfileCheck(file, report).run(); }

void check_definition(const SourceFile& file, Report& report) {
  const std::vector<Section> sections = read_definition(file);
  auto header = read_header(file, sections.front());
  bool docker = header.contains("bootstrap") && header["bootstrap"].value.starts_with("docker");
  if (docker && header.contains("from"))
    check_base(header["from"].value, file.at(header["from"].span.begin), report);
  for (const Section& section : sections) {
    if (!is_shell_section(section.name)) continue;
    ScriptUnit unit{&file, section.span, place_of(section.name), read_shell(file.text(), section.span)};
    check_script(unit, report);
    if (unit.place == Place::environment) check_environment(unit, report);
  }
}

void check_base(std::string_view reference, const SourceLocation& where, Report& report) {
  if (reference.find("@sha256:") != std::string_view::npos) return;
  std::string_view last = reference.substr(reference.rfind('/') + 1);
  std::size_t colon = last.find(':');
  std::string_view tag = colon == std::string_view::npos ? "" : last.substr(colon + 1);
  if (tag.empty() || tag == "latest")
    report.add("KL015", where, fmt::format("'{}' is whatever is newest", reference));
  else
    report.add("KL016", where, fmt::format("'{}' can be moved to another image", reference));
}

}  // namespace kiln::lint
