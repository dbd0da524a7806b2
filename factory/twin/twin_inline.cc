// The form of one file: the files of the build context are taken out of it and held against the recipes';
// what is left says what the form with a build context says, and is read as that.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/twin/twin_reading.h"

namespace kiln {
namespace {

using Files = std::map<std::string, std::string>;  // path → bytes

constexpr std::string_view kEnd = "KILN";
constexpr std::string_view kFromFiles = "from=kiln-files,source=/kiln/";

// `printf '%s\n' 'line' … >PATH`, and `printf '%s' 'rest' >>PATH` for a text that ends without a line end.
bool read_printf(TokenCursor& cursor, std::string& path, std::string& bytes) {
  path.clear();
  do {
    if (!cursor.accept("printf")) return false;
    const bool lines = cursor.accept("'%s\\n'");
    if (!lines && !cursor.accept("'%s'")) return false;
    while (auto word = cursor.next_word()) bytes += *word + (lines ? "\n" : "");
    if (!cursor.accept(path.empty() ? ">" : ">>")) return false;
    auto target = cursor.next_word();
    if (!target || (!path.empty() && path != *target)) return false;
    path = *target;
  } while (cursor.accept("&&"));
  return true;
}

// The files of a step, as the context has them, below `place`.
void add_files(const Step& step, const std::string& place, const Files& context, Files& planned) {
  for (const std::string& path : step.files) {
    const std::string end = script_folder_of(step) + "/" + path;
    planned[place + end] = context.at("scripts/" + end);
  }
}

void compare_files(const Files& planned, const Files& read, const std::string& where,
                   std::vector<std::string>& differences) {
  for (const auto& [path, bytes] : planned) {
    auto found = read.find(path);
    if (found == read.end())
      differences.push_back(fmt::format("{}: {} is not written", where, path));
    else if (found->second != bytes)
      differences.push_back(fmt::format("{}: {} has other bytes than the recipe's", where, path));
  }
  for (const auto& [path, bytes] : read)
    if (!planned.contains(path))
      differences.push_back(fmt::format("{}: {} is written, which no step needs", where, path));
}

class InlineDockerfile {
 public:
  InlineDockerfile(Dockerfile& dockerfile, std::vector<std::string>& problems)
      : dockerfile_(dockerfile), problems_(problems) {}
  // Leaves the form with a build context.
  void take_apart();
  Files files;

 private:
  void collect_files();
  void problem(Position place, std::string_view what) {
    problems_.push_back(fmt::format("{}:{}: {}", dockerfile_.file, place.line, what));
  }

  Dockerfile& dockerfile_;
  std::vector<std::string>& problems_;
};

void InlineDockerfile::take_apart() {
  collect_files();
  for (DockerStage& stage : dockerfile_.stages)
    for (DockerInstruction& one : stage.instructions)
      for (DockerFlag& flag : one.flags)
        if (std::size_t at = flag.value.find(kFromFiles); at != std::string::npos)
          flag.value.replace(at, kFromFiles.size(), "source=");
}

void InlineDockerfile::collect_files() {
  auto& stages = dockerfile_.stages;
  auto stage = std::ranges::find_if(stages, [](const DockerStage& s) { return s.name == "kiln-files"; });
  if (stage == stages.end()) return;
  if (stage == stages.begin() || stage->base != stages.front().name)
    problem(stage->from.place, "the files begin with another base than the first");
  for (const DockerInstruction& one : stage->instructions) {
    ShellTokens tokens = shell_tokens(one.text);
    TokenCursor cursor(tokens.tokens.begin(), tokens.tokens.end());
    std::string path;
    std::string bytes;
    bool good = one.verb == DockerVerb::run && !one.exec && one.flags.empty() && one.heredocs.empty() &&
                tokens.complete && cursor.accept_all("mkdir -p");
    auto folder = good ? cursor.next_word() : std::nullopt;
    good = folder && cursor.accept("&&") && read_printf(cursor, path, bytes) && cursor.done();
    if (!good || path.substr(0, path.rfind('/')) != *folder || !path.starts_with("/kiln/") ||
        !files.emplace(path, bytes).second)
      problem(one.place, "no writing of one file");
  }
  stages.erase(stage);
}

// A body of a script, line by line. The lines of a heredoc are nobody else's.
class Lines {
 public:
  explicit Lines(std::string_view text) : lines_(split(text, '\n')) {}
  bool done() const { return at_ == lines_.size(); }
  std::string_view next() { return lines_[at_++]; }
  // What stands before the heredoc's end; nothing when it has none.
  std::optional<std::string> heredoc() {
    std::string bytes;
    while (!done()) {
      std::string_view line = next();
      if (line == kEnd) return bytes;
      bytes += std::string(line) + "\n";
    }
    return std::nullopt;
  }

 private:
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
};

// `/bin/sh -eu -s ROOT… <<'KILN'` and the script that stands beside the other form as setup.sh.
std::string without_setup_script(std::string_view body) {
  constexpr std::string_view kStart = "/bin/sh -eu -s ";
  constexpr std::string_view kHere = " <<'KILN'";
  Lines lines(body);
  std::string_view first = trimmed(lines.next());
  if (!first.starts_with(kStart) || !first.ends_with(kHere) || !lines.heredoc()) return std::string(body);
  std::string rest = fmt::format("    /bin/sh -eu setup.sh {}\n",
                                 first.substr(kStart.size(), first.size() - kStart.size() - kHere.size()));
  while (!lines.done()) rest += std::string(lines.next()) + "\n";
  return rest;
}

// The path that `cat >PATH <<'KILN'` writes to.
std::optional<std::string> heredoc_path(std::string_view line) {
  ShellTokens tokens = shell_tokens(fmt::format("{}\n{}\n", line, kEnd));
  TokenCursor cursor(tokens.tokens.begin(), tokens.tokens.end());
  if (!cursor.accept("cat") || !cursor.accept(">")) return std::nullopt;
  auto path = cursor.next_word();
  if (!path || !cursor.accept("<<") || !cursor.accept("'KILN'")) return std::nullopt;
  return path;
}

// Takes the commands that write files out of the body of %post.
std::string without_files(std::string_view body, Files& files, std::vector<std::string>& problems) {
  Lines lines(body);
  std::string rest;
  auto add = [&](const std::string& path, std::string bytes) {
    if (!path.starts_with("/.kiln/") || !files.emplace(path, std::move(bytes)).second)
      problems.push_back(fmt::format("%post: {} is written", path));
  };
  while (!lines.done()) {
    std::string line(lines.next());
    std::string_view bare = trimmed(line);
    if (bare.starts_with("mkdir -p /.kiln/") && bare != "mkdir -p /.kiln/copies") continue;
    if (bare.starts_with("cat >")) {
      auto path = heredoc_path(line);
      auto bytes = path ? lines.heredoc() : std::nullopt;
      if (!bytes) problems.emplace_back("%post: a heredoc that kiln does not write");
      if (bytes) add(*path, *bytes);
    } else if (bare.starts_with("printf ") && !contains(bare, "_LABELS")) {
      while (line.ends_with('\\') && !lines.done()) {
        line.back() = ' ';
        line += lines.next();
      }
      ShellTokens tokens = shell_tokens(line);
      TokenCursor cursor(tokens.tokens.begin(), tokens.tokens.end());
      std::string path;
      std::string bytes;
      if (read_printf(cursor, path, bytes) && cursor.done())
        add(path, std::move(bytes));
      else
        problems.emplace_back("%post: a printf that kiln does not write");
    } else {
      rest += line + "\n";
    }
  }
  return rest;
}

// %files of the other form, for the folders that %post has filled.
DefinitionSection files_section(const Files& files) {
  std::map<std::string, std::string> folders;
  for (const auto& [path, bytes] : files) {
    std::string target = path.substr(0, path.find('/', path.find('/', 7) + 1));
    folders[target] = "scripts" + target.substr(target.rfind('/'));
  }
  DefinitionSection section;
  section.name = "files";
  for (const auto& [target, source] : folders) section.body += fmt::format("    {} {}\n", source, target);
  return section;
}

std::vector<std::string> inline_dockerfile_differences(const ImageSpec& spec, const Files& context,
                                                       std::string_view text) {
  std::vector<std::string> differences;
  Dockerfile dockerfile = parse_dockerfile(text, "Dockerfile");
  InlineDockerfile inlined(dockerfile, differences);
  inlined.take_apart();
  TwinImage read = read_twin(dockerfile, differences);
  compare_twins(twin_for_dockerfile(spec), read, "Dockerfile", differences);
  Files files;
  for (const Stage& stage : spec.stages)
    for (const Step& step : stage.steps)
      if (step.kind == StepKind::run) add_files(step, "/kiln/scripts/", context, files);
  for (const Step& test : spec.tests) add_files(test, "/kiln/scripts/", context, files);
  if (!files.empty())
    for (const char* path : {"site/environment.sh", "site/apt.conf"})
      files[fmt::format("/kiln/{}", path)] = context.at(path);
  compare_files(files, inlined.files, "Dockerfile", differences);
  return differences;
}

std::vector<std::string> inline_definition_differences(const ImageSpec& spec, const Files& context,
                                                       std::string_view text) {
  std::vector<std::string> differences;
  DefinitionFile definition = parse_definition(text, "Singularity.def");
  for (std::size_t i = 0; i < definition.stages.size(); ++i) {
    Files read;
    DefinitionStage& stage = definition.stages[i];
    for (DefinitionSection& section : stage.sections) {
      if (section.name == "setup") section.body = without_setup_script(section.body);
      if (section.name == "post") section.body = without_files(section.body, read, differences);
    }
    if (!read.empty()) stage.sections.push_back(files_section(read));
    Files planned;
    if (i < spec.stages.size())
      for (const Step& step : spec.stages[i].steps)
        if (step.kind == StepKind::run) add_files(step, "/.kiln/scripts/", context, planned);
    if (i + 1 == definition.stages.size())
      for (const Step& test : spec.tests) add_files(test, "/.kiln/tests/", context, planned);
    compare_files(planned, read, fmt::format("Singularity.def: stage {}", i + 1), differences);
  }
  compare_twins(twin_for_definition(spec), read_twin(definition, differences), "Singularity.def",
                differences);
  return differences;
}

}  // namespace

std::vector<std::string> inline_differences(const ImageSpec& spec,
                                            const std::map<std::string, std::string>& context,
                                            std::string_view dockerfile_text,
                                            std::string_view definition_text) {
  std::vector<std::string> differences;
  for (auto [compare, text] : {std::pair(&inline_dockerfile_differences, dockerfile_text),
                               std::pair(&inline_definition_differences, definition_text)}) {
    try {
      for (std::string& line : compare(spec, context, text)) differences.push_back(std::move(line));
    } catch (const Error& error) {
      differences.push_back(error.format());
    }
  }
  return differences;
}

}  // namespace kiln
