// Dockerfile → LegacyImage.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/quote.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/import/docker_import.h"
#include "factory/import/legacy_bases.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_names.h"
#include "factory/import/legacy_script.h"

namespace kiln {
namespace {

// The arguments that BuildKit itself gives to a build for this platform.
std::optional<std::string> automatic_argument(std::string_view name, const std::string& architecture) {
  if (!name.starts_with("TARGET") && !name.starts_with("BUILD")) return std::nullopt;
  const std::string_view what = name.substr(name.starts_with("TARGET") ? 6 : 5);
  if (what == "PLATFORM") return "linux/" + architecture;
  if (what == "OS") return "linux";
  if (what == "ARCH") return architecture;
  if (what == "VARIANT") return "";
  return std::nullopt;
}

}  // namespace

// The stages that `stage` is made of, the first one first.
std::vector<std::size_t> DockerfileImport::chain(std::size_t stage) const {
  std::vector<std::size_t> stages = {stage};
  while (auto from = file_.stage_named(file_.stages[stages.back()].base, stages.back()))
    stages.push_back(*from);
  std::ranges::reverse(stages);
  return stages;
}

void DockerfileImport::read() {
  for (const DockerInstruction& one : file_.arguments) argument(one, true);
  above_ = variables_;
  std::size_t last = file_.stages.size() - 1;
  const DockerStage& first = file_.stages[chain(last).front()];
  image_.base = {base_of(first), first.from.place.line};
  if (image_.base.value == "scratch" || image_.base.value.empty())
    refuse_at(image_.path, first.from.place, fmt::format("kiln cannot start from 'FROM {}'", first.base),
              how_to_give_base(first.base));
  if (first.from.flag("platform") != nullptr)
    image_.note(first.from.place.line, "platform", "--platform: the target's CPU decides");
  std::string body = read_chain(last, false);
  if (!body.empty()) image_.body = LegacyScript::head(image_.path, image_.base.value) + body;
  if (!image_.build_body.empty())
    image_.build_body.insert(0, LegacyScript::head(image_.path, image_.base.value));
  facts_.finish();
}

std::string DockerfileImport::read_chain(std::size_t last, bool build) {
  LegacyScript outer = std::move(script_);
  auto outer_variables = variables_;
  std::string outer_folder = folder_;
  bool outer_building = building_;
  const BaseValues outer_base = base_;
  script_ = {};
  building_ = build;
  if (build) variables_ = above_;  // a stage sees nothing of another one's
  base_ = base_values_of(build ? expand(file_.stages[chain(last).front()].base, {}) : image_.base.value);
  folder_ = base_.folder;
  script_.start_in(folder_);
  for (std::size_t stage : chain(last))
    for (const DockerInstruction& one : file_.stages[stage].instructions) instruction(one, stage);
  std::string text = script_.text();
  if (!build && folder_ != base_.folder)
    image_.note(folder_line_, "workdir",
                fmt::format("WORKDIR {}: images of kiln start in the caller's folder", folder_));
  script_ = std::move(outer);
  base_ = outer_base;
  if (build) variables_ = outer_variables;
  folder_ = outer_folder;
  building_ = outer_building;
  return text;
}

std::optional<std::string> DockerfileImport::value_of(std::string_view name, Position place) {
  auto found = variables_.find(std::string(name));
  if (found != variables_.end()) return found->second;
  if (place.line == 0) return std::nullopt;
  return value_from_base(image_, name, base_, place.line);
}

std::string DockerfileImport::expand_marked(const std::string& word, Position place) {
  auto lookup = [&](std::string_view name) { return value_of(name, place); };
  return expand_docker_word(word, lookup, file_.escape, image_.path, place);
}

std::string DockerfileImport::expand(const std::string& word, Position place) {
  return image_value("", expand_marked(word, place), base_);
}

// What `FROM` says, or what --base puts in its place: of the words as written, or of their value.
std::string DockerfileImport::base_of(const DockerStage& stage) {
  std::string value = stage.base;
  std::string given = given_base(tree_, value);
  if (given.empty()) {
    auto lookup = [&](std::string_view name) {
      auto automatic = automatic_argument(name, tree_.architecture);
      return automatic && !variables_.contains(std::string(name)) ? automatic
                                                                  : value_of(name, stage.from.place);
    };
    value = expand_docker_word(stage.base, lookup, file_.escape, image_.path, stage.from.place);
    given = given_base(tree_, value);
  }
  if (given.empty()) return value;
  image_.note_given_base(value, given, stage.from.place.line);
  return given;
}

std::string DockerfileImport::absolute(const std::string& path) const {
  return path.starts_with('/') ? path : (folder_ == "/" ? "/" : folder_ + "/") + path;
}

void DockerfileImport::instruction(const DockerInstruction& one, std::size_t stage) {
  switch (one.verb) {
    case DockerVerb::run:
      return run(one);
    case DockerVerb::copy:
    case DockerVerb::add:
      return copy(one, stage);
    case DockerVerb::env:
      return environment(one);
    case DockerVerb::arg:
      return argument(one, false);
    case DockerVerb::healthcheck:
      return health(one);
    case DockerVerb::shell:
      shell_.clear();
      for (const DockerWord& word : one.words) shell_.push_back(word.text);
      return;
    case DockerVerb::workdir:
      folder_ = absolute(expand(one.text, one.place));
      folder_line_ = one.place.line;
      script_.comment(one.place.line, "WORKDIR");
      return script_.change_folder(folder_);
    default:
      return left_out(one);
  }
}

void DockerfileImport::left_out(const DockerInstruction& one) {
  struct Reason {
    DockerVerb verb;
    const char* rule;
    const char* text;
  };
  static constexpr Reason kReasons[] = {
      {DockerVerb::user, "user", "USER: scripts run as root, and an image's user is the site's business"},
      {DockerVerb::expose, "expose", "EXPOSE: an image of kiln serves nothing"},
      {DockerVerb::volume, "volume", "VOLUME"},
      {DockerVerb::onbuild, "onbuild", "ONBUILD: instructions for derived images must be a separate recipe"},
      {DockerVerb::stopsignal, "stopsignal", "STOPSIGNAL"},
      {DockerVerb::maintainer, "label", "MAINTAINER: kiln writes the labels"},
      {DockerVerb::label, "label", "LABEL: kiln writes the labels"},
      {DockerVerb::entrypoint, "command", "ENTRYPOINT: images of kiln start a shell"},
      {DockerVerb::cmd, "command", "CMD: images of kiln start a shell"},
  };
  if (building_) return;  // it had no effect on the image
  for (const Reason& reason : kReasons)
    if (reason.verb == one.verb) image_.note(one.place.line, reason.rule, reason.text);
}

void DockerfileImport::run_notes(const DockerInstruction& one) {
  for (const DockerFlag& flag : one.flags) {
    bool cache = contains(flag.value, "type=cache") || contains(flag.value, "type=tmpfs");
    if (flag.name != "mount" || !cache)
      image_.note(flag.place.line, "run-flag",
                  fmt::format("--{}={}: not there when the script runs", flag.name, flag.value));
  }
  if (changes_only_its_shell(one.text))
    image_.note(
        one.place.line, "lost-state",
        fmt::format("'RUN {}' changes its own shell only, which ends with it", one.text.substr(0, 60)));
}

void DockerfileImport::run(const DockerInstruction& one) {
  for (const auto& [name, value] : variables_) facts_.variables[name] = image_value(name, value, base_);
  run_notes(one);
  script_.comment(one.place.line, "RUN");
  if (one.exec) {
    std::string command;
    for (const DockerWord& word : one.words)
      command += (command.empty() ? "" : " ") + shell_text_word(word.text);
    facts_.script(command, [&](std::size_t) { return one.place.line; });
    return script_.add(command);
  }
  facts_.script(one.text, [&](std::size_t offset) { return one.line_of(offset); });
  std::string text = broken_as_written(one);
  bool inline_script =
      one.heredocs.size() == 1 && text.starts_with("<<") && text.find_first_of(" \t") == std::string::npos;
  if (inline_script) {
    text = one.heredocs[0].content;
    if (!names_interpreter(text) || names_shell(text))
      facts_.script(text, [&](std::size_t offset) {
        return one.place.line + 1 +
               static_cast<int>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
      });
    if (names_interpreter(text)) return script_.add("(\n" + run_by_interpreter(text) + ")");
  } else {
    for (const DockerHeredoc& heredoc : one.heredocs) text += "\n" + heredoc.content + heredoc.name;
  }
  if (is_plain_shell()) return script_.block(text, false);
  script_.add(shell_command(text));
}

bool DockerfileImport::is_plain_shell() const { return shell_ == std::vector<std::string>{"/bin/sh", "-c"}; }

// By the program that SHELL names.
std::string DockerfileImport::shell_command(const std::string& text) const {
  std::string command;
  for (const std::string& word : shell_) command += shell_text_word(word) + " ";
  return command + shell_text_word(text);
}

void DockerfileImport::environment(const DockerInstruction& one) {
  script_.comment(one.place.line, "ENV");
  std::map<std::string, std::string> values;
  for (const DockerPair& pair : one.pairs) {
    std::string name = expand(pair.name, pair.place);
    if (!is_variable_name(name)) {
      image_.note(pair.place.line, "environment", fmt::format("'{}' is not a name for a variable", name));
      continue;
    }
    values[name] = expand_marked(pair.value, pair.place);
    const std::string value = image_value(name, values[name], base_);
    if (building_) {
      image_.facts.settings[name] = {value, pair.place.line};
    } else {
      image_.set_environment(name, value, pair.place.line);
    }
    script_.set(name, script_word(without_open_end(name, values[name])));
  }
  for (auto& [name, value] : values) variables_[name] = value;
}

// One without any value is not set, as in a build that gives none.
void DockerfileImport::argument(const DockerInstruction& one, bool above) {
  for (const DockerPair& pair : one.pairs) {
    if (pair.has_value) variables_[pair.name] = expand_marked(pair.value, pair.place);
    if (auto automatic = automatic_argument(pair.name, tree_.architecture))
      variables_.try_emplace(pair.name, *automatic);
    if (!variables_.contains(pair.name)) {
      image_.note(pair.place.line, "argument",
                  fmt::format("ARG {} has no default: the command that built it gave one", pair.name));
      if (!above) variables_[pair.name] = "";
    } else if (!above && is_variable_name(pair.name) && (pair.has_value || !variables_[pair.name].empty())) {
      script_.set(pair.name, script_word(variables_[pair.name]));
    }
  }
}

void DockerfileImport::health(const DockerInstruction& one) {
  if (building_) return;
  if (!one.exec && one.text.empty()) return;  // NONE
  image_.test.clear();
  if (one.exec) {
    for (const DockerWord& word : one.words)
      image_.test += (image_.test.empty() ? "" : " ") + shell_text_word(word.text);
    image_.test += "\n";
  } else {
    image_.test = (is_plain_shell() ? one.text : shell_command(one.text)) + "\n";
  }
}

LegacyImage read_legacy_dockerfile(const LegacyTree& tree, const std::string& path, const std::string& text) {
  LegacyImage image;
  image.path = path;
  image.stem = stem_of(path);
  image.docker = true;
  Dockerfile file = parse_dockerfile(text, path);
  DockerfileImport(tree, image, file).read();
  return image;
}

}  // namespace kiln
