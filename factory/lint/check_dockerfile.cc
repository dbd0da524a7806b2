// Dockerfiles.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/recipe/native_flag.h"
#include "factory/source/dockerfile.h"
#include "factory/source/secret_words.h"

namespace kiln::lint {
namespace {

// Without quotes and escapes; what variables hold is not known, so they stay.
std::string plain_text(const std::string& word, char escape) {
  auto itself = [](std::string_view name) { return "$" + std::string(name); };
  try {
    return expand_docker_word(word, itself, escape, "", {});
  } catch (const Error&) {
    return word;
  }
}

// RUN <<EOF and RUN <<EOF sh: the body is shell. RUN <<EOF python3 and a body that begins with
// `#!/usr/bin/python3` are none.
bool is_shell_body(const DockerInstruction& run) {
  auto is_shell = [](std::string_view program) {
    return program.substr(0, program.find(' ')).ends_with("sh");
  };
  if (run.heredocs.size() != 1 || !run.text.starts_with("<<")) return false;
  std::size_t blank = run.text.find(' ');
  if (blank != std::string::npos && !is_shell(trim(std::string_view(run.text).substr(blank)))) return false;
  std::string_view body = run.heredocs.front().content;
  std::string_view first = body.substr(0, body.find('\n'));
  return !first.starts_with("#!") || contains(first, "sh");
}

// SHELL ["/bin/bash", "-euo", "pipefail", "-c"].
bool starts_with_errexit(const std::vector<DockerWord>& shell) {
  return std::ranges::any_of(shell, [](const DockerWord& word) {
    const bool letters = word.text.starts_with('-') && !word.text.starts_with("--");
    return word.text == "errexit" || (letters && contains(word.text, 'e'));
  });
}

// Where a branch is today: put in front of a clone, so that the layer is made again when it moves. Nothing
// reads the answer, and the clone is looked at.
bool asks_for_branch(std::string_view source) {
  return source.starts_with("https://api.github.com/repos/") && contains(source, "/git/refs/heads/");
}

// What a stage, and those below it, have set for the shells of its RUNs.
struct StageShell {
  bool unattended = false;   // ENV sets DEBIAN_FRONTEND
  bool assumes_yes = false;  // a RUN sets Assume-Yes
  bool stops = false;        // SHELL starts a shell with -e
};

class DockerfileCheck {
 public:
  DockerfileCheck(const SourceFile& file, Report& report) : file_(file), report_(report) {
    whole_.file = &file;
  }

  std::vector<Error> run() {
    std::vector<Error> errors;
    parsed_ = read_dockerfile(file_.text(), file_.path(), errors);
    for (const DockerInstruction& one : parsed_.arguments) check(one);
    for (stage_ = 0; stage_ < parsed_.stages.size(); ++stage_) check_stage(parsed_.stages[stage_]);
    const std::size_t known = report_.findings().size();
    whole_.add_shell_settings();
    check_whole(whole_, report_);
    for (const DockerStage& stage : parsed_.stages) place_suppressions(stage, known);
    return errors;
  }

 private:
  void check_stage(const DockerStage& stage) {
    const std::size_t known = report_.findings().size();
    whole_.stages.push_back({stage.name, "", std::nullopt, {}});
    check_from(stage);
    const auto& parent = whole_.stages.back().parent;
    shell_ = parent ? shell_of_[*parent] : StageShell{};
    // `kiln generate --inline` writes files there, whose lines are no commands of the instruction's.
    if (stage.name == "kiln-files") return shell_of_.push_back(shell_);
    argument_unattended_ = false;
    for (const DockerInstruction& one : stage.instructions) check(one);
    shell_of_.push_back(shell_);
    if (!runs_.shell.commands.empty()) {
      check_git(runs_, report_);
      check_downloads(runs_, report_);
    }
    runs_ = {};
    place_suppressions(stage, known);
  }

  // A suppression stands above the instruction.
  void place_suppressions(const DockerStage& stage, std::size_t known) {
    for (std::size_t i = known; i < report_.findings().size(); ++i) {
      Finding& finding = report_.findings()[i];
      for (const DockerInstruction& one : stage.instructions)
        if (one.place.line <= finding.where.line) finding.first_line = one.place.line;
    }
  }

  void check(const DockerInstruction& one) {
    if (one.verb == DockerVerb::env || one.verb == DockerVerb::arg) check_pairs(one);
    if (one.verb == DockerVerb::label)
      for (const DockerPair& pair : one.pairs)
        whole_.labels.push_back(plain_text(pair.value, parsed_.escape));
    if (one.verb == DockerVerb::add) check_add(one);
    if (one.verb == DockerVerb::shell) shell_.stops = starts_with_errexit(one.words);
    if (one.verb == DockerVerb::run && !one.exec) check_run(one);
    for (const DockerInstruction& trigger : one.trigger) check(trigger);
  }

  std::size_t offset(Position place) const { return file_.offset_of(place.line, place.column); }
  Span span_of(Position begin, Position end) const {
    return {offset(begin), end.line == 0 ? offset(begin) : offset(end)};
  }

  void check_from(const DockerStage& stage) {
    bool known = true;
    auto value_of = [&](std::string_view name) -> std::optional<std::string> {
      for (auto one = parsed_.arguments.rbegin(); one != parsed_.arguments.rend(); ++one)
        for (const DockerPair& pair : one->pairs)
          if (pair.name == name && pair.has_value) return plain_text(pair.value, parsed_.escape);
      known = false;
      return std::nullopt;
    };
    const DockerWord& word = stage.from.words.front();
    std::string reference;
    try {
      reference = expand_docker_word(stage.base, value_of, parsed_.escape, file_.path(), word.place);
    } catch (const Error&) {
      return;
    }
    whole_.stages.back().parent = parsed_.stage_named(reference, stage_);
    if (!known || reference == "scratch" || whole_.stages.back().parent) return;
    whole_.stages.back().base = reference;
    check_base(reference, file_.at(offset(word.place)), report_);
  }

  void check_pairs(const DockerInstruction& one) {
    for (const DockerPair& pair : one.pairs) {
      const std::string value = plain_text(pair.value, parsed_.escape);
      check_pair(one.verb, pair, value);
      whole_.settings.push_back({pair.name, value, span_of(pair.place, pair.end)});
      if (pair.name == "DEBIAN_FRONTEND" && !value.empty())
        (one.verb == DockerVerb::env ? shell_.unattended : argument_unattended_) = true;
    }
  }

  // $NAME or ${NAME}, and whoever builds says what that is.
  bool is_of_argument(std::string_view value) const {
    if (!value.starts_with('$')) return false;
    value.remove_prefix(value.starts_with("${") ? 2 : 1);
    return arguments_.contains(std::string(value.substr(0, value.find_first_of(":}"))));
  }

  void check_pair(DockerVerb verb, const DockerPair& pair, const std::string& value) {
    Span span = span_of(pair.place, pair.end);
    std::string flag = native_flag(value);
    if (flag.empty()) flag = native_flag(pair.name + "=" + value);
    if (!flag.empty()) report_.add("KL003", file_, span, native_text(flag));
    if (std::string reason = secret_in(pair.name, value); !reason.empty())
      report_.add("KL060", file_, span, reason);
    else if (verb == DockerVerb::arg && is_secret_name(pair.name) && (value.empty() || contains(value, '$')))
      report_.add("KL060", file_, span,
                  fmt::format("the value of {} stays in the image's history", pair.name));
    if (verb == DockerVerb::arg) arguments_.insert(pair.name);
    if (verb == DockerVerb::env && is_of_argument(value) && is_secret_name(pair.name))
      report_.add("KL060", file_, span,
                  fmt::format("the value of {} stays in the image's configuration", pair.name));
    if (has_credentials(value)) report_.add("KL061", file_, span, "this URL has a password");
    if (pair.name != "LD_LIBRARY_PATH") return;
    if (verb == DockerVerb::env && !contains(value, "LD_LIBRARY_PATH"))
      report_.add("KL078", file_, span, "the base's LD_LIBRARY_PATH is lost");
    if (contains(value, "stubs")) report_.add("KL082", file_, span, "the stub hides the host's driver");
  }

  void check_add(const DockerInstruction& one) {
    bool plain = true;
    for (std::size_t i = 0; i + 1 < one.words.size(); ++i) {
      std::string source = plain_text(one.words[i].text, parsed_.escape);
      Span span = span_of(one.words[i].place, one.words[i].end);
      bool remote = has_url(source) || source.starts_with("git@");
      bool archive = contains(source, ".tar") || source.ends_with(".tgz") || source.ends_with(".txz") ||
                     source.find_first_of("$*") != std::string::npos;
      plain = plain && !remote && !archive;
      if (!remote) continue;
      if (std::string branch = branch_in_url(source); !branch.empty())
        report_.add("KL011", file_, span, fmt::format("{} in this URL is a branch: it moves", branch));
      if (one.flag("checksum") == nullptr && !has_commit(source) && !asks_for_branch(source))
        report_.add("KL012", file_, span, "no checksum verifies what ADD downloads");
    }
    if (!plain || one.exec) return;
    std::size_t begin = offset(one.place);
    Span name{begin, begin + name_of(one.verb).size()};
    report_.add("KL076", file_, name, "ADD does more than this needs").fix = {{name, "COPY"}};
  }

  // Of what the shell gets: without flags, of a here-document its body.
  Span script_of(const DockerInstruction& one) const {
    if (is_shell_body(one))
      return {file_.start_of(one.heredocs.front().place.line + 1), file_.start_of(one.last_line)};
    return {offset(one.pieces.front().second),
            file_.start_of(one.last_line) + file_.line_text(one.last_line).size()};
  }

  void check_run(const DockerInstruction& one) {
    bool dropped = stage_ + 1 < parsed_.stages.size();
    for (const DockerFlag& flag : one.flags)  // what is cached is not in the layer
      dropped = dropped || (flag.name == "mount" && contains(flag.value, "type=cache"));
    ScriptUnit unit{&file_, script_of(one), dropped ? ScriptRole::run_dropped : ScriptRole::run, {}};
    unit.shell = read_shell(file_.text(), unit.span, ShellDialect::dockerfile);
    unit.unattended = shell_.unattended || argument_unattended_;
    unit.assumes_yes = shell_.assumes_yes;
    unit.stops = shell_.stops || (is_shell_body(one) && contains(one.text, " -e"));
    shell_.assumes_yes = shell_.assumes_yes || configures_assume_yes(unit);
    check_alone(unit, report_);
    whole_.stages.back().units.push_back(unit);
    add_to_stage(std::move(unit));
  }

  // What one RUN clones or downloads, a later one of the stage may pin or check.
  void add_to_stage(ScriptUnit unit) {
    const int taken = pipelines_;
    for (ShellCommand& command : unit.shell.commands) {
      command.pipeline += taken;
      pipelines_ = std::max(pipelines_, command.pipeline + 1);
      runs_.shell.commands.push_back(std::move(command));
    }
    runs_.file = unit.file;
    runs_.span = unit.span;
    runs_.place = unit.place;
  }

  const SourceFile& file_;
  Report& report_;
  Dockerfile parsed_;
  std::size_t stage_ = 0;  // that is looked at
  int pipelines_ = 0;      // all of runs_ have smaller numbers
  ScriptUnit runs_;        // all its RUNs
  WholeFile whole_;
  std::set<std::string> arguments_;   // names of ARG so far
  bool argument_unattended_ = false;  // an ARG of this stage sets DEBIAN_FRONTEND
  StageShell shell_;
  std::vector<StageShell> shell_of_;  // each stage's at its end, for those that start from it
};

}  // namespace

std::vector<Error> check_dockerfile(const SourceFile& file, Report& report) {
  return DockerfileCheck(file, report).run();
}

}  // namespace kiln::lint
