// Every way in which one matrix file can be wrong. The documents are in samples.h.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/recipe/matrix.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

Matrix read(const std::string& name, const std::string& json) {
  FakeFileSystem files({{"matrix/demo.json", kMatrix}, {"matrix/targets/testbed.json", kTarget}});
  files.files["matrix/" + name] = json;
  return read_matrix(files, "matrix/" + name);
}

const std::vector<Mistake> kMatrixMistakes = {
    {"UnknownKey", R"("exclude")", R"("excludes")", Schema::refuses,
     "16:3: error: unknown key 'excludes' (at /excludes); did you mean 'exclude'?"},
    {"UnknownAxis", R"("library": [)", R"("libary": [)", Schema::refuses,
     "8:5: error: unknown key 'libary' (at /axes/libary); did you mean 'library'?"},
    {"NoName", R"("name": "demo",)", "", Schema::refuses, "1:1: error: the key 'name' is missing"},
    {"BadName", R"("demo")", R"("../demo")", Schema::refuses,
     R"(3:11: error: expected a name of letters, digits, '_', '.', '+' and '-', found "../demo" (at /name); a name starts with a letter or digit, holds no '..' and is at most 128 bytes long)"},
    {"NoAxes", R"("axes": {)", R"("axis": {)", Schema::refuses,
     "4:3: error: unknown key 'axis' (at /axis); did you mean 'axes'?"},
    {"EmptyAxes", R"("framework": ["pytorch"],
    "version": ["2.6.0", ">=2.7 <2.9"],
    "method": ["distro", "pip"],
    "library": ["none", "openblas@0.3.29:distro", "mkl+openmpi"],
    "toolchain": "gcc",
    "compiler": ["none", "inductor"],
    "base": ["debian@trixie"],
    "distributed": "none",
    "workload": "none",
    "target": ["x86_64_v3", "x86_64_v3,nvidia:sm_80"])",
     "", Schema::refuses, "4:11: error: expected at least one axis, found an empty object (at /axes)"},
    {"EmptyAxis", R"(["pytorch"])", "[]", Schema::refuses,
     "5:18: error: expected at least one value, found an empty array (at /axes/framework)"},
    {"EmptyValue", R"(["pytorch"])", R"([""])", Schema::refuses,
     "5:19: error: expected a line of text, found an empty string (at /axes/framework/0)"},
    {"DuplicateValue", R"(["distro", "pip"])", R"(["distro", "pip", "distro"])", Schema::refuses,
     R"(7:33: error: value "distro" is there twice (at /axes/method/2); first at /axes/method/0)"},
    {"VersionIsANumber", R"(["2.6.0", )", "[2.10, ", Schema::refuses,
     "6:17: error: expected a string, found a number (at /axes/version/0); put it in quotes (a version such "
     "as 3.10 would lose its zero)"},
    {"ValueIsAList", R"("mkl+openmpi")", R"(["mkl", "openmpi"])", Schema::refuses,
     R"(8:51: error: expected a string, found an array (at /axes/library/2); several components are joined: "mkl+openmpi")"},
    {"ValueIsAnObject", R"("gcc")", R"({"gcc": "14"})", Schema::refuses,
     "9:18: error: expected a string, found an object (at /axes/toolchain)"},
    {"BadRange", R"(">=2.7 <2.9")", R"("=>2.7")", Schema::accepts,
     "6:26: error: '=>2.7' is not a version range (at /axes/version/1); write a version (2.1 means the 2.1 "
     "series) or bounds such as '>=2.1 <2.10'"},
    {"UnknownMethod", R"(["distro", "pip"])", R"(["distro", "pypi"])", Schema::refuses,
     "7:26: error: expected a method, found 'pypi' (at /axes/method/1); did you mean 'pip'?"},
    {"UnknownMethodOfComponent", "0.3.29:distro", "0.3.29:distr", Schema::refuses,
     "8:25: error: unknown method 'distr' in 'openblas@0.3.29:distr' (at /axes/library/1); did you mean "
     "'distro'?"},
    {"NoVersionAfterAt", "openblas@0.3.29:distro", "openblas@:distro", Schema::refuses,
     "8:25: error: no version after '@' in 'openblas@:distro' (at /axes/library/1)"},
    {"NothingBeforeColon", "openblas@0.3.29:distro", ":distro", Schema::refuses,
     "8:25: error: no component name in ':distro' (at /axes/library/1)"},
    {"TwoFrameworks", R"(["pytorch"])", R"("pytorch+jax")", Schema::accepts,
     "5:18: error: an image has one framework, found 'pytorch+jax' (at /axes/framework)"},
    {"NothingAfterPlus", "mkl+openmpi", "mkl+", Schema::refuses,
     "8:51: error: no component name in '' (at /axes/library/2)"},
    {"NoneWithOthers", "mkl+openmpi", "none+openmpi", Schema::accepts,
     "8:51: error: 'none' must be alone, found 'none+openmpi' (at /axes/library/2)"},
    {"ComponentTwice", "mkl+openmpi", "mkl+mkl@2024", Schema::accepts,
     "8:51: error: 'mkl' is twice in 'mkl+mkl@2024' (at /axes/library/2)"},
    {"ComponentWithBlank", R"("inductor")", R"("in ductor")", Schema::refuses,
     "10:26: error: expected a component, found 'in ductor' (at /axes/compiler/1); none, or "
     "name[@version][:method], several joined by '+'"},
    {"BadTarget", R"("x86_64_v3",)", R"("x86_64_v3;sm_80",)", Schema::refuses,
     "14:16: error: expected a target, found 'x86_64_v3;sm_80' (at /axes/target/0); for example x86_64_v3 or "
     "x86_64_v3,nvidia:sm_80"},
    {"UnknownWayToOptimise", R"("target": ["x86_64_v3",)",
     R"("optimise": ["o3+lot"], "target": ["x86_64_v3",)", Schema::refuses,
     "14:18: error: 'lot' is no way to optimise (at /axes/optimise/0); did you mean 'lto'?"},
    {"ExcludeIsAnObject",
     R"([{"library": "none", "compiler": "induc*"}, {"version": "<2.7", "method": "pip", "reason": "no wheels"}])",
     R"({"library": "none"})", Schema::refuses,
     "16:14: error: expected an array, found an object (at /exclude)"},
    {"ExcludeWithAReasonAlone", R"("version": "<2.7", "method": "pip", )", "", Schema::refuses,
     "16:58: error: expected at least one axis, found an empty object (at /exclude/1)"},
    {"EmptyReasonOfExclude", R"("no wheels")", R"("")", Schema::refuses,
     "16:105: error: expected a line of text, found an empty string (at /exclude/1/reason)"},
    {"ReasonInInclude", R"("distributed": "openmpi")", R"("distributed": "openmpi", "reason": "why")",
     Schema::refuses,
     "17:66: error: unknown axis 'reason' (at /include/0/reason); axes: framework, version, method, base, "
     "toolchain, library, compiler, distributed, runtime, workload, application, target, optimise"},
    {"EmptyExclude", R"({"version": "<2.7", "method": "pip", "reason": "no wheels"})", "{}", Schema::refuses,
     "16:58: error: expected at least one axis, found an empty object (at /exclude/1)"},
    {"UnknownAxisOfExclude", R"("version": "<2.7")", R"("verison": "<2.7")", Schema::refuses,
     "16:59: error: unknown axis 'verison' (at /exclude/1/verison); did you mean 'version'?"},
    {"FactInExclude", R"("version": "<2.7")", R"("framework.python": "<3")", Schema::refuses,
     "16:59: error: unknown axis 'framework.python' (at /exclude/1/framework.python); only the conditions of "
     "constraints may contain facts"},
    {"BadRangeInExclude", R"("<2.7")", R"("<>2.7")", Schema::accepts,
     "16:70: error: '<>2.7' is not a version range (at /exclude/1/version); write a version (2.1 means the "
     "2.1 series) or bounds such as '>=2.1 <2.10'"},
    {"RangeOnANameAxis", R"("compiler": "induc*")", R"("compiler": "<2")", Schema::accepts,
     "16:47: error: expected a value or a glob, found '<2' (at /exclude/0/compiler); only 'version' and "
     "facts may have version ranges"},
    {"NumberInExclude", R"("<2.7")", "2.7", Schema::refuses,
     "16:70: error: expected a string, found a number (at /exclude/1/version); put it in quotes (a version "
     "such as 3.10 would lose its zero)"},
    {"UnknownAxisOfInclude", R"("distributed": "openmpi")", R"("distribution": "openmpi")", Schema::refuses,
     "17:40: error: unknown axis 'distribution' (at /include/0/distribution); did you mean 'distributed'?"},
    {"EmptyInclude", R"({"framework": "pytorch", "distributed": "openmpi"})", "{}", Schema::refuses,
     "17:15: error: expected at least one axis, found an empty object (at /include/0)"},
    {"GlobInInclude", R"("distributed": "openmpi")", R"("distributed": "open*")", Schema::accepts,
     "17:55: error: expected a component, found 'open*' (at /include/0/distributed); none, or "
     "name[@version][:method], several joined by '+'"},
    {"UnknownConstraintKey", R"("reason": "glow ended")", R"("because": "glow ended")", Schema::refuses,
     "19:88: error: unknown key 'because' (at /constraints/0/because); known keys: if, require, forbid, "
     "reason"},
    {"NoReason", R"(, "reason": "glow ended")", "", Schema::refuses,
     "19:5: error: the key 'reason' is missing (at /constraints/0)"},
    {"EmptyReason", R"("glow ended")", R"("")", Schema::refuses,
     "19:98: error: expected a line of text, found an empty string (at /constraints/0/reason)"},
    {"NoCondition", R"("if": {"compiler": "glow"}, )", "", Schema::refuses,
     "19:5: error: the key 'if' is missing (at /constraints/0)"},
    {"EmptyCondition", R"("if": {"compiler": "glow"})", R"("if": {})", Schema::refuses,
     "19:12: error: expected at least one axis, found an empty object (at /constraints/0/if)"},
    {"RequireAndForbid", R"("reason": "glow ended")", R"("forbid": {"base": "a"}, "reason": "glow ended")",
     Schema::refuses,
     "19:5: error: a constraint has 'require' or 'forbid', not both (at /constraints/0); write two "
     "constraints"},
    {"NeitherRequireNorForbid", R"("require": {"framework": "pytorch", "version": "<2"}, )", "",
     Schema::refuses, "19:5: error: a constraint needs 'require' or 'forbid' (at /constraints/0)"},
    {"UnknownAxisOfCondition", R"("if": {"compiler")", R"("if": {"compilers")", Schema::refuses,
     "19:13: error: unknown axis 'compilers' (at /constraints/0/if/compilers); did you mean 'compiler'?"},
    {"FactOfUnknownKind", R"("framework.python")", R"("framewrk.python")", Schema::refuses,
     "20:33: error: unknown axis 'framewrk.python' (at /constraints/1/if/framewrk.python); did you mean "
     "'framework'?"},
    {"FactWithBadName", R"("framework.python")", R"("framework.py-thon")", Schema::refuses,
     "20:33: error: unknown axis 'framework.py-thon' (at /constraints/1/if/framework.py-thon); a fact is "
     "<kind>.<name>, and its name small letters, digits and _"},
    {"BadRangeOnAFact", R"("<3.11")", R"("< ")", Schema::accepts,
     "20:53: error: '< ' is not a version range (at /constraints/1/if/framework.python); write a version "
     "(2.1 means the 2.1 series) or bounds such as '>=2.1 <2.10'"},
    {"AxesAndGroups", R"("exclude")", R"("groups": [{"name": "a", "axes": {"framework": "jax"}}], "exclude")",
     Schema::refuses,
     "16:13: error: a matrix has 'axes' or 'groups', not both (at /groups); make the axes a separate group"},
};

class MatrixMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(MatrixMistake, IsRefusedAtItsPlace) {
  const std::string json = with_mistake(kMatrix, GetParam().from, GetParam().to);
  EXPECT_EQ(input_error([&] { read("demo.json", json); }), "matrix/demo.json:" + GetParam().error);
  const bool refused = !violations_of_schema("matrix", json).empty();
  EXPECT_EQ(refused, GetParam().schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Reader, MatrixMistake, ::testing::ValuesIn(kMatrixMistakes), name_of_mistake);

const std::vector<Mistake> kGroupsMistakes = {
    {"GroupWithoutName", R"("name": "cpu", )", "", Schema::refuses,
     "5:5: error: the key 'name' is missing (at /groups/0)"},
    {"GroupWithoutAxes", R"(, "axes": {"framework": ["jax", "pytorch"]})", "", Schema::refuses,
     "6:5: error: the key 'axes' is missing (at /groups/1)"},
    {"UnknownGroupKey", R"("exclude": [])", R"("constraints": [])", Schema::refuses,
     "5:51: error: unknown key 'constraints' (at /groups/0/constraints); known keys: name, axes, exclude, "
     "include"},
    {"GroupTwice", R"("gpu")", R"("cpu")", Schema::accepts,
     "6:14: error: there are two groups 'cpu' (at /groups/1/name)"},
    {"ExcludeOutsideTheGroups", R"("includes")", R"("exclude": [], "includes")", Schema::refuses,
     "3:3: error: 'exclude' without 'axes' (at /exclude); put it into the group that it is about"},
    {"EmptyIncludes", R"(["demo.json"])", "[]", Schema::refuses,
     "3:15: error: expected at least one catalogue, found an empty array (at /includes)"},
    {"IncludeTwice", R"(["demo.json"])", R"(["demo.json", "demo.json"])", Schema::refuses,
     R"(3:29: error: catalogue "demo.json" is there twice (at /includes/1); first at /includes/0)"},
    {"IncludeOfAbsentFile", R"(["demo.json"])", R"(["dmo.json"])", Schema::accepts,
     "3:16: error: there is no file 'matrix/dmo.json' (at /includes/0); did you mean 'demo.json'?"},
    {"IncludeOfNothing", R"(["demo.json"])", R"([""])", Schema::refuses,
     "3:16: error: expected the name of a matrix file, found an empty string (at /includes/0)"},
    {"IncludeOfAFolder", R"(["demo.json"])", R"(["targets"])", Schema::accepts,
     "3:16: error: 'matrix/targets' is a folder (at /includes/0)"},
};

class GroupsMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(GroupsMistake, IsRefusedAtItsPlace) {
  const std::string json = with_mistake(kGroups, GetParam().from, GetParam().to);
  EXPECT_EQ(input_error([&] { read("all.json", json); }), "matrix/all.json:" + GetParam().error);
  const bool refused = !violations_of_schema("matrix", json).empty();
  EXPECT_EQ(refused, GetParam().schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Reader, GroupsMistake, ::testing::ValuesIn(kGroupsMistakes), name_of_mistake);

}  // namespace
}  // namespace kiln::testing
