// The shell scripts of /.singularity.d that are the same in every image; only for oci_runtime.cc.
// Apptainer sources env/*.sh in the order of their names, then hands over to actions/<what was asked>.
#pragma once

#include <string_view>

namespace kiln::sif::scripts {

inline constexpr std::string_view kBase = R"(#!/bin/sh
# Sourced first; nothing to set.
)";

inline constexpr std::string_view kEnvironment = R"(#!/bin/sh
# Environment settings of this site may be added here.
)";

inline constexpr std::string_view kStartscript = R"(#!/bin/sh
)";

// An image may hold several SCIF applications; APPTAINER_APPNAME chooses one.
inline constexpr std::string_view kApplications = R"(#!/bin/sh
app=${APPTAINER_APPNAME:-${SINGULARITY_APPNAME:-}}
if [ -n "$app" ]; then
    if [ ! -d "/scif/apps/$app" ]; then
        echo "Could not locate the container application: $app"
        exit 1
    fi
    SCIF_APPS=/scif/apps
    SCIF_APPROOT=/scif/apps/$app
    PATH=$SCIF_APPROOT/bin:$SCIF_APPROOT:$PATH
    LD_LIBRARY_PATH=$SCIF_APPROOT/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export SCIF_APPS SCIF_APPROOT PATH LD_LIBRARY_PATH
    for file in "$SCIF_APPROOT/scif/env/01-base.sh" "$SCIF_APPROOT/scif/env/90-environment.sh"; do
        if [ -f "$file" ]; then . "$file"; fi
    done
fi
unset app
)";

// /.singularity.d/libs is where Apptainer binds the host's GPU libraries.
inline constexpr std::string_view kLibraries = R"(#!/bin/sh
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/.singularity.d/libs
PS1=${PS1:-"Apptainer> "}
export LD_LIBRARY_PATH PS1
)";

// What the user asked for with APPTAINERENV_PREPEND_PATH, _APPEND_PATH and _PATH.
inline constexpr std::string_view kRuntimeVariables = R"(#!/bin/sh
PATH=${SING_USER_DEFINED_PREPEND_PATH:+$SING_USER_DEFINED_PREPEND_PATH:}$PATH
PATH=$PATH${SING_USER_DEFINED_APPEND_PATH:+:$SING_USER_DEFINED_APPEND_PATH}
PATH=${SING_USER_DEFINED_PATH:-$PATH}
unset SING_USER_DEFINED_PREPEND_PATH SING_USER_DEFINED_APPEND_PATH SING_USER_DEFINED_PATH
export PATH
)";

inline constexpr std::string_view kExec = R"(#!/bin/sh
for file in /.singularity.d/env/*.sh; do
    if [ -f "$file" ]; then . "$file"; fi
done
exec "$@"
)";

inline constexpr std::string_view kRun = R"(#!/bin/sh
for file in /.singularity.d/env/*.sh; do
    if [ -f "$file" ]; then . "$file"; fi
done
if [ -n "${SCIF_APPROOT:-}" ]; then
    if [ -x "$SCIF_APPROOT/scif/runscript" ]; then exec "$SCIF_APPROOT/scif/runscript" "$@"; fi
    echo "No runscript for the application $SCIF_APPROOT"
    exit 1
fi
if [ -x /.singularity.d/runscript ]; then exec /.singularity.d/runscript "$@"; fi
echo "No runscript found, executing /bin/sh"
exec /bin/sh "$@"
)";

inline constexpr std::string_view kShell = R"(#!/bin/sh
for file in /.singularity.d/env/*.sh; do
    if [ -f "$file" ]; then . "$file"; fi
done
wanted=${APPTAINER_SHELL:-${SINGULARITY_SHELL:-}}
if [ -n "$wanted" ] && [ -x "$wanted" ]; then exec "$wanted" "$@"; fi
if [ -x /bin/bash ]; then
    SHELL=/bin/bash
    PS1="Apptainer ${APPTAINER_NAME:-}:\\w> "
    export SHELL PS1
    exec /bin/bash --norc "$@"
fi
if [ -x /bin/sh ]; then
    SHELL=/bin/sh
    export SHELL
    exec /bin/sh "$@"
fi
echo "no shell in this container: /bin/sh does not exist" >&2
exit 1
)";

// The instance's first process waits for SIGCONT before it goes on.
inline constexpr std::string_view kStart = R"(#!/bin/sh
kill -CONT 1
for file in /.singularity.d/env/*.sh; do
    if [ -f "$file" ]; then . "$file"; fi
done
if [ -x /.singularity.d/startscript ]; then exec /.singularity.d/startscript "$@"; fi
)";

inline constexpr std::string_view kTest = R"(#!/bin/sh
for file in /.singularity.d/env/*.sh; do
    if [ -f "$file" ]; then . "$file"; fi
done
if [ -n "${SCIF_APPROOT:-}" ]; then
    if [ -x "$SCIF_APPROOT/scif/test" ]; then exec "$SCIF_APPROOT/scif/test" "$@"; fi
    echo "No tests for the application $SCIF_APPROOT"
    exit 1
fi
if [ -x /.singularity.d/test ]; then exec /.singularity.d/test "$@"; fi
echo "No test script found in container"
exit 0
)";

// Apptainer lets the shell look at the arguments once more, unless SINGULARITY_NO_EVAL is set; the image's
// own words follow as they are.
inline constexpr std::string_view kRunscriptHead = R"(#!/bin/sh
if [ -z "${SINGULARITY_NO_EVAL:-}" ]; then
    words=
    for word in "$@"; do words="$words \"$word\""; done
    eval "set -- $words"
    unset words word
fi
)";

struct Script {
  std::string_view name;
  std::string_view text;
};
inline constexpr Script kScripts[] = {
    {"actions/exec", kExec},
    {"actions/run", kRun},
    {"actions/shell", kShell},
    {"actions/start", kStart},
    {"actions/test", kTest},
    {"env/01-base.sh", kBase},
    {"env/90-environment.sh", kEnvironment},
    {"env/94-appsbase.sh", ""},
    {"env/95-apps.sh", kApplications},
    {"env/99-base.sh", kLibraries},
    {"env/99-runtimevars.sh", kRuntimeVariables},
    {"startscript", kStartscript},
};

}  // namespace kiln::sif::scripts
