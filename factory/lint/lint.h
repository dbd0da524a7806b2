// kiln lint: looks at recipes, matrices, Dockerfiles and definition files and says what is known to go wrong.
// Pure but for the FileSystem that it reads through and the CommandRunner that it starts shellcheck with.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/lint/check_cells.h"
#include "factory/lint/finding.h"

namespace kiln::lint {

// Kind of a path, by its name and content.
enum class FileKind { recipe, matrix, site, dockerfile, definition, script, requirements, python, unknown };
FileKind kind_of_file(const fs::path& file);

// The recipe.json at or below a path, by name. Links to folders are not followed; a folder that cannot be
// read is left out.
std::vector<fs::path> recipes_below(const fs::path& path, const FileSystem& files);

struct RuleSelection {
  std::vector<std::string> only;    // rule ids; empty = all
  std::vector<std::string> ignore;  // rule ids
  bool wants(const std::string& rule) const;
};

struct Shellcheck {
  CommandRunner* runner = nullptr;  // null: not asked for
  std::map<std::string, std::string> environment;
  fs::path cache;  // file that keeps findings by digest; "" = none
};

// For shellcheck.
struct Script {
  std::string path;
  bool bash = false;        // it says so, and is not kiln's to run, which takes /bin/sh
  bool sh_is_bash = false;  // it is for a distribution whose /bin/sh is bash
};

struct LintResult {
  std::vector<Finding> findings;              // by file, line, column and rule; suppressed ones included
  std::vector<Error> unreadable;              // files that could not be read, and why
  std::vector<std::string> notes;             // for people: shellcheck is missing, …
  std::map<std::string, SourceFile> sources;  // every file that was looked at, by path
  std::size_t files = 0;

  std::size_t count(Severity least) const;  // without suppressed ones
};

class Linter {
 public:
  // `roots`: other roots in which recipes find shared files.
  Linter(FileSystem& files, RuleSelection selection, std::vector<fs::path> roots = {})
      : files_(files), selection_(std::move(selection)), roots_(std::move(roots)) {}

  // A file, or a folder that is searched for recipes, Dockerfiles and definition files; scripts, Python files
  // and requirements files count only right in it. Links to folders below it are not followed. Returns the
  // matrices that it finds, for the caller to plan. Throws Error(usage) for a missing path.
  std::vector<fs::path> look_at(const fs::path& path);

  // The cells of a plan.
  void look_at(const CellInput& cells);

  // A matrix that could not be planned, a recipe that others need and that is broken.
  void cannot_read(const Error& error);

  // Runs shellcheck over all scripts seen, applies suppressions, sorts.
  LintResult finish(const Shellcheck& shellcheck);

 private:
  void look_at_folder(const fs::path& folder, std::vector<fs::path>& matrices, int depth);
  std::vector<std::string> list(const fs::path& folder);  // nothing for one that cannot be read
  void look_at_file(const fs::path& file, FileKind kind);
  std::optional<std::string> read(const fs::path& file);
  void look_at_recipe(const fs::path& file);
  void look_at_site(const fs::path& file);  // whether it can be read: no rule speaks of one
  void remember(const SourceFile& file);

  FileSystem& files_;
  RuleSelection selection_;
  std::vector<fs::path> roots_;
  Report report_;
  LintResult result_;
  std::vector<Script> scripts_;
  std::set<std::string> pinned_;  // recipes of bases that a lockfile pins: their tags may move
};

// Runs shellcheck on the files, in one batch; findings of unchanged scripts come from the cache. Does not
// throw if shellcheck is missing: a note says so.
void run_shellcheck(const std::vector<Script>& scripts, const std::map<std::string, SourceFile>& sources,
                    const Shellcheck& setup, FileSystem& files, Report& report,
                    std::vector<std::string>& notes);

}  // namespace kiln::lint
