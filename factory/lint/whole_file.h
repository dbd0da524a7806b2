// A file that makes images, as a whole: for rules that ask what its other steps do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/lint/finding.h"
#include "factory/lint/unit.h"

namespace kiln::lint {

// A stage of a Dockerfile or of a definition file; the one of a script.
struct FileStage {
  std::string name;                   // "" without
  std::string base;                   // in a registry; "" where the file does not say which
  std::optional<std::size_t> parent;  // the stage of this file that it stands on
  std::vector<ScriptUnit> units;      // in the order in which they run
};

// NAME=value of ENV, ARG or a shell.
struct Setting {
  std::string name;
  std::string value;
  Span span;
};

struct PlacedCommand {
  const ScriptUnit* unit;
  const ShellCommand* command;
};

struct WholeFile {
  const SourceFile* file = nullptr;
  std::vector<FileStage> stages;
  std::vector<Setting> settings;    // of all stages, in the file's order
  std::vector<std::string> labels;  // their values

  // All of its shell, stage by stage, but for what runs in a finished container.
  std::vector<PlacedCommand> commands() const;
  std::vector<std::pair<PlacedCommand, PipCall>> pip_calls() const;
  bool mentions(std::string_view words) const { return file->text().find(words) != std::string::npos; }
  // $NAME and ${NAME} replaced where the file gives that name one value, and one only.
  std::string expanded(std::string_view text) const;
  // With the settings of its shell added, which the reader of the file leaves to this.
  void add_shell_settings();
};

// "1.15.5" and what is behind it at the beginning of `text`; "" when no number with a dot stands there.
std::string version_at(std::string_view text);

// `word` with neither a letter nor a digit beside it, in any case.
bool has_whole_word(std::string_view text, std::string_view word);

void check_whole(const WholeFile& whole, Report& report);  // all of the following

void check_cpu_image(const WholeFile& whole, Report& report);     // KL020
void check_protobuf(const WholeFile& whole, Report& report);      // KL024
void check_fork_commits(const WholeFile& whole, Report& report);  // KL025
void check_indexes(const WholeFile& whole, Report& report);       // KL026
void check_bazel(const WholeFile& whole, Report& report);         // KL036
void check_glow(const WholeFile& whole, Report& report);          // KL037
void check_time_zone(const WholeFile& whole, Report& report);     // KL083

}  // namespace kiln::lint
