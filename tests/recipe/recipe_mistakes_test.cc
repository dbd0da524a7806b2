// Every way in which one recipe.json can be wrong. The documents are in support/recipe_samples.h.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/recipe/recipe.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

const std::vector<Mistake> kRecipeMistakes = {
    {"UnknownKey", R"("description")", R"("descripton")", Schema::refuses,
     "3:3: error: unknown key 'descripton' (at /descripton); did you mean 'description'?"},
    {"UnknownMethodKey", R"("script": "distro.sh")", R"("scrpt": "distro.sh")", Schema::refuses,
     "19:7: error: unknown key 'scrpt' (at /methods/distro/scrpt); did you mean 'script'?"},
    {"UnknownVersionKey", R"("facts")", R"("fact")", Schema::refuses,
     "10:7: error: unknown key 'fact' (at /versions/0.3.29/fact); did you mean 'facts'?"},
    {"UnknownSourceKey", R"("url")", R"("uri")", Schema::refuses,
     "11:18: error: unknown key 'uri' (at /versions/0.3.29/source/uri); did you mean 'url'?"},
    {"UnknownBuildKey", R"("copy")", R"("copies")", Schema::refuses,
     "30:9: error: unknown key 'copies' (at /methods/source/build/copies); known keys: needs, script, copy, "
     "mount, secrets"},
    {"UnknownNeedKey", R"("name": "python", "version")", R"("name": "python", "versions")", Schema::refuses,
     "22:57: error: unknown key 'versions' (at /methods/distro/needs/0/versions); did you mean 'version'?"},
    {"UnknownTestKey", R"("files": ["smoke.py"])", R"("file": ["smoke.py"])", Schema::refuses,
     "34:35: error: unknown key 'file' (at /test/0/file); did you mean 'files'?"},
    {"KeyOfABase", R"("script": "distro.sh")", R"("rootfs": "distro.sh")", Schema::refuses,
     "19:7: error: unknown key 'rootfs' (at /methods/distro/rootfs); known keys: optimised, stock, optimise, "
     "versions, script, files, parameters, secrets, cache, needs, after, build, environment, limits"},
    {"LimitWithoutUnit", R"("script": "distro.sh")", R"("limits": {"wall": "12"}, "script": "distro.sh")",
     Schema::refuses,
     R"(19:26: error: expected a duration, found '12' (at /methods/distro/limits/wall); a whole number and s, m, h or d, such as "45m"; "0s" is no limit)"},
    {"LimitOfTheSite", R"("script": "distro.sh")", R"("limits": {"retries": 3}, "script": "distro.sh")",
     Schema::refuses,
     "19:18: error: unknown key 'retries' (at /methods/distro/limits/retries); known keys: wall, silence, "
     "log, memory"},
    {"EmptyDescription", R"("OpenBLAS in place of the reference BLAS")", R"("")", Schema::refuses,
     "3:18: error: expected a line of text, found an empty string (at /description)"},
    {"TwoLinesOfLicence", R"("BSD-3-Clause")", R"("BSD\n3")", Schema::refuses,
     "4:15: error: expected one line of text, found a control character (at /licenses); newlines and tabs "
     "are not allowed here"},
    {"RoleIsAKind", R"("licenses")", R"("role": "runtime", "licenses")", Schema::refuses,
     "4:11: error: 'runtime' has another meaning in a matrix and cannot be a role (at /role)"},
    {"RoleOfSeveralWords", R"("licenses")", R"("role": "memory allocator", "licenses")", Schema::refuses,
     "4:11: error: expected a role, found 'memory allocator' (at /role); small letters, digits and _, and no "
     "digit first, such as allocator"},
    {"HomepageOfWrongType", R"("https://www.openblas.net")", R"(["https://www.openblas.net"])",
     Schema::refuses, "5:15: error: expected a string, found an array (at /homepage)"},
    {"NotAVersion", R"("0.3.9")", R"("0.3/9")", Schema::refuses,
     "8:5: error: '0.3/9' is not a version (at /versions/0.3~19); a version starts with a letter or digit "
     "and holds letters, digits and . + - _"},
    {"SameVersionTwice", R"("0.3.9")", R"("0.3.29.0")", Schema::accepts,
     "9:15: error: '0.3.29.0' and '0.3.29' are the same version (at /versions/0.3.29)"},
    {"VersionOfWrongType", R"("0.3.9": {})", R"("0.3.9": true)", Schema::refuses,
     "8:14: error: expected an object, found a boolean (at /versions/0.3.9)"},
    {"FactIsANumber", R"("python": "3.13")", R"("python": 3.10)", Schema::refuses,
     "10:27: error: expected a string, found a number (at /versions/0.3.29/facts/python); put it in quotes "
     "(a version such as 3.10 would lose its zero)"},
    {"FactInCapitals", R"("python": "3.13")", R"("Python": "3.13")", Schema::refuses,
     "10:17: error: 'Python' is not a fact's name (at /versions/0.3.29/facts/Python); small letters, digits "
     "and _, and no digit first: scripts see KILN_FACT_<NAME>"},
    {"EmptyFact", R"("python": "3.13")", R"("python": "")", Schema::refuses,
     "10:27: error: expected a line of text, found an empty string (at /versions/0.3.29/facts/python)"},
    {"CompilerWithoutVersion", R"(, "compiler_version": "14.2")", "", Schema::refuses,
     R"(10:16: error: the facts 'compiler' and 'compiler_version' go together (at /versions/0.3.29/facts); flags depend on both: {"compiler": "gcc", "compiler_version": "14.2"})"},
    {"NotAUrl", "https://example.org/o.tar.gz", "o.tar.gz", Schema::refuses,
     "11:25: error: expected a URL, found 'o.tar.gz' (at /versions/0.3.29/source/url); for example "
     "https://…"},
    {"NoChecksum", R"(,
                 "checksum": "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")",
     "", Schema::refuses, "11:17: error: the key 'checksum' is missing (at /versions/0.3.29/source)"},
    {"ShortChecksum", "sha256:0123", "sha256:", Schema::refuses,
     "12:30: error: expected a checksum, found "
     "'sha256:456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef' (at "
     "/versions/0.3.29/source/checksum); sha256: and 64 lower-case hex digits, or git: and the 40 of a "
     "commit"},
    {"ChecksumInCapitals", "sha256:0123456789abcdef", "sha256:0123456789ABCDEF", Schema::refuses,
     "12:30: error: expected a checksum, found "
     "'sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef' (at "
     "/versions/0.3.29/source/checksum); sha256: and 64 lower-case hex digits, or git: and the 40 of a "
     "commit"},
    {"ChecksumOfBranch", R"("sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")",
     R"("git:main")", Schema::refuses,
     "12:30: error: expected a checksum, found 'git:main' (at /versions/0.3.29/source/checksum); sha256: and "
     "64 lower-case hex digits, or git: and the 40 of a commit"},
    {"UnknownMethod", R"("distro": {)", R"("disto": {)", Schema::refuses,
     "16:5: error: unknown method 'disto' (at /methods/disto); did you mean 'distro'?"},
    {"UnlikelyMethod", R"("distro": {)", R"("conda-forge": {)", Schema::refuses,
     "16:5: error: unknown method 'conda-forge' (at /methods/conda-forge); methods: hub, pip, distro, "
     "vendor, source"},
    {"OptimisedIsAWord", R"("optimised": true)", R"("optimised": "true")", Schema::refuses,
     "17:20: error: expected true or false, found a string (at /methods/distro/optimised)"},
    {"BadRange", R"(">=0.3.10")", R"(">=<2")", Schema::accepts,
     "18:19: error: '>=<2' is not a version range (at /methods/distro/versions); write a version (2.1 means "
     "the 2.1 series) or bounds such as '>=2.1 <2.10'"},
    {"RangeWithoutVersion", R"(">=0.3.10")", R"(">=1")", Schema::accepts,
     "18:19: error: no version of this recipe is in '>=1' (at /methods/distro/versions); the newest is "
     "0.3.29"},
    {"AbsentScript", R"("distro.sh")", R"("distor.sh")", Schema::accepts,
     "19:17: error: there is no file 'recipes/library/openblas/distor.sh' (at /methods/distro/script); did "
     "you mean 'distro.sh'?"},
    {"ScriptIsAFolder", R"("distro.sh")", R"("lists")", Schema::accepts,
     "19:17: error: 'recipes/library/openblas/lists' is a folder (at /methods/distro/script)"},
    {"ScriptOutside", R"("distro.sh")", R"("../numpy/distro.sh")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "../numpy/distro.sh" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"ScriptOutsideByTheBackDoor", R"("distro.sh")", R"("lists/../../numpy/distro.sh")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "lists/../../numpy/distro.sh" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"AbsoluteScript", R"("distro.sh")", R"("/bin/true")", Schema::refuses,
     "19:17: error: expected a path inside the folder, found the absolute path '/bin/true' (at "
     "/methods/distro/script)"},
    {"ScriptLikeAnOption", R"("distro.sh")", R"("-c")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "-c" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"FolderLikeAnOption", R"("distro.sh")", R"("lists/-c")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "lists/-c" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"ScriptWithNul", R"("distro.sh")", R"("distro\u0000.sh")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "distro\u0000.sh" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"ScriptWithBlank", R"("distro.sh")", R"("dist ro.sh")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "dist ro.sh" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"EmptyNameOfScript", R"("distro.sh")", R"("")", Schema::refuses,
     R"(19:17: error: expected a file inside the folder, found "" (at /methods/distro/script); no '..', no leading '-', and letters, digits and _ . + - @ only)"},
    {"EmptyScript", R"("distro.sh")", R"("empty.sh")", Schema::accepts,
     "19:17: error: the script 'empty.sh' is empty (at /methods/distro/script)"},
    {"ScriptWithCarriageReturns", R"("distro.sh")", R"("dos.sh")", Schema::accepts,
     "19:17: error: line 2 of the script 'dos.sh' ends in CR LF (at /methods/distro/script); /bin/sh would "
     "read the CR as part of the line: save it with LF"},
    {"BinaryScript", R"("distro.sh")", R"("binary.sh")", Schema::accepts,
     "19:17: error: the script 'binary.sh' holds a NUL byte (at /methods/distro/script); a script is a text "
     "file"},
    {"AbsentFile", R"("lists/packages.txt")", R"("lists/package.txt")", Schema::accepts,
     "20:17: error: there is no file 'recipes/library/openblas/lists/package.txt' (at "
     "/methods/distro/files/0); did you mean 'packages.txt'?"},
    {"FileTwice", R"(["lists/packages.txt", {"file": "smoke.py", "when": {"version": "0.3.29"}}])",
     R"(["smoke.py", "smoke.py"])", Schema::refuses,
     R"(20:29: error: file "smoke.py" is there twice (at /methods/distro/files/1); first at /methods/distro/files/0)"},
    {"FileWithoutAName", R"({"file": "smoke.py", )", "{", Schema::refuses,
     "20:39: error: the key 'file' is missing (at /methods/distro/files/1)"},
    {"FileWithoutAWhen", R"("smoke.py", "when": {"version": "0.3.29"})", R"("smoke.py")", Schema::refuses,
     "20:39: error: the key 'when' is missing (at /methods/distro/files/1)"},
    {"FileWithAnotherKey", R"("file": "smoke.py")", R"("flie": "smoke.py")", Schema::refuses,
     "20:40: error: unknown key 'flie' (at /methods/distro/files/1/flie); did you mean 'file'?"},
    {"FileForNoVersion", R"({"version": "0.3.29"}}])", R"({"version": ">=1"}}])", Schema::accepts,
     "20:80: error: no version of this recipe is in '>=1' (at /methods/distro/files/1/when/version); the "
     "newest is "
     "0.3.29"},
    {"FilesIsAString", R"(["lists/packages.txt", {"file": "smoke.py", "when": {"version": "0.3.29"}}])",
     R"("lists/packages.txt")", Schema::refuses,
     "20:16: error: expected an array, found a string (at /methods/distro/files)"},
    {"UnknownParameter", R"("KILN_VERSION")", R"("KILN_VERSON")", Schema::refuses,
     "21:22: error: unknown parameter 'KILN_VERSON' (at /methods/distro/parameters/0); did you mean "
     "'KILN_VERSION'?"},
    {"UnlikelyParameter", R"("KILN_VERSION")", R"("MY_FLAGS_AND_MORE")", Schema::refuses,
     "21:22: error: unknown parameter 'MY_FLAGS_AND_MORE' (at /methods/distro/parameters/0); "
     "docs/formats/recipe.md lists the parameters"},
    {"ParameterOfUnknownKind", R"("KILN_FRAMEWORK_VERSION")", R"("KILN_FRAMWORK_VERSION")", Schema::refuses,
     "21:58: error: unknown parameter 'KILN_FRAMWORK_VERSION' (at /methods/distro/parameters/2); did you "
     "mean 'KILN_FRAMEWORK_VERSION'?"},
    {"ParameterOfAbsentFact", R"("KILN_FACT_PYTHON")", R"("KILN_FACT_PYTON")", Schema::accepts,
     "21:38: error: no version of this recipe has the fact 'pyton' (at /methods/distro/parameters/1); did "
     "you mean 'python'?"},
    {"ParameterThatIsAlwaysThere", R"("KILN_VERSION")", R"("KILN_JOBS")", Schema::refuses,
     "21:22: error: 'KILN_JOBS' is given to every script and is not listed (at "
     "/methods/distro/parameters/0); leave it out"},
    {"ParameterOfThePipFamily", R"("KILN_VERSION")", R"("PIP_INDEX_URL")", Schema::refuses,
     "21:22: error: 'PIP_INDEX_URL' is given to every script and is not listed (at "
     "/methods/distro/parameters/0); leave it out"},
    {"ParameterTwice", R"("KILN_FACT_PYTHON")", R"("KILN_VERSION")", Schema::refuses,
     R"(21:38: error: parameter "KILN_VERSION" is there twice (at /methods/distro/parameters/1); first at /methods/distro/parameters/0)"},
    {"UnknownKind", R"({"kind": "toolchain", "name": "python")", R"({"kind": "toolchian", "name": "python")",
     Schema::refuses,
     "22:26: error: expected a kind, found 'toolchian' (at /methods/distro/needs/0/kind); did you mean "
     "'toolchain'?"},
    {"NeedWithoutName", R"("name": "gcc")", R"("version": "14")", Schema::refuses,
     "28:19: error: the key 'name' is missing (at /methods/source/build/needs/0)"},
    {"NeedTwice", R"({"kind": "toolchain", "name": "python", "version": ">=3.11"})",
     R"({"kind": "toolchain", "name": "python"}, {"kind": "toolchain", "name": "python", "version": "3"})",
     Schema::accepts,
     "22:58: error: toolchain/python is needed twice (at /methods/distro/needs/1); first at "
     "/methods/distro/needs/0/name"},
    {"BadNeedRange", R"(">=3.11")", R"("3.11 or so>")", Schema::accepts,
     "22:68: error: 'so>' is not a version range (at /methods/distro/needs/0/version); write a version (2.1 "
     "means the 2.1 series) or bounds such as '>=2.1 <2.10'"},
    {"NeedWithBadName", R"("name": "gcc")", R"("name": "../gcc")", Schema::refuses,
     R"(28:49: error: expected a name of letters, digits, '_', '.', '+' and '-', found "../gcc" (at /methods/source/build/needs/0/name); a name starts with a letter or digit, holds no '..' and is at most 128 bytes long)"},
    {"AfterTwice", R"(["framework", "python"])", R"(["framework", "framework"])", Schema::refuses,
     R"(23:30: error: name "framework" is there twice (at /methods/distro/after/1); first at /methods/distro/after/0)"},
    {"VariableWithDash", R"("OPENBLAS_VERBOSE")", R"("OPENBLAS-VERBOSE")", Schema::refuses,
     "24:23: error: 'OPENBLAS-VERBOSE' is not a variable's name (at "
     "/methods/distro/environment/OPENBLAS-VERBOSE); letters, digits and _, and no digit first"},
    {"VariableWithDigitFirst", R"("OPENBLAS_VERBOSE")", R"("0PENBLAS")", Schema::refuses,
     "24:23: error: '0PENBLAS' is not a variable's name (at /methods/distro/environment/0PENBLAS); letters, "
     "digits and _, and no digit first"},
    {"ValueWithNewline", R"("OPENBLAS_VERBOSE": "0")", R"("OPENBLAS_VERBOSE": "0\nUSER root")",
     Schema::refuses,
     "24:43: error: expected one line of text, found a control character (at "
     "/methods/distro/environment/OPENBLAS_VERBOSE); newlines and tabs are not allowed here"},
    {"ValueIsANumber", R"("OPENBLAS_VERBOSE": "0")", R"("OPENBLAS_VERBOSE": 0)", Schema::refuses,
     "24:43: error: expected a string, found a number (at /methods/distro/environment/OPENBLAS_VERBOSE); put "
     "it in quotes (a version such as 3.10 would lose its zero)"},
    {"ValueWithNoComponent", R"("OPENBLAS_VERBOSE": "0")",
     R"("OPENBLAS_VERBOSE": {"value": "0", "with": "pytorch"})", Schema::refuses,
     "24:66: error: expected a component, found 'pytorch' (at "
     "/methods/distro/environment/OPENBLAS_VERBOSE/with); for example framework/pytorch or "
     "toolchain/python@3.12"},
    {"ValueWithNoCondition", R"("OPENBLAS_VERBOSE": "0")", R"("OPENBLAS_VERBOSE": {"value": "0"})",
     Schema::refuses,
     "24:43: error: the key 'with' is missing (at /methods/distro/environment/OPENBLAS_VERBOSE)"},
    {"NativeValueOfAComponent", R"("OPENBLAS_VERBOSE": "0")",
     R"("OPENBLAS_VERBOSE": {"value": "-march=native", "with": "framework/pytorch"})", Schema::accepts,
     "24:53: error: '-march=native' means the machine that builds, and images are for the target (at "
     "/methods/distro/environment/OPENBLAS_VERBOSE/value); scripts find the target's flags in CFLAGS and the "
     "like: docs/formats/targets.md"},
    {"BuildWithoutScript", R"("script": "build.sh",)", "", Schema::refuses,
     "27:16: error: the key 'script' is missing (at /methods/source/build)"},
    {"BuildCopiesNothing", R"(["/opt/kiln/openblas"])", "[]", Schema::refuses,
     "30:17: error: expected at least one path, found an empty array (at /methods/source/build/copy)"},
    {"BuildHandsNothingOn", R"("copy": ["/opt/kiln/openblas"])", R"("secrets": ["token"])", Schema::refuses,
     "27:16: error: the build stage leaves nothing to the image (at /methods/source/build); 'copy' are paths "
     "that the "
     "image "
     "keeps, 'mount' those that the method's script sees while it runs"},
    {"MountWithoutAScript", R"("copy": ["/opt/kiln/openblas"])", R"("mount": ["/srv/wheels"])",
     Schema::accepts,
     "30:18: error: this method has no script that sees what is mounted (at /methods/source/build/mount); "
     "add "
     "a "
     "'script', or 'copy'"},
    {"MountOfParent", R"("copy": ["/opt/kiln/openblas"])", R"("mount": ["/srv/../etc"])", Schema::refuses,
     R"(30:19: error: expected an absolute path, found "/srv/../etc" (at /methods/source/build/mount/0); for example /opt/kiln/name: no '..', no '/' at the end, and letters, digits and _ . + - @ only)"},
    {"LibraryToBuildOn", R"("0.3.9": {})", R"("0.3.9": {"build_on": "0.3.29"})", Schema::accepts,
     "8:27: error: only a base has another version to build on (at /versions/0.3.9/build_on)"},
    {"CopyOfRelativePath", R"("/opt/kiln/openblas")", R"("opt/kiln/openblas")", Schema::refuses,
     R"(30:18: error: expected an absolute path, found "opt/kiln/openblas" (at /methods/source/build/copy/0); for example /opt/kiln/name: no '..', no '/' at the end, and letters, digits and _ . + - @ only)"},
    {"CopyOfParent", R"("/opt/kiln/openblas")", R"("/opt/../etc")", Schema::refuses,
     R"(30:18: error: expected an absolute path, found "/opt/../etc" (at /methods/source/build/copy/0); for example /opt/kiln/name: no '..', no '/' at the end, and letters, digits and _ . + - @ only)"},
    {"CopyOfEverything", R"("/opt/kiln/openblas")", R"("/")", Schema::refuses,
     R"(30:18: error: expected an absolute path, found "/" (at /methods/source/build/copy/0); for example /opt/kiln/name: no '..', no '/' at the end, and letters, digits and _ . + - @ only)"},
    {"CopyTwice", R"(["/opt/kiln/openblas"])", R"(["/opt/kiln/a", "/opt/kiln/a"])", Schema::refuses,
     R"(30:33: error: path "/opt/kiln/a" is there twice (at /methods/source/build/copy/1); first at /methods/source/build/copy/0)"},
    {"NativeInTheEnvironment", R"("OPENBLAS_VERBOSE": "0")", R"("CFLAGS": "-O2 -march=native")",
     Schema::accepts,
     "24:33: error: '-march=native' means the machine that builds, and images are for the target (at "
     "/methods/distro/environment/CFLAGS); scripts find the target's flags in CFLAGS and the like: "
     "docs/formats/targets.md"},
    {"NativeGpuInTheEnvironment", R"("OPENBLAS_VERBOSE": "0")", R"("CUDAARCHS": "native")", Schema::accepts,
     "24:36: error: 'native' means the machine that builds, and images are for the target (at "
     "/methods/distro/environment/CUDAARCHS); scripts find the target's flags in CFLAGS and the like: "
     "docs/formats/targets.md"},
    {"NativeInAFact", R"("python": "3.13")", R"("arch": "-mcpu=native")", Schema::accepts,
     "10:25: error: '-mcpu=native' means the machine that builds, and images are for the target (at "
     "/versions/0.3.29/facts/arch); scripts find the target's flags in CFLAGS and the like: "
     "docs/formats/targets.md"},
    {"LevelIsANumber", R"("optimised": true)", R"("optimise": {"level": 3})", Schema::refuses,
     "17:29: error: expected a string, found a number (at /methods/distro/optimise/level); put it in quotes "
     "(a version "
     "such as 3.10 would lose its zero)"},
    {"UnknownLevel", R"("optimised": true)", R"("optimise": {"level": "fast"})", Schema::refuses,
     "17:29: error: expected a level, found 'fast' (at /methods/distro/optimise/level); one of 0, 1, 2, 3, "
     "s"},
    {"UnknownLto", R"("optimised": true)", R"("optimise": {"lto": "thn"})", Schema::refuses,
     R"(17:27: error: expected true, false or "thin", found 'thn' (at /methods/distro/optimise/lto); did you mean 'thin'?)"},
    {"UnknownPgo", R"("optimised": true)", R"("optimise": {"pgo": "used"})", Schema::refuses,
     "17:27: error: expected a step of PGO, found 'used' (at /methods/distro/optimise/pgo); did you mean "
     "'use'?"},
    {"RelativeProfile", R"("optimised": true)", R"("optimise": {"profile": "a"})", Schema::refuses,
     R"(17:31: error: expected an absolute path, found "a" (at /methods/distro/optimise/profile); for example /opt/kiln/name: no '..', no '/' at the end, and letters, digits and _ . + - @ only)"},
    {"EmptyOptimise", R"("optimised": true)", R"("optimise": {})", Schema::refuses,
     "17:19: error: expected level, lto, pgo or profile, found an empty object (at "
     "/methods/distro/optimise)"},
    {"TestWithoutScript", R"("test": [{"script": "smoke.sh", )", R"("test": [{)", Schema::refuses,
     "34:12: error: the key 'script' is missing (at /test/0)"},
    {"NoTestAtAll", R"("test": [{"script": "smoke.sh", "files": ["smoke.py"]}, )", R"("test": [], "x": [)",
     Schema::refuses,
     "34:15: error: unknown key 'x' (at /x); known keys: description, licenses, homepage, role, "
     "versions, sources, upstream, methods, test, accept"},
    {"TestTwice", R"({"script": "distro.sh", "when": {"target": "zen*", "version": "0.3.29"}})",
     R"({"files": ["smoke.py"], "script": "smoke.sh"})", Schema::refuses,
     R"(34:59: error: test {"files":["smoke.py"],"script":"smoke.sh"} is there twice (at /test/1); first at /test/0)"},
    {"ConditionWithUnknownKey", R"("target": "zen*")", R"("targets": "zen*")", Schema::refuses,
     "34:92: error: unknown key 'targets' (at /test/1/when/targets); did you mean 'target'?"},
    {"ConditionThatSaysNothing", R"("when": {"version": ">=0.3.20"})", R"("when": {})", Schema::refuses,
     "22:203: error: expected a condition, found one that always holds (at /methods/distro/needs/1/when); "
     "leave 'when' out"},
    {"ConditionForNoVersion", R"("version": ">=0.3.20")", R"("version": ">=1")", Schema::accepts,
     "22:215: error: no version of this recipe is in '>=1' (at /methods/distro/needs/1/when/version); the "
     "newest is 0.3.29"},
    {"ConditionOnARangeOfTargets", R"("target": "*,nvidia*")", R"("target": ">=zen2")", Schema::refuses,
     "22:142: error: expected a target or a glob over targets, found '>=zen2' (at "
     "/methods/distro/needs/1/any/0/when/target); for example *nvidia* or zen*"},
    {"TestBesideAComponent", R"("target": "zen*")", R"("with": "toolchain/gcc")", Schema::refuses,
     "34:100: error: only a file may ask what else is in the image (at /test/1/when/with); that follows from "
     "what is needed"},
    {"NeedBesideAComponent", R"("target": "*,nvidia*")", R"("with": "toolchain/gcc")", Schema::refuses,
     "22:140: error: only a file may ask what else is in the image (at "
     "/methods/distro/needs/1/any/0/when/with); that follows from what is needed"},
    {"FileBesideNoComponent", R"("toolchain/gcc@>=12 <15")", R"("gcc@12")", Schema::refuses,
     "26:65: error: expected a component, found 'gcc@12' (at /methods/source/files/0/when/with); for example "
     "framework/pytorch or toolchain/python@3.12"},
    {"FileBesideABadName", R"("toolchain/gcc@>=12 <15")", R"("toolchain/../gcc")", Schema::refuses,
     "26:65: error: expected a component, found 'toolchain/../gcc' (at /methods/source/files/0/when/with); "
     "for example framework/pytorch or toolchain/python@3.12"},
    {"FileBesideAnEmptyVersion", R"("toolchain/gcc@>=12 <15")", R"("toolchain/gcc@")", Schema::refuses,
     "26:65: error: no version after '@' in 'toolchain/gcc@' (at /methods/source/files/0/when/with)"},
    {"FileBesideABadRange", R"("toolchain/gcc@>=12 <15")", R"("toolchain/gcc@12 or so>")", Schema::accepts,
     "26:65: error: 'so>' is not a version range (at /methods/source/files/0/when/with); write a version "
     "(2.1 means the 2.1 series) or bounds such as '>=2.1 <2.10'"},
    {"OneAlternative", R"({"kind": "library", "name": "mkl", "when": {"target": "*,nvidia*"}}, )", "",
     Schema::refuses,
     "22:87: error: one alternative is no choice (at /methods/distro/needs/1/any); write it as a separate "
     "need"},
    {"AlternativesOfAlternatives", R"({"kind": "library", "name": "blis"})",
     R"({"any": [{"kind": "library", "name": "blis"}]})", Schema::refuses,
     "22:158: error: unknown key 'any' (at /methods/distro/needs/1/any/1/any); known keys: kind, name, "
     "version, when"},
    {"AlternativesWithAName", R"({"any": [)", R"({"name": "blas", "any": [)", Schema::refuses,
     "22:80: error: unknown key 'name' (at /methods/distro/needs/1/name); known keys: any, when"},
    {"UpstreamThatIsNoPackage", R"("scipy-openblas")", R"("../openblas")", Schema::refuses,
     "35:25: error: '../openblas' is not a package's name (at /upstream/0/pypi); letters, digits and . _ - "
     "only, and a letter or digit at both ends"},
    {"UpstreamOfABadRange", R"(">=0.3.9 <0.4")", R"(">=0.3.9 <")", Schema::accepts,
     "35:55: error: '<' is not a version range (at /upstream/0/versions); write a version (2.1 means the 2.1 "
     "series) or bounds such as '>=2.1 <2.10'"},
    {"UpstreamOfTwoKinds", R"("scipy-openblas",)", R"("scipy-openblas", "git": "https://example.org/x",)",
     Schema::refuses,
     "35:16: error: an upstream is 'pypi' or 'git', not both (at /upstream/0); {\"pypi\": \"torch\"}, or "
     "{\"git\": \"https://…\", \"tags\": \"v*\"}"},
    {"UpstreamOfNoKind", R"("pypi": "scipy-openblas", )", "", Schema::refuses,
     "35:16: error: an upstream needs 'pypi' or 'git' (at /upstream/0); {\"pypi\": \"torch\"}, or {\"git\": "
     "\"https://…\", \"tags\": \"v*\"}"},
    {"UpstreamThatIsNoUrl", R"("https://example.org/openblas.git")", R"("openblas.git")", Schema::refuses,
     "36:24: error: expected a URL, found 'openblas.git' (at /upstream/1/git); for example https://…"},
    {"UpstreamWithoutTags", R"(, "tags": "v*")", "", Schema::refuses,
     "36:16: error: which tags of the repository are releases? (at /upstream/1); add \"tags\": \"v*\" next "
     "to 'git'; * stands for the version"},
    {"TagsOfAPackage", R"("scipy-openblas",)", R"("scipy-openblas", "tags": "v*",)", Schema::refuses,
     "35:16: error: only a repository has 'tags' (at /upstream/0); add \"tags\": \"v*\" next to 'git'; * "
     "stands for the version"},
    {"TagsWithoutAStar", R"("v*")", R"("v1")", Schema::refuses,
     "36:68: error: expected a pattern of tags, found 'v1' (at /upstream/1/tags); one * stands for the "
     "version, as in v*; letters, digits and _ . / + - next to it"},
    {"TagsWithTwoStars", R"("v*")", R"("*.*")", Schema::refuses,
     "36:68: error: expected a pattern of tags, found '*.*' (at /upstream/1/tags); one * stands for the "
     "version, as in v*; letters, digits and _ . / + - next to it"},
    {"AcceptOfEverything", R"("test": )", R"("accept": [{"file": "*/lib*.so*", "reason": "r"}], "test": )",
     Schema::accepts,
     "34:23: error: '*/lib*.so*' accepts more than one program or library (at /accept/0/file); write the "
     "file's name, as in */libxgboost.so"},
    {"AcceptOfAName", R"("test": )", R"("accept": [{"file": "libo.so", "reason": "r"}], "test": )",
     Schema::refuses,
     "34:23: error: expected a path in the image, found 'libo.so' (at /accept/0/file); begin with / or with "
     "*/, as in */libxgboost.so; * is any text"},
    {"AcceptWithoutReason", R"("test": )", R"("accept": [{"file": "/opt/libo.so"}], "test": )",
     Schema::refuses, "34:14: error: the key 'reason' is missing (at /accept/0)"},
    {"AcceptOfNoVersion", R"("test": )",
     R"("accept": [{"file": "*/libo.so", "reason": "r", "versions": ">=1"}], "test": )", Schema::accepts,
     "34:63: error: no version of this recipe is in '>=1' (at /accept/0/versions); the newest is 0.3.29"},
    {"AcceptOfNoMethod", R"("test": )",
     R"("accept": [{"file": "*/libo.so", "reason": "r", "method": "pip"}], "test": )", Schema::accepts,
     "34:61: error: expected a method of this recipe, found 'pip' (at /accept/0/method); one of distro, "
     "source"},
};

class RecipeMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(RecipeMistake, IsRefusedAtItsPlace) {
  const std::string json = with_mistake(kRecipe, GetParam().from, GetParam().to);
  EXPECT_EQ(input_error([&] { read_recipe(json, kRecipeFile, recipe_files()); }),
            "recipes/library/openblas/recipe.json:" + GetParam().error);
  const bool refused = !violations_of_schema("recipe", json).empty();
  EXPECT_EQ(refused, GetParam().schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Reader, RecipeMistake, ::testing::ValuesIn(kRecipeMistakes), name_of_mistake);

}  // namespace
}  // namespace kiln::testing
