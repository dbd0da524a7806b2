// ImageSpec → TwinImage, and the comparison.
#include "factory/twin/twin.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/twin/twin_reading.h"

namespace kiln {

bool TokenCursor::is_assignment() const {
  return at_->kind == ShellToken::Kind::word && !assigned_name(at_->raw).empty();
}

bool TokenCursor::accept(std::string_view raw) {
  if (done() || at_->raw != raw || at_->kind == ShellToken::Kind::line_end) return false;
  ++at_;
  return true;
}

bool TokenCursor::accept_all(std::string_view raw) {
  while (!raw.empty()) {
    std::size_t blank = raw.find(' ');
    if (!accept(raw.substr(0, blank))) return false;
    raw = blank == std::string_view::npos ? "" : raw.substr(blank + 1);
  }
  return true;
}

std::optional<std::string> TokenCursor::next_word() {
  if (done() || at_->kind != ShellToken::Kind::word || !at_->literal) return std::nullopt;
  return (at_++)->text;
}

// NAME='value' … /bin/sh -eu SCRIPT
static bool read_environment_and_script(TokenCursor& cursor, const std::vector<std::string>& always,
                                        TwinScript& script) {
  std::vector<const ShellToken*> words;
  while (!cursor.done() && cursor.is_assignment()) words.push_back(&cursor.next());
  if (words.size() < always.size()) return false;
  std::size_t own = words.size() - always.size();
  for (std::size_t i = 0; i < always.size(); ++i)
    if (words[own + i]->raw != always[i]) return false;
  for (std::size_t i = 0; i < own; ++i) {
    if (!words[i]->literal) return false;
    std::size_t equals = words[i]->text.find('=');
    script.parameters.emplace_back(words[i]->text.substr(0, equals), words[i]->text.substr(equals + 1));
  }
  if (!cursor.accept_all("/bin/sh -eu")) return false;
  auto file = cursor.next_word();
  if (!file) return false;
  script.script = std::move(*file);
  return true;
}

std::optional<TwinScript> read_script(TokenCursor& cursor, std::string_view folder,
                                      const std::vector<std::string>& always) {
  TwinScript script;
  if (!cursor.accept("cd")) return std::nullopt;
  auto path = cursor.next_word();
  if (!path || !path->starts_with(folder) || path->size() < folder.size() + 2 ||
      (*path)[folder.size()] != '/')
    return std::nullopt;
  script.folder = path->substr(folder.size() + 1);
  if (!cursor.accept_all("&& exec env") || !read_environment_and_script(cursor, always, script))
    return std::nullopt;
  return script;
}

namespace {

TwinScript script_of(const Step& step) {
  return {
      script_folder_of(step), step.script, {step.parameters.begin(), step.parameters.end()}, 0, step.secrets};
}

std::string reference_of(const Step& base) {
  return base.reference.starts_with("docker://") ? base.reference.substr(9) : base.reference;
}

// Root file systems are numbered with the pulled images, in the order in which stages start from them.
std::vector<std::string> archives_of(const ImageSpec& spec) {
  std::vector<std::string> keys;
  std::vector<std::string> archives;
  for (const Stage& stage : spec.stages) {
    const Step& base = stage.steps.at(0);
    auto known = std::ranges::find(keys, base.key);
    auto number = static_cast<std::size_t>(known - keys.begin()) + 1;
    if (known == keys.end()) keys.push_back(base.key);
    archives.push_back(base.kind == StepKind::rootfs
                           ? (number == 1 ? "rootfs.tar" : fmt::format("rootfs-{}.tar", number))
                           : "");
  }
  return archives;
}

std::size_t stage_that_ends_in(const ImageSpec& spec, const std::string& key, std::size_t before) {
  for (std::size_t i = before; i > 0; --i)
    if (spec.stages[i - 1].steps.back().key == key) return i - 1;
  throw Error(ExitCode::input, fmt::format("no stage ends in the step {}", key.substr(0, 12)));
}

// `whole_copies`: a copy of several paths is one step.
TwinImage twin_of(const ImageSpec& spec, bool whole_copies) {
  TwinImage image;
  std::vector<std::string> archives = archives_of(spec);
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const Stage& stage = spec.stages[i];
    TwinStage out{archives[i].empty() ? reference_of(stage.steps[0]) : archives[i], {}, 0};
    for (std::size_t j = 1; j < stage.steps.size(); ++j) {
      const Step& step = stage.steps[j];
      std::size_t from = step.from.empty() ? 0 : stage_that_ends_in(spec, step.from, i);
      if (step.kind != StepKind::copy) {
        out.steps.push_back({script_of(step), from, step.mount, 0});
        continue;
      }
      if (whole_copies) out.steps.push_back({{}, from, step.copy, 0});
      for (const std::string& path : step.copy)
        if (!whole_copies) out.steps.push_back({{}, from, {path}, 0});
    }
    image.stages.push_back(std::move(out));
  }
  for (const Step& test : spec.tests) image.tests.push_back(script_of(test));
  image.environment = {spec.environment.begin(), spec.environment.end()};
  image.command = spec.command;
  return image;
}

// Compares one file with the plan, in the order in which a reader goes through it.
class Comparison {
 public:
  Comparison(const std::string& file, std::vector<std::string>& differences)
      : file_(file), differences_(differences) {}
  void images(const TwinImage& planned, const TwinImage& read);

 private:
  void stage(const TwinStage& planned, const TwinStage& read, const std::string& where);
  void step(const TwinStep& planned, const TwinStep& read, const std::string& where);
  void script(const TwinScript& planned, const TwinScript& read, const std::string& where);
  void named(const NamedWords& planned, const NamedWords& read, const std::string& what, int line);
  bool counts(std::size_t planned, std::size_t read, const std::string& what, int line);
  void word(const std::string& planned, const std::string& read, const std::string& what, int line) {
    if (planned != read) add(line, fmt::format("{} is '{}', the plan has '{}'", what, read, planned));
  }
  void add(int line, const std::string& text) {
    differences_.push_back(line == 0 ? fmt::format("{}: {}", file_, text)
                                     : fmt::format("{}:{}: {}", file_, line, text));
  }

  const std::string& file_;
  std::vector<std::string>& differences_;
};

bool Comparison::counts(std::size_t planned, std::size_t read, const std::string& what, int line) {
  if (planned != read) add(line, fmt::format("{} {}, the plan has {}", read, what, planned));
  return planned == read;
}

void Comparison::images(const TwinImage& planned, const TwinImage& read) {
  if (counts(planned.stages.size(), read.stages.size(), "stages", 0)) {
    for (std::size_t i = 0; i < planned.stages.size(); ++i)
      stage(planned.stages[i], read.stages[i], fmt::format("stage {}", i + 1));
  }
  if (counts(planned.tests.size(), read.tests.size(), "tests", 0)) {
    for (std::size_t i = 0; i < planned.tests.size(); ++i)
      script(planned.tests[i], read.tests[i], fmt::format("test {}", i + 1));
  }
  named(planned.environment, read.environment, "the image's environment", 0);
  named(planned.labels, read.labels, "the labels", 0);
  if (counts(planned.command.size(), read.command.size(), "words in the command", 0)) {
    for (std::size_t i = 0; i < planned.command.size(); ++i)
      word(planned.command[i], read.command[i], fmt::format("word {} of the command", i + 1), 0);
  }
}

void Comparison::stage(const TwinStage& planned, const TwinStage& read, const std::string& where) {
  word(planned.base, read.base, where + ": the base", read.line);
  if (!counts(planned.steps.size(), read.steps.size(), "steps in " + where, read.line)) return;
  for (std::size_t i = 0; i < planned.steps.size(); ++i)
    step(planned.steps[i], read.steps[i], fmt::format("{}, step {}", where, i + 1));
}

void Comparison::step(const TwinStep& planned, const TwinStep& read, const std::string& where) {
  bool copies = planned.run.script.empty();
  if (copies != read.run.script.empty())
    return add(read.line, fmt::format("{} {}, the plan {}", where, copies ? "runs a script" : "copies",
                                      copies ? "copies" : "runs a script"));
  if (!copies) script(planned.run, read.run, where);
  const char* does = copies ? "copies" : "mounts";
  if (planned.from != read.from)
    add(read.line,
        fmt::format("{} {} from stage {}, the plan from {}", where, does, read.from + 1, planned.from + 1));
  if (planned.paths != read.paths)
    add(read.line, fmt::format("{} {} {}, the plan {}", where, does, fmt::join(read.paths, " "),
                               fmt::join(planned.paths, " ")));
}

void Comparison::script(const TwinScript& planned, const TwinScript& read, const std::string& where) {
  word(planned.folder, read.folder, where + ": the script's folder", read.line);
  word(planned.script, read.script, where + ": the script", read.line);
  named(planned.parameters, read.parameters, where + ": the parameters", read.line);
  if (planned.secrets != read.secrets)
    add(read.line, fmt::format("{}: the secrets are '{}', the plan has '{}'", where,
                               fmt::join(read.secrets, " "), fmt::join(planned.secrets, " ")));
}

void Comparison::named(const NamedWords& planned, const NamedWords& read, const std::string& what, int line) {
  if (planned == read) return;
  std::size_t before = differences_.size();
  auto find = [](const NamedWords& words, const std::string& name) {
    return std::ranges::find_if(words, [&](const auto& one) { return one.first == name; });
  };
  for (const auto& [name, value] : planned) {
    auto found = find(read, name);
    if (found == read.end()) {
      add(line, fmt::format("{} lack {}", what, name));
    } else {
      word(value, found->second, fmt::format("{}: {}", what, name), line);
    }
  }
  for (const auto& [name, value] : read) {
    if (find(planned, name) == planned.end())
      add(line, fmt::format("{} have {}='{}', which the plan has not", what, name, value));
  }
  if (differences_.size() == before) add(line, fmt::format("{} are in another order or twice", what));
}

// `parse` answers the file as its format has it.
template <typename Parse>
std::vector<std::string> differences_of(const std::string& file, const TwinImage& planned, Parse parse) {
  std::vector<std::string> differences;
  try {
    compare_twins(planned, read_twin(parse(file), differences), file, differences);
  } catch (const Error& error) {
    differences.push_back(error.format());
  }
  return differences;
}

}  // namespace

std::string script_folder_of(const Step& step) {
  std::string folder = step.component;
  std::ranges::replace(folder, '/', '-');
  return folder;
}

TwinImage twin_for_dockerfile(const ImageSpec& spec) {
  TwinImage image = twin_of(spec, false);
  image.labels = {spec.labels.begin(), spec.labels.end()};
  return image;
}

TwinImage twin_for_definition(const ImageSpec& spec) {
  TwinImage image = twin_of(spec, true);
  for (const auto& [name, value] : spec.labels) {
    std::string_view kept = trim(value);
    if (!value.empty()) image.labels.emplace_back(name, kept);
  }
  if (image.command.empty()) image.command = {"/bin/sh"};
  for (TwinStage& stage : image.stages) {
    for (TwinStep& step : stage.steps) step.run.secrets.clear();
    std::size_t tag = stage.base.find(':', 4);
    if (stage.base.starts_with("oci:") && tag != std::string::npos) stage.base.resize(tag);
  }
  return image;
}

void compare_twins(const TwinImage& planned, const TwinImage& read, const std::string& file,
                   std::vector<std::string>& differences) {
  Comparison(file, differences).images(planned, read);
}

std::vector<std::string> dockerfile_differences(const ImageSpec& spec, std::string_view text) {
  return differences_of("Dockerfile", twin_for_dockerfile(spec),
                        [&](const std::string& file) { return parse_dockerfile(text, file); });
}

std::vector<std::string> definition_differences(const ImageSpec& spec, std::string_view text) {
  return differences_of("Singularity.def", twin_for_definition(spec),
                        [&](const std::string& file) { return parse_definition(text, file); });
}

std::vector<std::string> twin_differences(const ImageSpec& spec, std::string_view dockerfile_text,
                                          std::string_view definition_text) {
  std::vector<std::string> differences = dockerfile_differences(spec, dockerfile_text);
  for (std::string& line : definition_differences(spec, definition_text))
    differences.push_back(std::move(line));
  return differences;
}

}  // namespace kiln
