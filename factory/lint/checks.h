// A file that makes images, as a whole: for rules that ask what its other steps do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/text.h"
#include "factory/lint/finding.h"
#include "factory/lint/unit.h"

namespace kiln::lint {

// A stage of a Dockerfile or of a definition file; the one of a script.
struct FileStage {
  std::string name;                   // "" without
  std::string base;                   // in a registry; "" where the file does not say which
  std::optional<std::size_t> parent;  // the stage of this file below it
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

  // All of its shell, stage by stage, except for scripts of a finished container.
  std::vector<PlacedCommand> commands() const;
  std::vector<std::pair<PlacedCommand, PipCall>> pip_calls() const;
  bool mentions(std::string_view words) const { return contains(file->text(), words); }
  // $NAME and ${NAME} replaced where the file gives that name one value, and one only.
  std::string expanded(std::string_view text) const;
  // With the settings of its shell added, which the reader of the file leaves to this.
  void add_shell_settings();
};

// "1.15.5" and its suffix at the beginning of `text`; "" if the text does not begin with a number that has a
// dot.
std::string version_at(std::string_view text);

// `word` with neither a letter nor a digit next to it, in any case.
bool has_whole_word(std::string_view text, std::string_view word);

void check_whole(const WholeFile& whole, Report& report);  // all of the following

void check_cpu_image(const WholeFile& whole, Report& report);     // KL020
void check_protobuf(const WholeFile& whole, Report& report);      // KL024
void check_fork_commits(const WholeFile& whole, Report& report);  // KL025
void check_indexes(const WholeFile& whole, Report& report);       // KL026
void check_bazel(const WholeFile& whole, Report& report);         // KL036
void check_glow(const WholeFile& whole, Report& report);          // KL037
void check_time_zone(const WholeFile& whole, Report& report);     // KL083

// The checks of a piece of shell, one file a subject. Each reports what it finds in its unit; none looks at
// anything else.

void check_script(const ScriptUnit& unit, Report& report);  // all of the following
void check_alone(const ScriptUnit& unit,
                 Report& report);  // all that need not see what the next RUN does: not git, not downloads

void check_flags(const ScriptUnit& unit, Report& report);           // KL003, KL004
void check_git(const ScriptUnit& unit, Report& report);             // KL010, KL011
void check_downloads(const ScriptUnit& unit, Report& report);       // KL011, KL012, KL017
void check_pip(const ScriptUnit& unit, Report& report);             // KL013, KL014, KL022, KL051, KL080
void check_conda(const ScriptUnit& unit, Report& report);           // KL013, KL052, KL072
void check_apt(const ScriptUnit& unit, Report& report);             // KL050, KL071 to KL074
void check_script_secrets(const ScriptUnit& unit, Report& report);  // KL060, KL061

// A finding about part of a command: a suppression may be above the command's first line.
Finding& add(Report& report, std::string_view rule, const ScriptUnit& unit, const ShellCommand& command,
             Span span, std::string text);

// Whether the script writes APT::Get::Assume-Yes into apt's configuration, for itself and for those above it.
bool configures_assume_yes(const ScriptUnit& unit);

// KL041 for a section that is a test; KL041 for a self-test whose failure is forgiven, in any script.
void check_test_section(const ScriptUnit& unit, Report& report);
void check_self_tests(const ScriptUnit& unit, Report& report);

// The text of KL003 for a flag that native_flag() found.
std::string native_text(std::string_view flag);

// The part of `text`, a URL or a word with one, that names a moving branch: "/archive/master.zip"; ""
// without.
std::string branch_in_url(std::string_view text);

// The wheel's file name in `text` when it has version, Python and platform tags; "" without.
std::string wheel_name(std::string_view text);
// Its Python tag, such as "cp36"; "" for a pure one.
std::string wheel_python(std::string_view wheel);

bool has_commit(std::string_view text);  // 40 hex digits in a row, no more
bool has_url(std::string_view text);     // http, https or ftp, anywhere in it

// The checks of whole files that people name: Dockerfiles, definition files, scripts, requirements files,
// Python files.

// Both return the errors of unreadable parts, and check the rest.
std::vector<Error> check_dockerfile(const SourceFile& file, Report& report);
std::vector<Error> check_definition(const SourceFile& file, Report& report);

// Facts about a script of a recipe in addition to its text.
struct ScriptUse {
  bool keeps_pip = false;   // the method has a cache for pip
  bool is_sourced = false;  // another script of the recipe reads it: its shell continues
};

// A script of a recipe, or one that is looked at alone.
void check_shell_file(const SourceFile& file, ScriptRole place, Report& report, const ScriptUse& use = {});

// KL003, KL012, KL060 and KL061 in Python, line by line.
void check_python_file(const SourceFile& file, Report& report);

// KL013, KL014, KL024, KL026, KL061.
void check_requirements_file(const SourceFile& file, Report& report);
void check_protobuf_of(const SourceFile& file, const RequirementsFile& all, Report& report);  // KL024 of it

void check_indexes_of(const SourceFile& file, const RequirementsFile& all, Report& report);  // KL026 of it

// KL025 for the source of a recipe's version.
void check_source_commit(std::string_view url, std::string_view commit, const SourceLocation& where,
                         Report& report);

// An image's name as Docker Hub shortens it: "ubuntu" of docker.io/library/ubuntu:22.04.
std::string hub_name(std::string_view reference);

// KL015, KL016 and KL019 for an image reference.
void check_base(std::string_view reference, const SourceLocation& where, Report& report);

}  // namespace kiln::lint
