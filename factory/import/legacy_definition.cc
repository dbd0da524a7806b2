// Definition file → LegacyImage.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/quote.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/import/legacy_bases.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_names.h"
#include "factory/import/legacy_script.h"

namespace kiln {
namespace {

constexpr std::size_t kMaxLocalImages = 32;

class DefinitionImport {
 public:
  // `way`: the definition files that led here, each of which starts from the next one's image.
  DefinitionImport(const LegacyTree& tree, LegacyImage& image, std::vector<std::string> way)
      : tree_(tree), image_(image), facts_(image), way_(std::move(way)) {}
  void read(const DefinitionFile& file);

 private:
  void start_from(const DefinitionFile& file, const DefinitionStage& stage);
  void start_from_local(const HeaderField& from);
  LegacyImage read_parent(const std::string& maker, const HeaderField& from) const;
  void section(const DefinitionFile& file, const DefinitionSection& section);
  void post(const DefinitionSection& section, LegacyScript& script);
  void files(const DefinitionFile& file, const DefinitionSection& section);
  void copy(const std::string& source, const std::string& destination, int line);
  void files_from(const DefinitionFile& file, const DefinitionSection& section);
  void environment(const DefinitionSection& section);
  void environment(const std::string& text, const std::function<int(std::size_t)>& line_of);
  bool reads_copied_file(const ShellCommand& command, int line);
  void variable(const std::string& word, int line);
  std::function<int(std::size_t)> lines_of(const DefinitionSection& section) const;

  const LegacyTree& tree_;
  LegacyImage& image_;
  FactReader facts_;
  LegacyScript script_;
  std::vector<std::string> way_;
  std::map<std::string, std::string> copied_;  // place in the image → path among image_.files
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
  if (!own.empty()) image_.body = LegacyScript::head(image_.path, image_.base.value) + own;
  if (!image_.build_body.empty())
    image_.build_body.insert(0, LegacyScript::head(image_.path, image_.base.value));
  facts_.finish();
}

void DefinitionImport::start_from(const DefinitionFile& file, const DefinitionStage& stage) {
  std::string agent = lower_case(stage.value("bootstrap"));
  const HeaderField* from = stage.find("from");
  const std::string written = from == nullptr ? agent : from->value;
  const int line = from == nullptr ? stage.place.line : from->place.line;
  if (std::string given = given_base(tree_, written, agent == "library"); !given.empty()) {
    image_.base = {given, line};
    image_.note_given_base(written, given, line);
    return;
  }
  if (agent == "localimage" && from != nullptr) return start_from_local(*from);
  std::string reference = written;
  for (const char* prefix : {"docker://", "library://"})
    if (reference.starts_with(prefix)) reference.erase(0, std::string_view(prefix).size());
  while (reference.starts_with('/')) reference.erase(0, 1);
  if (agent == "library" && from != nullptr) {
    image_.library = stage.value("library");
    reference.insert(0, kUndecidedRegistry);
  } else if (agent != "docker" || from == nullptr) {
    if (agent.empty()) refuse_at(file.file, stage.place, "the file has no 'Bootstrap:'", "Bootstrap: docker");
    refuse_at(file.file, stage.place,
              fmt::format("kiln starts from images of registries only, not from 'Bootstrap: {}'", agent),
              how_to_give_base(written));
  }
  image_.base = {reference, line};
}

// `From: base.sif` or `./base/`, a sandbox, that a definition file of this folder makes: a base of its own.
void DefinitionImport::start_from_local(const HeaderField& from) {
  const std::string maker = maker_of_local_image(tree_, image_.path, from.value);
  if (maker.empty())
    refuse_at(image_.path, from.place,
              fmt::format("no definition file of this folder makes '{}'", from.value),
              "put the file that makes it into the folder, or " + how_to_give_base(from.value));
  const LegacyImage parent = read_parent(maker, from);
  image_.base = {parent.base.value, from.place.line};

  image_.base_file = parent.base_file.empty() ? maker : parent.base_file;
  image_.base_line = parent.base_file.empty() ? parent.base.line : parent.base_line;
  image_.library = parent.library;
  image_.build_base = parent.build_base;
  image_.base_body = parent.base_body;
  for (const std::string* more : {&parent.build_body, &parent.body})
    if (!more->empty()) image_.base_body += (image_.base_body.empty() ? "" : "\n") + *more;
  image_.base_files = parent.base_files;
  image_.base_files.insert(parent.files.begin(), parent.files.end());
  image_.environment = parent.environment;
  image_.facts = parent.facts;
  image_.parents = parent.parents;
  image_.parents.push_back(maker);
  image_.note(from.place.line, "local-image",
              fmt::format("{} is made by {}, which becomes the base", from.value, maker));
}

LegacyImage DefinitionImport::read_parent(const std::string& maker, const HeaderField& from) const {
  std::vector<std::string> way = way_;
  way.push_back(image_.path);
  if (contains(way, maker))
    refuse_at(
        image_.path, from.place,
        fmt::format("local images start from each other in a circle: {} → {}", fmt::join(way, " → "), maker),
        how_to_give_base(from.value));
  if (way.size() > kMaxLocalImages)
    refuse_at(image_.path, from.place,
              fmt::format("more than {} local images start from each other", kMaxLocalImages));
  LegacyImage parent;
  parent.path = maker;
  parent.stem = stem_of(maker);
  try {
    DefinitionImport(tree_, parent, way).read(parse_definition(read_definition_text(tree_, maker), maker));
  } catch (const Error& error) {
    // The innermost mistake is told of its own file, too: once is enough here.
    refuse_at(image_.path, from.place,
              fmt::format("kiln cannot import {1}, which makes '{0}'", from.value, maker),
              error.where().file == maker ? "the reason is reported at that file"
                                          : "the reason is reported at " + error.where().file);
  }
  return parent;
}

void DefinitionImport::section(const DefinitionFile& file, const DefinitionSection& section) {
  int line = section.place.line;
  if (section.name == "files")
    return section.arguments.empty() ? files(file, section) : files_from(file, section);
  if (section.name == "post") return post(section, script_);
  if (section.name == "environment") return environment(section);
  if (section.name == "test") {
    image_.test += names_interpreter(section.body) ? run_by_interpreter(section.body) : section.body;
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
  auto line_of = lines_of(section);
  facts_.script(section.body, line_of);
  script.comment(section.place.line, "%post");
  const PostScript adapted = adapt_post(section.body);
  for (const PostNote& one : adapted.notes) image_.note(line_of(one.offset), one.rule, one.text);
  for (const PostVariable& one : adapted.environment) variable(one.word, line_of(one.offset));
  if (adapted.writes_environment)
    script.add("export SINGULARITY_ENVIRONMENT=/dev/null APPTAINER_ENVIRONMENT=/dev/null");
  if (section.arguments.empty()) return script.block(adapted.text, true);
  if (!section.arguments.starts_with("-c ")) {
    image_.note(section.place.line, "post-arguments", fmt::format("%post {}", section.arguments));
    return script.block(adapted.text, true);
  }
  script.add(fmt::format("{} -ec {}", section.arguments.substr(3), shell_text_word(adapted.text)));
}

void DefinitionImport::files(const DefinitionFile&, const DefinitionSection& section) {
  script_.comment(section.place.line, "%files");
  for (const FilePair& pair : section.files())
    for (const std::string& source : matching_sources(tree_, image_, pair.source))
      copy(source, pair.destination.empty() ? "/" + source : pair.destination, pair.place.line);
}

void DefinitionImport::copy(const std::string& source, const std::string& destination, int line) {
  const std::string file = copy_from_tree(tree_, image_, source, line);
  if (file.empty()) return;
  copied_[destination.ends_with('/') ? destination + std::string(last_part(file)) : destination] = file;
  script_.add(fmt::format("{}\ncp -R \"$kiln_files\"/{} {}", make_folder_of(destination), file,
                          shell_text_word(destination)));
  if (std::string more = make_runnable(image_, file, destination); !more.empty()) script_.add(more);
}

void DefinitionImport::files_from(const DefinitionFile& file, const DefinitionSection& section) {
  for (const DefinitionStage& stage : file.stages) {
    if ("from " + stage.value("stage") != section.arguments || &stage == &file.stages.back()) continue;
    if (stage.value("from") != file.stages.back().value("from"))
      image_.note_build_base(stage.value("from"), stage.place.line);
    LegacyScript build;
    for (const DefinitionSection& one : stage.sections) {
      if (one.name == "post") {
        post(one, build);
      } else if (one.name != "help" && one.name != "labels") {
        image_.note(one.place.line, "build-section", fmt::format("%{} of a build stage", one.name));
      }
    }
    if (!contains(image_.build_body, build.text())) image_.build_body += build.text();
    for (const FilePair& pair : section.files()) {
      std::string to = pair.destination.empty() ? pair.source : pair.destination;
      if (to != pair.source) image_.build_body += move_path(pair.source, to);
      image_.copies.push_back(to);
    }
    return;
  }
  image_.note(section.place.line, "copy-from",
              fmt::format("%files {}: there is no such stage", section.arguments));
}

void DefinitionImport::environment(const DefinitionSection& section) {
  environment(section.body, lines_of(section));
}

void DefinitionImport::environment(const std::string& text, const std::function<int(std::size_t)>& line_of) {
  for (const ShellCommand& command : read_shell(text).commands) {
    if (command.words.empty() || command.in_substitution) continue;
    const std::string& first = command.lead.empty() ? command.words[0].raw : command.lead;
    bool exports = first == "export";
    bool plain = command.depth == 0 && (exports || contains(first, '='));
    if (!plain && reads_copied_file(command, line_of(command.span.begin))) continue;
    if (!plain) {
      image_.note(line_of(command.span.begin), "environment",
                  fmt::format("'{} …' in %environment", first.substr(0, 40)));
      continue;
    }
    for (std::size_t at = exports ? 1 : 0; at < command.words.size(); ++at)
      variable(command.words[at].raw, line_of(command.words[at].span.begin));
  }
}

// `. FILE` of a file that %files brings along: what it sets counts as said here.
bool DefinitionImport::reads_copied_file(const ShellCommand& command, int line) {
  const std::string& program = command.words[0].raw;
  if ((program != "." && program != "source") || command.words.size() != 2 || command.depth > 0) return false;
  auto copied = copied_.find(command.words[1].text);
  auto file = copied == copied_.end() ? image_.files.end() : image_.files.find(copied->second);
  if (file == image_.files.end()) return false;
  copied_.erase(copied);  // a file that reads itself ends here
  environment(std::string(file->second), [line](std::size_t) { return line; });
  return true;
}

void DefinitionImport::variable(const std::string& word, int line) {
  std::size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  if (equals == std::string::npos) return;  // `export NAME` of one that is set already
  if (!is_variable_name(name) || contains(word, "$(") || contains(word, '`'))
    return image_.note(line, "environment",
                       fmt::format("'{}' is known only when the image runs", word.substr(0, 60)));
  const BaseValues base = base_values_of(image_.base.value);
  auto lookup = [&](std::string_view wanted) -> std::optional<std::string> {
    auto known = image_.environment.find(std::string(wanted));
    if (known != image_.environment.end()) return known->second.value;
    return value_from_base(image_, wanted, base, line);
  };
  try {
    const std::string value =
        expand_docker_word(word.substr(equals + 1), lookup, '\\', image_.path, {line, 1});
    image_.set_environment(name, image_value(name, value, base), line);
  } catch (const Error&) {  // a form of ${} that only a shell knows
    image_.note(line, "environment",
                fmt::format("'{}' is known only when the image runs", word.substr(0, 60)));
  }
}

}  // namespace

LegacyImage read_legacy_definition(const LegacyTree& tree, const std::string& path, const std::string& text) {
  LegacyImage image;
  image.path = path;
  image.stem = stem_of(path);
  DefinitionImport(tree, image, {}).read(parse_definition(text, path));
  return image;
}

}  // namespace kiln
