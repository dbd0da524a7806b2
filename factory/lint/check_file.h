// The checks of whole files that people name: Dockerfiles, definition files, scripts, requirements files,
// Python files.
#pragma once

#include <vector>

#include "factory/lint/check_script.h"
#include "factory/lint/finding.h"
#include "factory/lint/unit.h"

namespace kiln::lint {

// Both answer what could not be read; the rest is looked at all the same.
std::vector<Error> check_dockerfile(const SourceFile& file, Report& report);
std::vector<Error> check_definition(const SourceFile& file, Report& report);

// What is known of a script of a recipe beside its text.
struct ScriptUse {
  bool keeps_pip = false;   // the method has a cache for what pip keeps
  bool is_sourced = false;  // another script of the recipe reads it: its shell goes on
};

// A script of a recipe, or one that is looked at alone.
void check_shell_file(const SourceFile& file, ScriptPlace place, Report& report, const ScriptUse& use = {});

// KL003, KL012, KL060 and KL061 in Python, line by line.
void check_python_file(const SourceFile& file, Report& report);

// KL013, KL014, KL024, KL026, KL061.
void check_requirements_file(const SourceFile& file, Report& report);
void check_protobuf_of(const SourceFile& file, const RequirementsFile& all, Report& report);  // KL024 of it

void check_indexes_of(const SourceFile& file, const RequirementsFile& all, Report& report);  // KL026 of it

// KL025 for the source of a recipe's version.
void check_source_commit(std::string_view url, std::string_view commit, const SourceLocation& where,
                         Report& report);

// KL015, KL016 and KL019 for an image reference.
void check_base(std::string_view reference, const SourceLocation& where, Report& report);

}  // namespace kiln::lint
