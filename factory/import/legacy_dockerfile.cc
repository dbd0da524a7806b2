// Dockerfile → LegacyImage.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/quote.h"
#include "factory/base/reading.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_local_image.h"
#include "factory/import/legacy_names.h"
#include "factory/import/legacy_script.h"
#include "factory/oci/default_path.h"
#include "factory/oci/documents.h"

namespace kiln {
namespace {

class DockerfileImport {
 public:
  DockerfileImport(const LegacyTree& tree, LegacyImage& image, const Dockerfile& file)
      : tree_(tree), image_(image), file_(file), facts_(image) {}
  void read();

 private:
  std::vector<std::size_t> chain(std::size_t stage) const;
  std::string read_chain(std::size_t last, bool build);
  void instruction(const DockerInstruction& one, std::size_t stage);
  void run(const DockerInstruction& one);
  void run_notes(const DockerInstruction& one);
  void copy(const DockerInstruction& one, std::size_t stage);
  void copy_from_stage(const DockerInstruction& one, std::size_t stage);
  void copy_local(const DockerInstruction& one);
  void take(const DockerInstruction& one, const std::string& source, const std::string& destination);
  void add_url(const DockerInstruction& one, const std::string& url, const std::string& destination);
  void environment(const DockerInstruction& one);
  void argument(const DockerInstruction& one, bool above);
  void health(const DockerInstruction& one);
  void left_out(const DockerInstruction& one);
  std::string base_of(const DockerStage& stage);
  std::string expand(const std::string& word, Place place);
  void need_path(const DockerPair& pair);
  std::string absolute(const std::string& path) const;

  const LegacyTree& tree_;
  LegacyImage& image_;
  const Dockerfile& file_;
  FactReader facts_;
  LegacyScript script_;
  std::map<std::string, std::string> variables_;  // ARG and ENV so far
  std::map<std::string, std::string> above_;      // ARG above the first FROM
  std::vector<std::string> shell_ = {"/bin/sh", "-c"};
  std::string folder_ = "/";
  bool building_ = false;
  std::string build_base_;
};

// The stages that `stage` is made of, the first one first.
std::vector<std::size_t> DockerfileImport::chain(std::size_t stage) const {
  std::vector<std::size_t> stages = {stage};
  while (auto from = file_.stage_named(file_.stages[stages.back()].base, stages.back()))
    stages.push_back(*from);
  std::reverse(stages.begin(), stages.end());
  return stages;
}

void DockerfileImport::read() {
  for (const DockerInstruction& one : file_.arguments) argument(one, true);
  above_ = variables_;
  std::size_t last = file_.stages.size() - 1;
  const DockerStage& first = file_.stages[chain(last).front()];
  image_.base = {base_of(first), first.from.place.line};
  if (image_.base.value == "scratch" || image_.base.value.empty())
    refuse_at(image_.path, first.from.place, fmt::format("'FROM {}' is nothing to start from", first.base),
              how_to_give_base(first.base));
  if (first.from.flag("platform") != nullptr)
    image_.note(first.from.place.line, "platform", "--platform: the target's CPU decides");
  std::string body = read_chain(last, false);
  if (!body.empty()) image_.body = LegacyScript::head(image_.path) + body;
  if (!image_.build_body.empty()) image_.build_body.insert(0, LegacyScript::head(image_.path));
  facts_.finish();
}

std::string DockerfileImport::read_chain(std::size_t last, bool build) {
  LegacyScript outer = std::move(script_);
  auto outer_variables = variables_;
  std::string outer_folder = folder_;
  bool outer_building = building_;
  script_ = {};
  folder_ = "/";
  building_ = build;
  if (build) variables_ = above_;  // a stage sees nothing of another one's
  for (std::size_t stage : chain(last))
    for (const DockerInstruction& one : file_.stages[stage].instructions) instruction(one, stage);
  std::string text = script_.text();
  script_ = std::move(outer);
  if (build) variables_ = outer_variables;
  folder_ = outer_folder;
  building_ = outer_building;
  return text;
}

// What `FROM` says, or what --base puts in its place: of the words as written, or of their value.
std::string DockerfileImport::base_of(const DockerStage& stage) {
  std::string value = stage.base;
  std::string given = given_base(tree_, value);
  if (given.empty()) {
    value = expand(stage.base, stage.from.place);
    given = given_base(tree_, value);
  }
  if (given.empty()) return value;
  image_.take_given_base(value, given, stage.from.place.line);
  return given;
}

std::string DockerfileImport::expand(const std::string& word, Place place) {
  auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    auto found = variables_.find(std::string(name));
    if (found != variables_.end()) return found->second;
    image_.note(place.line, "unset-variable", fmt::format("${} has no value in this file", name));
    return std::nullopt;
  };
  return expand_docker_word(word, lookup, file_.escape, image_.path, place);
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
      script_.comment(one.place.line, "WORKDIR");
      return script_.add(fmt::format("mkdir -p {0}\ncd {0}", shell_text_word(folder_)));
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
      {DockerVerb::onbuild, "onbuild", "ONBUILD: what other images inherit has to be a recipe of its own"},
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
    bool cache = flag.value.find("type=cache") != std::string::npos ||
                 flag.value.find("type=tmpfs") != std::string::npos;
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
  for (const auto& [name, value] : variables_) facts_.variables[name] = value;
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
    facts_.script(text, [&](std::size_t offset) {
      return one.place.line + 1 +
             static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    });
  } else {
    for (const DockerHeredoc& heredoc : one.heredocs) text += "\n" + heredoc.content + heredoc.name;
  }
  if (shell_ == std::vector<std::string>{"/bin/sh", "-c"}) return script_.block(text, false);
  std::string command;
  for (const std::string& word : shell_) command += shell_text_word(word) + " ";
  script_.add(command + shell_text_word(text));
}

void DockerfileImport::copy(const DockerInstruction& one, std::size_t stage) {
  for (const DockerFlag& flag : one.flags)
    if (flag.name == "chown" || flag.name == "chmod")
      image_.note(flag.place.line, "owner",
                  fmt::format("--{}={}: the files belong to root", flag.name, flag.value));
  if (one.flag("from") != nullptr) return copy_from_stage(one, stage);
  copy_local(one);
}

// The build stage is carried over with what is copied from it; another place of the copy is made there.
void DockerfileImport::copy_from_stage(const DockerInstruction& one, std::size_t stage) {
  const DockerFlag& flag = *one.flag("from");
  auto from = file_.copied_stage(flag.value, stage);
  if (!from || building_) {
    image_.note(
        one.place.line, "copy-from",
        fmt::format("--from={}: {}", flag.value, from ? "a copy between build stages" : "another image"));
    return;
  }
  const DockerStage& first = file_.stages[chain(*from).front()];
  image_.take_build_base(base_of(first), first.from.place.line);
  std::string build = read_chain(*from, true);
  std::string moves;
  std::string to = absolute(expand(one.words.back().text, one.place));
  for (std::size_t i = 0; i + 1 < one.words.size(); ++i) {
    std::string source = expand(one.words[i].text, one.place);
    if (!source.starts_with('/')) source = "/" + source;
    while (source.size() > 1 && source.ends_with('/')) source.pop_back();
    std::string target = to;
    if (target.ends_with('/') && target.size() > 1) target += source.substr(source.rfind('/') + 1);
    bool plain = source != "/" && target != "/" && source.find_first_of("*?[") == std::string::npos;
    if (!plain) {
      image_.note(one.place.line, "copy-from",
                  fmt::format("'{}' cannot be copied from a build stage", source));
      continue;
    }
    if (source != target)
      moves +=
          fmt::format("mkdir -p {}\ncp -a {} {}\n", shell_text_word(target.substr(0, target.rfind('/') + 1)),
                      shell_text_word(source), shell_text_word(target));
    image_.copies.push_back(target);
  }
  if (image_.build_body.find(build) == std::string::npos) image_.build_body += build;
  image_.build_body += moves;
}

void DockerfileImport::copy_local(const DockerInstruction& one) {
  std::string destination = absolute(expand(one.words.back().text, one.place));
  script_.comment(one.place.line, name_of(one.verb));
  for (const DockerHeredoc& heredoc : one.heredocs) {
    bool folder = destination.ends_with('/');
    script_.add(fmt::format("mkdir -p {}\nprintf '%s' {} >{}",
                            shell_text_word(destination.substr(0, destination.rfind('/') + 1)),
                            shell_text_word(heredoc.content),
                            shell_text_word(folder ? destination + heredoc.name : destination)));
  }
  if (!one.heredocs.empty()) return;
  for (std::size_t i = 0; i + 1 < one.words.size(); ++i) {
    std::string source = expand(one.words[i].text, one.place);
    if (source.find("://") != std::string::npos) {
      add_url(one, source, destination);
      continue;
    }
    for (const std::string& one_source : matching_sources(tree_, image_, source))
      take(one, one_source, destination);
  }
}

void DockerfileImport::take(const DockerInstruction& one, const std::string& source,
                            const std::string& destination) {
  std::string file = take_local(tree_, image_, source, one.place.line);
  if (file.empty()) return;
  bool folder = !image_.files.contains(file);
  bool unpacks = one.verb == DockerVerb::add && file.find(".tar") != std::string::npos;
  std::string parent = destination.ends_with('/') || folder || unpacks
                           ? destination
                           : destination.substr(0, destination.rfind('/') + 1);
  script_.add(fmt::format("mkdir -p {}", shell_text_word(parent)));
  if (unpacks)
    return script_.add(fmt::format("tar -C {} -xf \"$kiln_files\"/{}", shell_text_word(destination), file));
  script_.add(
      fmt::format("cp -R \"$kiln_files\"/{}{} {}", file, folder ? "/." : "", shell_text_word(destination)));
  if (std::string more = make_runnable(image_, file, destination); !more.empty()) script_.add(more);
}

void DockerfileImport::add_url(const DockerInstruction& one, const std::string& url,
                               const std::string& destination) {
  const DockerFlag* checksum = one.flag("checksum");
  if (checksum == nullptr)
    image_.note(one.place.line, "no-checksum", fmt::format("{} is downloaded without a checksum", url));
  std::string file = destination.ends_with('/') ? destination + url.substr(url.rfind('/') + 1) : destination;
  script_.add(fmt::format("mkdir -p {}\ncurl -fsSL -o {} {}",
                          shell_text_word(file.substr(0, file.rfind('/') + 1)), shell_text_word(file),
                          shell_text_word(url)));
  if (checksum != nullptr && checksum->value.starts_with("sha256:"))
    script_.add(
        fmt::format("echo {} | sha256sum -c -", shell_text_word(checksum->value.substr(7) + "  " + file)));
}

// The base's own PATH is not in this file.
void DockerfileImport::need_path(const DockerPair& pair) {
  bool asked =
      pair.value.find("$PATH") != std::string::npos || pair.value.find("${PATH") != std::string::npos;
  if (!asked || variables_.contains("PATH")) return;
  variables_["PATH"] = kDefaultPath;
  image_.note(pair.place.line, "base-path",
              "the base's PATH is not known here: the usual one is written out");
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
    need_path(pair);
    values[name] = without_open_end(name, expand(pair.value, pair.place));
    if (building_) {
      image_.facts.settings[name] = {values[name], pair.place.line};
    } else {
      image_.set_environment(name, values[name], pair.place.line);
    }
    script_.set(name, values[name]);
  }
  for (auto& [name, value] : values) variables_[name] = value;
}

void DockerfileImport::argument(const DockerInstruction& one, bool above) {
  for (const DockerPair& pair : one.pairs) {
    bool known = variables_.contains(pair.name);
    if (!pair.has_value && !known)
      image_.note(pair.place.line, "argument",
                  fmt::format("ARG {} has no default: whoever built gave it", pair.name));
    if (pair.has_value) variables_[pair.name] = expand(pair.value, pair.place);
    if (!above && is_variable_name(pair.name)) script_.set(pair.name, variables_[pair.name]);
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
    image_.test = one.text + "\n";
  }
}

}  // namespace

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
