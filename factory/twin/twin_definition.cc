// Definition file → TwinImage.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/render/render.h"
#include "factory/twin/twin_reading.h"

namespace kiln {
namespace {

constexpr std::string_view kRoot = "\"${APPTAINER_ROOTFS:-$SINGULARITY_ROOTFS}\"";
constexpr std::string_view kLabelsFile = "\"${APPTAINER_LABELS:-$SINGULARITY_LABELS}\"";
constexpr std::string_view kBaseEnvironment =
    "for file in /.singularity.d/env/10-docker*.sh; do if [ -e \"$file\" ]; then . \"$file\"; fi; done";

// One line of a script, continuations joined.
struct ScriptLine {
  TokenIterator begin;
  TokenIterator end;
  int line;
};

// What one stage hands to others, and takes.
struct Archives {
  std::map<std::string, std::vector<std::string>> made;  // archive → paths
  std::map<std::string, std::size_t> taken;              // archive → stage that it comes from
};

// The order in which the parts of %post stand.
enum class PostPart { umask, base_environment, site, steps, hand_on, clean, labels };

class DefinitionTwin {
 public:
  DefinitionTwin(const DefinitionFile& definition, std::vector<std::string>& problems)
      : definition_(definition), problems_(problems) {}
  TwinImage read();

 private:
  void read_stage(std::size_t index);
  void read_header(const DefinitionStage& stage);
  void read_section(const DefinitionSection& section, bool last);
  void read_setup(const DefinitionSection& section);
  void read_files(const DefinitionSection& section, bool last);
  void read_post(const DefinitionSection& section, bool last);
  bool read_post_line(const ScriptLine& line, bool last);
  bool in_part(PostPart part);
  bool read_step(TokenCursor cursor, int line);
  bool read_unpacking(TokenCursor cursor, int line);
  bool read_removal(TokenCursor cursor);
  bool read_packing(TokenCursor cursor);
  bool read_post_label(TokenCursor cursor);
  void finish_post(int line, bool last);
  void read_environment(const DefinitionSection& section);
  void read_test(const DefinitionSection& section);
  void read_runscript(const DefinitionSection& section);
  void read_labels(const DefinitionSection& section);
  std::vector<ScriptLine> lines_of(const DefinitionSection& section);
  void check_folders();
  void problem(int line, std::string_view what) {
    problems_.push_back(fmt::format("{}:{}: {}", definition_.file, line, what));
  }

  const DefinitionFile& definition_;
  std::vector<std::string>& problems_;
  const std::vector<std::string> always_ = always_there(true);
  TwinImage image_;
  std::vector<Archives> archives_;
  std::map<std::string, std::string> folders_;  // of this stage: destination → source, from %files
  ShellTokens tokens_;                          // of the section that is being read
  PostPart part_ = PostPart::umask;
  bool cleaned_ = false;
  bool packs_ = false;  // mkdir has made the folder of the archives
};

TwinImage DefinitionTwin::read() {
  for (std::size_t i = 0; i < definition_.stages.size(); ++i) read_stage(i);
  return std::move(image_);
}

void DefinitionTwin::read_stage(std::size_t index) {
  const DefinitionStage& stage = definition_.stages[index];
  bool last = index + 1 == definition_.stages.size();
  image_.stages.push_back({"", {}, stage.place.line});
  archives_.emplace_back();
  folders_.clear();
  part_ = PostPart::umask;
  cleaned_ = packs_ = false;
  read_header(stage);
  for (const DefinitionSection& section : stage.sections) {
    bool again = section.name != "files" && std::ranges::count_if(stage.sections, [&](const auto& s) {
                                              return s.name == section.name;
                                            }) > 1;
    if (again) problem(section.place.line, fmt::format("a second %{}", section.name));
    read_section(section, last);
  }
  check_folders();
}

void DefinitionTwin::read_header(const DefinitionStage& stage) {
  std::string agent = stage.value("bootstrap");
  std::string from = stage.value("from");
  for (const HeaderField& field : stage.header)
    if (field.key != "bootstrap" && field.key != "from" && field.key != "stage")
      problem(field.place.line, fmt::format("'{}' in the header", field.key));
  if (stage.find("stage") == nullptr) problem(stage.place.line, "a stage without a name");
  if (agent == "scratch" && stage.find("from") == nullptr) return;  // %setup names the archive
  if (agent == "docker") {
    image_.stages.back().base = from;
  } else if (agent == "oci" || agent == "oci-archive" || agent == "docker-archive") {
    image_.stages.back().base = agent + ":" + from;
  } else {
    problem(stage.place.line, fmt::format("'Bootstrap: {}'", agent));
  }
}

void DefinitionTwin::read_section(const DefinitionSection& section, bool last) {
  bool plain = section.arguments.empty();
  if (section.name == "files") return read_files(section, last);
  if (plain && section.name == "setup") return read_setup(section);
  if (plain && section.name == "post") return read_post(section, last);
  if (plain && last && section.name == "environment") return read_environment(section);
  if (plain && last && section.name == "test") return read_test(section);
  if (plain && last && section.name == "runscript") return read_runscript(section);
  if (plain && last && section.name == "labels") return read_labels(section);
  if (plain && last && section.name == "help") return;  // prose
  problem(section.place.line, fmt::format("%{} does not belong here", section.name));
}

std::vector<ScriptLine> DefinitionTwin::lines_of(const DefinitionSection& section) {
  tokens_ = shell_tokens(section.body);
  if (!tokens_.complete)
    problem(section.place.line, fmt::format("%{} has an open quote or heredoc", section.name));
  std::vector<ScriptLine> lines;
  int line = section.place.line + 1;
  std::size_t counted = 0;
  auto begin = tokens_.tokens.cbegin();
  for (auto at = begin; at != tokens_.tokens.cend(); ++at) {
    if (at->kind != ShellToken::Kind::line_end) continue;
    if (at != begin) {
      line += static_cast<int>(
          std::count(section.body.begin() + static_cast<std::ptrdiff_t>(counted),
                     section.body.begin() + static_cast<std::ptrdiff_t>(begin->span.begin), '\n'));
      counted = begin->span.begin;
      lines.push_back({begin, at, line});
    }
    begin = std::next(at);
  }
  return lines;
}

// `/bin/sh -eu setup.sh ROOT [rootfs.tar]`
void DefinitionTwin::read_setup(const DefinitionSection& section) {
  std::vector<ScriptLine> lines = lines_of(section);
  TwinStage& stage = image_.stages.back();
  bool good = lines.size() == 1;
  if (good) {
    TokenCursor cursor(lines[0].begin, lines[0].end);
    good = cursor.accept_all("/bin/sh -eu setup.sh") && cursor.accept(kRoot);
    if (good && stage.base.empty()) {
      auto archive = cursor.next_word();
      good = archive.has_value();
      if (good) stage.base = *archive;
    }
    good = good && cursor.done();
  }
  if (!good) problem(section.place.line, "%setup does something else than preparing the base");
}

void DefinitionTwin::read_files(const DefinitionSection& section, bool last) {
  std::vector<FilePair> files = section.files();
  if (!section.arguments.empty()) {
    auto named = [&](const DefinitionStage& stage) {
      return "from " + stage.value("stage") == section.arguments;
    };
    auto end = definition_.stages.begin() + static_cast<std::ptrdiff_t>(archives_.size()) - 1;
    auto stage = std::find_if(definition_.stages.begin(), end, named);
    if (stage == end)
      return problem(section.place.line,
                     fmt::format("'%files {}' names no earlier stage", section.arguments));
    for (const FilePair& file : files) {
      if (file.source != file.destination) problem(file.place.line, "an archive that changes its name");
      archives_.back().taken[file.source] = static_cast<std::size_t>(stage - definition_.stages.begin());
    }
    return;
  }
  for (const FilePair& file : files) {
    bool known = file.destination.starts_with("/.kiln/scripts/") ||
                 (last && file.destination.starts_with("/.kiln/tests/"));
    if (!known || !file.source.starts_with("scripts/") || folders_.contains(file.destination))
      problem(file.place.line, fmt::format("'{}' is copied in", file.source));
    folders_[file.destination] = file.source;
  }
}

// Each script has its folder, and each folder a script.
void DefinitionTwin::check_folders() {
  std::map<std::string, std::string> needed;
  for (const TwinStep& step : image_.stages.back().steps)
    if (!step.run.script.empty()) needed["/.kiln/scripts/" + step.run.folder] = "scripts/" + step.run.folder;
  for (const TwinScript& test : image_.tests)
    needed["/.kiln/tests/" + test.folder] = "scripts/" + test.folder;
  if (needed != folders_)
    problem(image_.stages.back().line, "%files and the scripts that run do not fit together");
  std::map<std::string, std::size_t> left = archives_.back().taken;
  for (const auto& [archive, from] : left)
    problem(image_.stages.back().line,
            fmt::format("{} is taken from stage {} and not unpacked", archive, from));
}

bool DefinitionTwin::in_part(PostPart part) {
  if (part < part_) return false;
  part_ = part;
  return true;
}

void DefinitionTwin::read_post(const DefinitionSection& section, bool last) {
  for (const ScriptLine& line : lines_of(section))
    if (!read_post_line(line, last)) problem(line.line, "a command that kiln does not write here");
  finish_post(section.place.line, last);
}

bool DefinitionTwin::read_post_line(const ScriptLine& line, bool last) {
  TokenCursor cursor(line.begin, line.end);
  auto is = [&](std::string_view words) {
    TokenCursor copy = cursor;
    return copy.accept_all(words) && copy.done();
  };
  const std::string& first = line.begin->raw;
  if (first == "umask")
    return part_ == PostPart::umask && is("umask 022") && in_part(PostPart::base_environment);
  if (first == "for") {
    std::string text;
    for (auto at = line.begin; at != line.end; ++at) text += at->raw + " ";
    std::string expected;
    for (const ShellToken& token : shell_tokens(kBaseEnvironment).tokens) expected += token.raw + " ";
    return part_ == PostPart::base_environment && text == expected && in_part(PostPart::site);
  }
  if (first == ".")
    return part_ >= PostPart::base_environment && part_ <= PostPart::site &&
           is(". /.kiln/site/environment.sh") && in_part(PostPart::steps);
  if (part_ < PostPart::steps) return false;
  if (first == "(") return in_part(PostPart::steps) && read_step(cursor, line.line);
  if (first == "tar") {
    cursor.next();
    if (!cursor.accept_all("-C /")) return false;
    if (cursor.accept("-xpf")) return in_part(PostPart::steps) && read_unpacking(cursor, line.line);
    return packs_ && cursor.accept("-cf") && in_part(PostPart::hand_on) && read_packing(cursor);
  }
  if (first == "mkdir") return packs_ = in_part(PostPart::hand_on) && is("mkdir -p /.kiln/copies");
  if (first == "rm" && part_ == PostPart::steps && !is("rm -rf /.kiln/scripts /.kiln/copies /.kiln/site"))
    return read_removal(cursor);
  if (first == "rm")
    return last && !cleaned_ && in_part(PostPart::clean) &&
           (cleaned_ = is("rm -rf /.kiln/scripts /.kiln/copies /.kiln/site"));
  return last && cleaned_ && in_part(PostPart::labels) && read_post_label(cursor);
}

bool DefinitionTwin::read_step(TokenCursor cursor, int line) {
  if (!cursor.accept("(")) return false;
  auto script = read_script(cursor, "/.kiln/scripts", always_);
  if (!script || !cursor.accept_all(") || exit 1") || !cursor.done()) return false;
  script->line = line;
  image_.stages.back().steps.push_back({std::move(*script), 0, {}, line});
  return true;
}

bool DefinitionTwin::read_unpacking(TokenCursor cursor, int line) {
  auto archive = cursor.next_word();
  if (!archive || !cursor.done()) return false;
  auto taken = archives_.back().taken.find(*archive);
  if (taken == archives_.back().taken.end()) return false;
  std::size_t from = taken->second;
  auto made = archives_[from].made.find(*archive);
  if (made == archives_[from].made.end()) return false;
  image_.stages.back().steps.push_back({{}, from, made->second, line});
  archives_.back().taken.erase(taken);
  return true;
}

// `rm -rf PATH…` behind an unpacking of these paths and a script: the script alone saw them.
bool DefinitionTwin::read_removal(TokenCursor cursor) {
  if (!cursor.accept_all("rm -rf")) return false;
  std::vector<std::string> paths;
  while (auto path = cursor.next_word()) paths.push_back(*path);
  std::vector<TwinStep>& steps = image_.stages.back().steps;
  if (!cursor.done() || steps.size() < 2) return false;
  const TwinStep taken = steps[steps.size() - 2];
  TwinStep& script = steps.back();
  if (!taken.run.script.empty() || script.run.script.empty() || !script.paths.empty() || taken.paths != paths)
    return false;
  script.from = taken.from;
  script.paths = paths;
  steps.erase(steps.end() - 2);
  return true;
}

bool DefinitionTwin::read_packing(TokenCursor cursor) {
  auto archive = cursor.next_word();
  if (!archive || !archive->starts_with("/.kiln/copies/") || archives_.back().made.contains(*archive))
    return false;
  std::vector<std::string> paths;
  while (auto path = cursor.next_word()) {
    if (!path->starts_with("./")) return false;
    paths.push_back(path->substr(1));
  }
  archives_.back().made[*archive] = std::move(paths);
  return cursor.done();
}

// printf '%s\n' 'name value' >>FILE
bool DefinitionTwin::read_post_label(TokenCursor cursor) {
  if (!cursor.accept("printf") || !cursor.accept("'%s\\n'")) return false;
  auto entry = cursor.next_word();
  if (!entry || !cursor.accept(">>") || !cursor.accept(kLabelsFile) || !cursor.done()) return false;
  std::size_t blank = entry->find(' ');
  if (blank == std::string::npos) return false;
  image_.labels.emplace_back(entry->substr(0, blank), trim(std::string_view(*entry).substr(blank + 1)));
  return true;
}

void DefinitionTwin::finish_post(int line, bool last) {
  if (part_ < PostPart::steps) problem(line, "%post does not read the site's environment");
  if (last && !cleaned_) problem(line, "%post leaves kiln's own files in the image");
}

void DefinitionTwin::read_environment(const DefinitionSection& section) {
  for (const ScriptLine& line : lines_of(section)) {
    TokenCursor cursor(line.begin, line.end);
    bool good = cursor.accept("export");
    auto word = good ? cursor.next_word() : std::nullopt;
    std::size_t equals = word ? word->find('=') : std::string::npos;
    if (equals == std::string::npos || !cursor.done()) {
      problem(line.line, "not a plain export");
      continue;
    }
    image_.environment.emplace_back(word->substr(0, equals), word->substr(equals + 1));
  }
}

void DefinitionTwin::read_test(const DefinitionSection& section) {
  for (const ScriptLine& line : lines_of(section)) {
    TokenCursor cursor(line.begin, line.end);
    std::optional<TwinScript> test;
    if (cursor.accept("(")) test = read_script(cursor, "/.kiln/tests", always_there(false));
    if (!test || !cursor.accept_all(") || exit 1") || !cursor.done()) {
      problem(line.line, "a test that kiln does not write");
      continue;
    }
    test->line = line.line;
    image_.tests.push_back(std::move(*test));
  }
}

void DefinitionTwin::read_runscript(const DefinitionSection& section) {
  std::vector<ScriptLine> lines = lines_of(section);
  bool good = lines.size() == 2;
  if (good) {
    TokenCursor any(lines[0].begin, lines[0].end);
    good = any.accept_all("if [ $# -gt 0 ] ; then exec \"$@\" ; fi") && any.done();
    TokenCursor command(lines[1].begin, lines[1].end);
    good = good && command.accept("exec");
    while (good && !command.done()) {
      auto word = command.next_word();
      good = word.has_value();
      if (good) image_.command.push_back(std::move(*word));
    }
  }
  if (!good) problem(section.place.line, "%runscript does something else than running the command");
}

void DefinitionTwin::read_labels(const DefinitionSection& section) {
  for (NamedValue& label : section.labels())
    image_.labels.emplace_back(std::move(label.name), std::move(label.value));
}

}  // namespace

TwinImage read_twin(const DefinitionFile& definition, std::vector<std::string>& problems) {
  TwinImage image = DefinitionTwin(definition, problems).read();
  // Those of %post come first in the file.
  std::ranges::stable_sort(image.labels, {}, [](const auto& one) { return one.first; });
  return image;
}

}  // namespace kiln
