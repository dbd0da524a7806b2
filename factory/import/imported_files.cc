// What the names of Dockerfiles and definition files say.
#include "factory/import/imported_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "factory/base/text.h"
#include "factory/import/legacy_bases.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_names.h"
#include "factory/source/definition_file.h"
#include "factory/source/dockerfile.h"
#include "factory/source/source_file.h"

namespace kiln {

FormName form_name_of(const std::string& path) {
  FormName form;
  form.stem = lower_case(last_part(path));
  form.docker = is_dockerfile_name(form.stem);
  bool definition = !form.docker && is_definition_name(form.stem);
  for (std::string_view ending : {".dockerfile", ".containerfile", ".def"})
    if (form.stem.ends_with(ending) && form.docker == (ending != ".def"))
      form.stem.resize(form.stem.size() - ending.size());
  for (std::string_view word : {"dockerfile", "containerfile", "singularity", "apptainer"}) {
    bool fits = word.ends_with("file") ? form.docker : definition;
    if (!fits || !begins_with(form.stem, word)) continue;
    form.stem.erase(0, word.size());
    form.bare = form.stem.find_first_not_of(".-_") == std::string::npos;
    const std::string place = place_of(path);
    form.stem = form.bare ? lower_case(last_part(place.substr(0, place.size() - (place.empty() ? 0 : 1))))
                          : form.stem.substr(1);
    break;
  }
  return form;
}

std::string stem_of(const std::string& path) { return form_name_of(path).stem; }

std::string place_of(const std::string& path) {
  std::string place;
  for (const fs::path& part : fs::path(path).parent_path())
    if (!is_one_of(lower_case(part.string()),
                   "docker dockerfiles dockerfile singularity apptainer def defs definitions"))
      place += part.string() + "/";
  return place;
}

std::string twin_key_of(const std::string& path) { return place_of(path) + stem_of(path); }

namespace {

struct Form {
  std::string path;
  FormName name;
  std::string folder;
  std::string place;
  bool paired = false;
};

// Those of one folder, place or name.
struct Group {
  std::vector<Form*> docker;
  std::vector<Form*> definitions;
  void add(Form& form) { (form.name.docker ? docker : definitions).push_back(&form); }
};

std::vector<Form*> unpaired(const std::vector<Form*>& forms) {
  std::vector<Form*> out;
  std::ranges::copy_if(forms, std::back_inserter(out), [](const Form* one) { return !one->paired; });
  return out;
}

std::string file_names(const std::vector<Form*>& forms) {
  std::string out;
  for (const Form* one : forms) out += (out.empty() ? "" : ", ") + std::string(last_part(one->path));
  return out;
}

class Pairing {
 public:
  explicit Pairing(const std::vector<std::string>& paths);
  TwinPairs run();

 private:
  using KeyOf = std::function<std::string(const Form&)>;
  std::map<std::string, Group> groups(const KeyOf& key_of);
  void same_name(const KeyOf& key_of);
  void alone_together(const KeyOf& key_of);
  void pair(Form& docker, Form& definition, bool only = false);
  void tell_same_names();
  void tell_neighbours();

  std::vector<Form> forms_;
  TwinPairs out_;
};

Pairing::Pairing(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    forms_.push_back({path, form_name_of(path), fs::path(path).parent_path().string(), place_of(path)});
  auto order = [](const Form& form) { return std::tie(form.place, form.name.stem, form.path); };
  std::ranges::sort(forms_, {}, order);
}

std::map<std::string, Group> Pairing::groups(const KeyOf& key_of) {
  std::map<std::string, Group> out;
  for (Form& form : forms_) out[key_of(form)].add(form);
  return out;
}

void Pairing::pair(Form& docker, Form& definition, bool only) {
  docker.paired = definition.paired = true;
  out_.pairs.push_back({docker.path, definition.path, only});
}

// One Dockerfile and one definition file of a name.
void Pairing::same_name(const KeyOf& key_of) {
  for (auto& [key, group] : groups(key_of)) {
    std::vector<Form*> docker = unpaired(group.docker);
    std::vector<Form*> definitions = unpaired(group.definitions);
    if (docker.size() == 1 && definitions.size() == 1) pair(*docker[0], *definitions[0]);
  }
}

// The only Dockerfile and the only definition file, one of which has no name of its own.
void Pairing::alone_together(const KeyOf& key_of) {
  for (auto& [key, group] : groups(key_of)) {
    if (group.docker.size() != 1 || group.definitions.size() != 1) continue;
    Form& docker = *group.docker[0];
    Form& definition = *group.definitions[0];
    if (!docker.paired && !definition.paired && (docker.name.bare || definition.name.bare))
      pair(docker, definition, true);
  }
}

void Pairing::tell_same_names() {
  for (auto& [key, group] : groups([](const Form& form) { return form.place + form.name.stem; })) {
    std::vector<Form*> left = unpaired(group.docker);
    std::vector<Form*> definitions = unpaired(group.definitions);
    if (left.empty() || definitions.empty() || left.size() + definitions.size() == 2) continue;
    left.insert(left.end(), definitions.begin(), definitions.end());
    std::string others = file_names({left.begin() + 1, left.end()});
    out_.notes.push_back({left[0]->path, 0, "twins",
                          fmt::format("{} have the same name: each becomes a separate image", others)});
    for (Form* one : left) one->paired = true;  // enough is said of them
  }
}

// A Dockerfile without a name of its own could be the twin of each definition file beside it, and the other
// way about.
void Pairing::tell_neighbours() {
  for (auto& [folder, group] : groups([](const Form& form) { return form.folder; })) {
    auto tell = [&](const std::vector<Form*>& from, const std::vector<Form*>& others, const char* what) {
      auto bare = std::ranges::find_if(from, [](const Form* one) { return one->name.bare; });
      if (bare == from.end() || others.empty()) return false;
      out_.notes.push_back(
          {(*bare)->path, 0, "twins",
           fmt::format("{} {}{} next to it ({}): each becomes a separate image; give two files the same name "
                       "to make them twins, Dockerfile.x and Singularity.x",
                       others.size(), what, others.size() == 1 ? " is" : "s are", file_names(others))});
      return true;
    };
    std::vector<Form*> docker = unpaired(group.docker);
    std::vector<Form*> definitions = unpaired(group.definitions);
    if (!tell(docker, definitions, "definition file")) tell(definitions, docker, "Dockerfile");
  }
}

TwinPairs Pairing::run() {
  const KeyOf folder = [](const Form& form) { return form.folder; };
  const KeyOf place = [](const Form& form) { return form.place; };
  same_name([](const Form& form) { return form.folder + "\n" + form.name.stem; });
  same_name([](const Form& form) { return form.place + "\n" + form.name.stem; });
  alone_together(folder);
  alone_together(place);
  for (const Form& form : forms_)
    if (!form.paired)
      out_.pairs.push_back(form.name.docker ? TwinPair{form.path, ""} : TwinPair{"", form.path});
  tell_same_names();
  tell_neighbours();
  auto key = [](const TwinPair& pair) {
    return twin_key_of(pair.docker.empty() ? pair.definition : pair.docker);
  };
  std::ranges::stable_sort(out_.pairs, {}, key);
  return std::move(out_);
}

}  // namespace

TwinPairs pair_twins(const std::vector<std::string>& paths) { return Pairing(paths).run(); }

namespace {

constexpr std::string_view kFirstLine = "# Generated by kiln from ";  // render's generated_line()

using Labels = std::map<std::string, std::string>;

Labels labels_of_dockerfile(const std::string& path, const std::string& text) {
  Labels labels;
  const Dockerfile file = parse_dockerfile(text, path);
  for (const DockerStage& stage : file.stages)
    for (const DockerInstruction& one : stage.instructions)
      for (const DockerPair& pair : one.pairs)
        if (one.verb == DockerVerb::label)
          labels[pair.name] = expand_docker_word(
              pair.value, [](std::string_view) { return std::nullopt; }, file.escape, path, pair.place);
  return labels;
}

Labels labels_of_definition(const std::string& path, const std::string& text) {
  Labels labels;
  for (const DefinitionStage& stage : parse_definition(text, path).stages)
    for (const DefinitionSection& section : stage.sections)
      if (section.name == "labels")
        for (const NamedValue& label : section.labels()) labels[label.name] = label.value;
  return labels;
}

}  // namespace

std::optional<OwnOutput> read_own_output(const std::string& path, const std::string& text) {
  if (!text.starts_with(kFirstLine)) return std::nullopt;
  try {
    const bool docker = is_dockerfile_name(last_part(path));
    Labels labels = docker ? labels_of_dockerfile(path, text) : labels_of_definition(path, text);
    OwnOutput own{path, labels["io.kiln.cell"], labels["io.kiln.key"], {}};
    for (std::string_view component : split(labels["io.kiln.components"], ' '))
      own.recipes.insert(std::string(component.substr(0, component.find('@'))));
    own.recipes.erase("");
    if (own.cell.empty() || own.key.empty() || own.recipes.empty()) return std::nullopt;
    return own;
  } catch (const Error&) {
    return std::nullopt;  // whoever reads it as any other file says why
  }
}

std::string where_recipes_are(const std::set<std::string>& recipes) {
  constexpr std::size_t kMost = 12;
  std::string names;
  std::size_t number = 0;
  for (const std::string& one : recipes)
    if (++number <= kMost) names += (names.empty() ? "" : ", ") + one;
  if (recipes.size() > kMost) names += fmt::format(" and {} more", recipes.size() - kMost);
  return fmt::format("{} {}: change {} and generate again",
                     recipes.size() == 1 ? "the recipe is" : "the recipes are", names,
                     recipes.size() == 1 ? "that one" : "those");
}

// Where a Dockerfile and the definition file beside it disagree.

namespace {

// docker.io/library/ubuntu:18.04 is ubuntu:18.04.
std::string plain_reference(std::string reference) {
  if (reference.starts_with(kUndecidedRegistry))
    return "library://" + reference.substr(kUndecidedRegistry.size());
  for (std::string_view prefix : {"docker://", "docker.io/", "index.docker.io/", "library/"})
    if (reference.starts_with(prefix)) reference.erase(0, prefix.size());
  return reference.find_first_of(":@") == std::string::npos ? reference + ":latest" : reference;
}

class Drift {
 public:
  Drift(const LegacyImage& docker, const LegacyImage& definition)
      : docker_(docker), definition_(definition) {}

  std::vector<ImportDifference> find() {
    Said here{plain_reference(docker_.base.value), docker_.base.line};
    Said there{plain_reference(definition_.base.value), definition_.base.line};
    if (!(here == there)) add("base", &here, &there);
    compare("pip", docker_.facts.pip, definition_.facts.pip, true);
    compare("wheel", docker_.facts.wheels, definition_.facts.wheels, true);
    compare("conda", docker_.facts.conda, definition_.facts.conda, true);
    compare("package", docker_.facts.packages, definition_.facts.packages, true);
    compare("clone", docker_.facts.clones, definition_.facts.clones, true);
    compare("download", docker_.facts.downloads, definition_.facts.downloads, true);
    compare("option", docker_.facts.options, definition_.facts.options, true);
    compare("environment", docker_.environment, definition_.environment, true);
    // What is exported while building counts where both say something.
    compare("setting", docker_.facts.settings, definition_.facts.settings, false);
    std::ranges::sort(out_, {}, [](const auto& one) { return std::tie(one.line, one.other_line, one.what); });
    return std::move(out_);
  }

 private:
  void compare(const std::string& what, const SaidMap& here, const SaidMap& there, bool missing) {
    std::set<std::string> names;
    for (const SaidMap* map : {&here, &there})
      for (const auto& [name, said] : *map) names.insert(name);
    for (const std::string& name : names) {
      auto left = here.find(name);
      auto right = there.find(name);
      bool both = left != here.end() && right != there.end();
      if (both ? left->second == right->second : !missing) continue;
      // Only the build sees it, and a definition file has it in %post.
      if (what == "environment" && (known_setting(name, both))) continue;
      if (what == "setting" && docker_.environment.contains(name) && definition_.environment.contains(name))
        continue;
      add(what + " " + name, left == here.end() ? nullptr : &left->second,
          right == there.end() ? nullptr : &right->second);
    }
  }

  // A variable that one has in the image's environment and the other exports while building, with the same
  // value.
  bool known_setting(const std::string& name, bool both) const {
    if (both) return false;
    auto left = docker_.facts.settings.find(name);
    auto right = definition_.facts.settings.find(name);
    return left != docker_.facts.settings.end() && right != definition_.facts.settings.end();
  }

  void add(const std::string& what, const Said* here, const Said* there) {
    auto text = [](const Said* said) {
      return said == nullptr ? std::string() : said->value.empty() ? std::string("there") : said->value;
    };
    out_.push_back({what, docker_.path, here == nullptr ? 0 : here->line, text(here), definition_.path,
                    there == nullptr ? 0 : there->line, text(there)});
  }

  const LegacyImage& docker_;
  const LegacyImage& definition_;
  std::vector<ImportDifference> out_;
};

}  // namespace

std::vector<ImportDifference> twin_drift(const LegacyImage& docker, const LegacyImage& definition) {
  return Drift(docker, definition).find();
}

}  // namespace kiln
