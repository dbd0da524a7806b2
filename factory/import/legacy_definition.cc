// Definition file → LegacyImage.
#include <fmt/format.h>

#include <algorithm>

#include "base/default_path.h"
#include "base/quote.h"
#include "base/reading.h"
#include "base/text.h"
#include "import/legacy_image.h"
#include "import/legacy_names.h"
#include "import/legacy_script.h"
#include "oci/documents.h"
#include "source/file_names.h"

namespace kiln {
namespace {

constexpr int kMaxLocalImages = 8;

class DefinitionImport {
 public:
  DefinitionImport(const LegacyTree& tree, LegacyImage& image, int depth)
      : tree_(tree), image_(image), facts_(image), depth_(depth) {}
  void read(const DefinitionFile& file);

 private:
  void start_from(const DefinitionFile& file, const DefinitionStage& stage);
  void start_from_local(const DefinitionStage& stage, const HeaderField& from);
  void section(const DefinitionFile& file, const DefinitionSection& section);
  void post(const DefinitionSection& section, LegacyScript& script);
  void files(const DefinitionFile& file, const DefinitionSection& section);
  void files_from(const DefinitionFile& file, const DefinitionSection& section);
  void environment(const DefinitionSection& section);
  void variable(const std::string& word, int line);
  std::function<int(std::size_t)> lines_of(const DefinitionSection& section) const;

  const LegacyTree& tree_;
  LegacyImage& image_;
  FactReader facts_;
  LegacyScript script_;
  int depth_;
};

std::function<int(std::size_t)> DefinitionImport::lines_of(const DefinitionSection& section) const {
  return [&section](std::size_t offset) {
    auto end = section.body.begin() + static_cast<std::ptrdiff_t>(std::min(offset, section.body.size()));
    return section.place.line + 1 + static_cast<int>(std::count(section.body.begin(), end, '\n'));
  };
}

void DefinitionImport::read(const DefinitionFile& file) {
  const DefinitionStage& last = file.stages.back();
  start_from(file, last);
  // In the order in which Apptainer runs them.
  for (const char* name : {"files", "post", "environment", "test"})
    for (const DefinitionSection& one : last.sections)
      if (one.name == name) section(file, one);
  for (const DefinitionSection& one : last.sections)
    if (one.name != "files" && one.name != "post" && one.name != "environment" && one.name != "test")
      section(file, one);
  std::string own = script_.text();
  if (!own.empty()) image_.body = (image_.body.empty() ? LegacyScript::head(image_.path) : image_.body) + own;
  if (!image_.build_body.empty()) image_.build_body.insert(0, LegacyScript::head(image_.path));
  facts_.finish();
}

void DefinitionImport::start_from(const DefinitionFile& file, const DefinitionStage& stage) {
  std::string agent = lower_case(stage.value("bootstrap"));
  const HeaderField* from = stage.find("from");
  if (agent == "localimage" && from != nullptr) return start_from_local(stage, *from);
  if (agent != "docker" || from == nullptr)
    refuse_at(file.file, stage.place,
              fmt::format("'Bootstrap: {}' is nothing that kiln can start from", agent),
              "only images of a registry (Bootstrap: docker), and definition files of the same folder "
              "(localimage)");
  std::string reference = from->value;
  if (reference.starts_with("docker://")) reference.erase(0, 9);
  while (reference.starts_with('/')) reference.erase(0, 1);
  image_.base = {reference, from->place.line};
}

// `From: base.sif` that a definition file of this folder makes: its steps come first.
void DefinitionImport::start_from_local(const DefinitionStage& stage, const HeaderField& from) {
  std::string name = fs::path(from.value).stem().string();
  for (const std::string& path : tree_.paths) {
    if (path == image_.path || !is_definition_name(fs::path(path).filename().string()) ||
        stem_of(path) != lower_case(name))
      continue;
    if (depth_ >= kMaxLocalImages)
      refuse_at(image_.path, stage.place, "local images start from each other in a circle");
    LegacyImage parent;
    parent.path = path;
    parent.stem = stem_of(path);
    DefinitionImport(tree_, parent, depth_ + 1)
        .read(parse_definition(tree_.files.read(tree_.root / path).value_or(""),
                               path));  // its own errors name it
    image_.base = {parent.base.value, from.place.line};
    image_.body = parent.body;
    image_.build_body = parent.build_body;
    image_.copies = parent.copies;
    image_.environment = parent.environment;
    image_.files = parent.files;
    image_.facts = parent.facts;
    image_.parents = parent.parents;
    image_.parents.push_back(path);
    image_.note(from.place.line, "local-image",
                fmt::format("{} is made by {}: its steps are part of this one", from.value, path));
    return;
  }
  refuse_at(image_.path, from.place, fmt::format("no definition file of this folder makes '{}'", from.value));
}

void DefinitionImport::section(const DefinitionFile& file, const DefinitionSection& section) {
  int line = section.place.line;
  if (section.name == "files")
    return section.arguments.empty() ? files(file, section) : files_from(file, section);
  if (section.name == "post") return post(section, script_);
  if (section.name == "environment") return environment(section);
  if (section.name == "test") {
    image_.test += section.body;
    return;
  }
  if (section.name == "help") return;
  if (section.name == "arguments")
    return image_.note(line, "argument", "%arguments: the defaults are filled in");
  if (section.name == "labels") return image_.note(line, "label", "%labels: kiln writes the labels");
  std::string reason = section.name == "setup" || section.name == "pre" ? "runs on the build host"
                       : section.name.starts_with("app")                ? "kiln's images have no apps"
                                                                        : "images of kiln start a shell";
  std::string rule = section.name.starts_with("app") ? "app"
                     : section.name == "runscript"   ? "command"
                                                     : section.name;
  image_.note(line, rule, fmt::format("%{}: {}", section.name, reason));
}

void DefinitionImport::post(const DefinitionSection& section, LegacyScript& script) {
  facts_.script(section.body, lines_of(section));
  script.comment(section.place.line, "%post");
  if (section.arguments.empty()) return script.block(section.body, true);
  if (!section.arguments.starts_with("-c ")) {
    image_.note(section.place.line, "post-arguments", fmt::format("%post {}", section.arguments));
    return script.block(section.body, true);
  }
  script.add(fmt::format("{} -ec {}", section.arguments.substr(3), shell_text_word(section.body)));
}

void DefinitionImport::files(const DefinitionFile&, const DefinitionSection& section) {
  script_.comment(section.place.line, "%files");
  for (const FilePair& pair : section.files()) {
    std::string file = take_local(tree_, image_, pair.source, pair.place.line);
    if (file.empty()) continue;
    std::string destination = pair.destination.empty() ? "/" + pair.source : pair.destination;
    std::string parent = destination.substr(0, destination.rfind('/') + 1);
    script_.add(fmt::format("mkdir -p {}\ncp -R \"$kiln_files\"/{} {}", shell_text_word(parent), file,
                            shell_text_word(destination)));
  }
}

void DefinitionImport::files_from(const DefinitionFile& file, const DefinitionSection& section) {
  for (const DefinitionStage& stage : file.stages) {
    if ("from " + stage.value("stage") != section.arguments || &stage == &file.stages.back()) continue;
    if (stage.value("from") != file.stages.back().value("from"))
      image_.note(stage.place.line, "build-base",
                  fmt::format("the build stage starts from {}, the image from {}: both get the image's",
                              stage.value("from"), file.stages.back().value("from")));
    LegacyScript build;
    for (const DefinitionSection& one : stage.sections) {
      if (one.name == "post") {
        post(one, build);
      } else if (one.name != "help" && one.name != "labels") {
        image_.note(one.place.line, "build-section", fmt::format("%{} of a build stage", one.name));
      }
    }
    if (image_.build_body.find(build.text()) == std::string::npos) image_.build_body += build.text();
    for (const FilePair& pair : section.files()) {
      std::string to = pair.destination.empty() ? pair.source : pair.destination;
      if (to != pair.source)
        image_.build_body +=
            fmt::format("mkdir -p {}\ncp -a {} {}\n", shell_text_word(to.substr(0, to.rfind('/') + 1)),
                        shell_text_word(pair.source), shell_text_word(to));
      image_.copies.push_back(to);
    }
    return;
  }
  image_.note(section.place.line, "copy-from",
              fmt::format("%files {}: there is no such stage", section.arguments));
}

void DefinitionImport::environment(const DefinitionSection& section) {
  auto line_of = lines_of(section);
  for (const ShellCommand& command : read_shell(section.body).commands) {
    if (command.words.empty() || command.in_substitution) continue;
    const std::string& first = command.lead.empty() ? command.words[0].raw : command.lead;
    bool exports = first == "export";
    bool plain = command.depth == 0 && (exports || first.find('=') != std::string::npos);
    if (!plain) {
      image_.note(line_of(command.span.begin), "environment",
                  fmt::format("'{} …' in %environment", first.substr(0, 40)));
      continue;
    }
    for (std::size_t at = exports ? 1 : 0; at < command.words.size(); ++at)
      variable(command.words[at].raw, line_of(command.words[at].span.begin));
  }
}

void DefinitionImport::variable(const std::string& word, int line) {
  std::size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  if (equals == std::string::npos) return;  // `export NAME` of one that is set already
  if (!is_variable_name(name) || word.find("$(") != std::string::npos || word.find('`') != std::string::npos)
    return image_.note(line, "environment",
                       fmt::format("'{}' is known only when the image runs", word.substr(0, 60)));
  auto lookup = [&](std::string_view wanted) -> std::optional<std::string> {
    auto known = image_.environment.find(std::string(wanted));
    if (known != image_.environment.end()) return known->second.value;
    if (wanted == "PATH") {
      image_.note(line, "base-path", "the base's PATH is not known here: the usual one is written out");
      return kDefaultPath;
    }
    image_.note(line, "unset-variable", fmt::format("${} has no value in this file", wanted));
    return std::nullopt;
  };
  std::string value = expand_docker_word(word.substr(equals + 1), lookup, '\\', image_.path, {line, 1});
  value = without_open_end(name, std::move(value));
  image_.set_environment(name, value, line);
}

}  // namespace

LegacyImage read_legacy_definition(const LegacyTree& tree, const std::string& path, const std::string& text) {
  LegacyImage image;
  image.path = path;
  image.stem = stem_of(path);
  DefinitionImport(tree, image, 0).read(parse_definition(text, path));
  return image;
}

}  // namespace kiln
