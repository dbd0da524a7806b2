// The checks of a piece of shell, one file a subject. Each reports what it finds in its unit; none looks at
// anything else.
#pragma once

#include <string>
#include <string_view>

#include "factory/lint/finding.h"
#include "factory/lint/unit.h"

namespace kiln::lint {

void check_script(const ScriptUnit& unit, Report& report);  // all of the following
void check_alone(const ScriptUnit& unit,
                 Report& report);  // all that need not see what the next RUN does: not git, not downloads

void check_state(const ScriptUnit& unit, Report& report);      // KL001, KL002
void check_flags(const ScriptUnit& unit, Report& report);      // KL003, KL004
void check_git(const ScriptUnit& unit, Report& report);        // KL010, KL011
void check_downloads(const ScriptUnit& unit, Report& report);  // KL011, KL012, KL017
void check_pip(const ScriptUnit& unit, Report& report);        // KL013, KL014, KL022, KL051, KL080
void check_conda(const ScriptUnit& unit, Report& report);      // KL013, KL052, KL072
void check_apt(const ScriptUnit& unit, Report& report);        // KL050, KL071 to KL074
void check_habits(const ScriptUnit& unit, Report& report);  // KL034, KL075, KL077, KL079, KL081, KL082, KL084
void check_script_secrets(const ScriptUnit& unit, Report& report);  // KL060, KL061

// A finding about part of a command: a suppression may stand above the command's first line.
Finding& add(Report& report, std::string_view rule, const ScriptUnit& unit, const ShellCommand& command,
             Span span, std::string text);

// Whether the script writes APT::Get::Assume-Yes into apt's configuration, for itself and for those above it.
bool configures_assume_yes(const ScriptUnit& unit);

// KL041 for a section that is a test; KL041 for a self-test whose failure is forgiven, in any script.
void check_test_section(const ScriptUnit& unit, Report& report);
void check_self_tests(const ScriptUnit& unit, Report& report);

// What KL003 says of a flag that native_flag() found.
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

}  // namespace kiln::lint
