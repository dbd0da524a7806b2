#include "factory/recipe/parameters.h"

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

using From = ParameterKind;
using To = GivenTo;

constexpr std::string_view kProxies = "the site's proxies";

constexpr Parameter kParameters[] = {
    {"KILN_VERSION", From::own, To::lister_and_test, "of this component"},
    {"KILN_METHOD", From::own, To::lister_and_test, "of this component"},
    {"KILN_NAME", From::own, To::lister_and_test, "of this component"},
    {"KILN_PREFIX", From::own, To::lister, "`/opt/kiln/<name>`: the folder for a built component"},
    {"KILN_SOURCE_URL", From::own, To::lister, "of this version"},
    {"KILN_SOURCE_CHECKSUM", From::own, To::lister, "of this version"},
    {"KILN_ARCHIVE", From::archive, To::lister,
     "a base's package archives, as the lockfile has them; empty without one"},
    {"KILN_FACT_<NAME>", From::fact, To::lister, "a fact of this version"},
    {"KILN_<KIND>_NAME", From::others, To::lister,
     "the image's component of another kind: `KILN_FRAMEWORK_VERSION`"},
    {"KILN_<KIND>_VERSION", From::others, To::lister,
     "the image's component of another kind: `KILN_FRAMEWORK_VERSION`"},
    {"KILN_CPU_TARGET", From::target, To::lister_and_test, "archspec's name and family"},
    {"KILN_CPU_FAMILY", From::target, To::lister_and_test, "archspec's name and family"},
    {"KILN_GPU_TARGETS", From::target, To::lister_and_test, "`sm_80 sm_90`"},
    {"KILN_OPTIMISE", From::optimise, To::lister, "`o3+lto`", "scripts"},
    {"KILN_PROFILE", From::optimise, To::lister,
     "the folder of profiles, `/opt/kiln/profile/<name>`; empty without PGO", "scripts"},

    {"KILN_CPU_FLAGS", From::cpu_flags, To::lister, "archspec's flags alone"},
    {"CFLAGS", From::compiler_flags, To::lister, "`-O2 -march=… -mtune=…`, with LTO and PGO where asked for",
     "make, autotools, CMake, setuptools, Meson"},
    {"CXXFLAGS", From::compiler_flags, To::lister,
     "`-O2 -march=… -mtune=…`, with LTO and PGO where asked for",
     "make, autotools, CMake, setuptools, Meson"},
    {"FFLAGS", From::compiler_flags, To::lister,
     "the same for Fortran; with Clang, those of the stage's GCC, or the level alone, with a note",
     "make, autotools, CMake"},
    {"LDFLAGS", From::compiler_flags, To::lister,
     "the flags that LTO and PGO need at link time; usually empty", "the same, setuptools"},
    {"KILN_BAZEL_COPTS", From::compiler_flags, To::lister, "`--copt=…`, `--linkopt=…` words",
     "`bazel build -c opt $KILN_BAZEL_COPTS $KILN_BAZEL_LINKOPTS`"},
    {"KILN_BAZEL_LINKOPTS", From::compiler_flags, To::lister, "`--copt=…`, `--linkopt=…` words",
     "`bazel build -c opt $KILN_BAZEL_COPTS $KILN_BAZEL_LINKOPTS`"},
    {"KILN_CMAKE_FLAGS", From::compiler_flags, To::lister, "`-DCMAKE_…` shell words", "see below"},
    {"KILN_NVCC_FLAGS", From::compiler_flags, To::lister,
     "`-O2`, `-gencode=…` for each GPU and PTX for the newest, host flags by `-Xcompiler=`",
     "`nvcc $KILN_NVCC_FLAGS`"},
    {"NVCC_APPEND_FLAGS", From::cpu_flags, To::lister, "the host flags alone",
     "nvcc itself (CUDA 11 and later), below any build system"},
    {"KILN_HIP_FLAGS", From::compiler_flags, To::lister,
     "`-O2 --offload-arch=gfx90a`, and `-Xarch_host` flags where the stage's compiler is a Clang",
     "`hipcc $KILN_HIP_FLAGS`"},
    {"KILN_CUDA_ARCHS", From::gpu_flags, To::lister, "`8.0;9.0+PTX`", "PyTorch and its extensions"},
    {"TORCH_CUDA_ARCH_LIST", From::gpu_flags, To::lister, "`8.0;9.0+PTX`", "PyTorch and its extensions"},
    {"CUDAARCHS", From::gpu_flags, To::lister, "`80-real;90`", "CMake"},
    {"TF_CUDA_COMPUTE_CAPABILITIES", From::gpu_flags, To::lister, "`sm_80,compute_90`",
     "TensorFlow 2.2 and later; 2.1 needs `8.0,9.0`"},
    {"PYTORCH_ROCM_ARCH", From::gpu_flags, To::lister, "`gfx90a;gfx942`", "PyTorch"},

    {"KILN_JOBS", From::build, To::every_script,
     "number of compilers that the script may run at once: the processors divided by the steps that run side "
     "by side, and at most one for each 2 GiB of its memory"},
    {"SOURCE_DATE_EPOCH", From::build, To::every_script, "the newest time that files may have"},
    {"DEBIAN_FRONTEND", From::build, To::every_script, "`noninteractive`"},
    {"LC_ALL", From::build, To::every_script, "`C.UTF-8`"},
    {"HOME", From::build, To::every_script, "`/root`"},
    {"PATH", From::build, To::every_script, "the image's"},
    {"http_proxy", From::build, To::every_script, kProxies},
    {"https_proxy", From::build, To::every_script, kProxies},
    {"no_proxy", From::build, To::every_script, kProxies},
    {"all_proxy", From::build, To::every_script, kProxies},
    {"HTTP_PROXY", From::build, To::every_script, kProxies},
    {"HTTPS_PROXY", From::build, To::every_script, kProxies},
    {"NO_PROXY", From::build, To::every_script, kProxies},
    {"ALL_PROXY", From::build, To::every_script, kProxies},
    {"PIP_*", From::build, To::every_script, "the site's options for pip"},
    {"KILN_SECRETS", From::build, To::every_script, "the folder of the secrets that the method names"},
    {"KILN_OUTPUT", From::build, To::rootfs_script,
     "the file that a `rootfs` script writes; the folder of a `site` script"},
    {"KILN_ARCHITECTURE", From::build, To::archive_script,
     "the OCI architecture for which `kiln lock` runs an `archive` script"},
};

constexpr std::string_view kFactPrefix = "KILN_FACT_";
constexpr std::string_view kOpenKind = "<KIND>";

bool may_be_listed(const Parameter& parameter) {
  return parameter.given_to == To::lister || parameter.given_to == To::lister_and_test;
}

// Whether `name` is one of those that the row stands for.
bool stands_for(const Parameter& parameter, std::string_view name) {
  if (parameter.kind == From::fact) return !fact_of_parameter(name).empty();
  if (parameter.kind == From::others) {
    std::string_view ending = parameter.name.substr(parameter.name.find('>') + 1);
    return name.ends_with(ending) && kind_of_parameter(name);
  }
  if (parameter.name.ends_with('*'))
    return name.starts_with(parameter.name.substr(0, parameter.name.size() - 1));
  return parameter.name == name;
}

template <typename Wanted>
std::vector<std::string> names_of(Wanted wanted) {
  std::vector<std::string> names;
  for (const Parameter& parameter : kParameters)
    if (wanted(parameter)) names.emplace_back(parameter.name);
  return names;
}

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

const Parameter* find_parameter(std::string_view name) {
  for (const Parameter& parameter : kParameters)
    if (stands_for(parameter, name)) return &parameter;
  return nullptr;
}

bool reads_source(const Method& method) {
  return std::ranges::any_of(method.parameters,
                             [](const std::string& name) { return name.starts_with("KILN_SOURCE_"); });
}

bool is_known_parameter(std::string_view name) {
  const Parameter* parameter = find_parameter(name);
  return parameter != nullptr && may_be_listed(*parameter);
}

bool is_given_to_every_script(std::string_view name) {
  const Parameter* parameter = find_parameter(name);
  return parameter != nullptr &&
         (parameter->given_to == To::every_script || parameter->given_to == To::rootfs_script);
}

std::vector<std::string> known_parameters() {
  std::vector<std::string> names;
  for (const Parameter& parameter : kParameters) {
    if (!may_be_listed(parameter) || parameter.kind == From::fact) continue;
    std::size_t open = parameter.name.find(kOpenKind);
    if (open == std::string_view::npos) {
      names.emplace_back(parameter.name);
      continue;
    }
    for (const std::string& kind : kind_names())
      names.push_back(std::string(parameter.name).replace(open, kOpenKind.size(), upper_case(kind)));
  }
  return names;
}

const std::vector<std::string>& parameters_of_tests() {
  static const std::vector<std::string> names =
      names_of([](const Parameter& one) { return one.given_to == To::lister_and_test; });
  return names;
}

std::string fact_of_parameter(std::string_view name) {
  if (!name.starts_with(kFactPrefix) || name.size() == kFactPrefix.size()) return "";
  std::string word;
  for (char c : name.substr(kFactPrefix.size())) {
    bool capital = c >= 'A' && c <= 'Z';
    if (!capital && !(c >= '0' && c <= '9') && c != '_') return "";
    word += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

std::optional<Kind> kind_of_parameter(std::string_view name) {
  constexpr std::string_view kPrefix = "KILN_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  for (std::string_view ending : {"_NAME", "_VERSION"}) {
    if (!name.ends_with(ending)) continue;
    std::string_view capitals = name.substr(0, name.size() - ending.size());
    for (const std::string& kind : kind_names())
      if (upper_case(kind) == capitals) return kind_from(kind);
  }
  return std::nullopt;
}

const std::vector<std::string>& compiler_variables() {
  static const std::vector<std::string> names = names_of(
      [](const Parameter& one) { return one.kind == From::cpu_flags || one.kind == From::compiler_flags; });
  return names;
}

const std::vector<std::string>& gpu_variables() {
  static const std::vector<std::string> names =
      names_of([](const Parameter& one) { return one.kind == From::gpu_flags; });
  return names;
}

bool is_compiler_variable(std::string_view name) { return contains(compiler_variables(), name); }

bool is_gpu_variable(std::string_view name) { return contains(gpu_variables(), name); }

bool depends_on_optimise(std::string_view name) {
  const Parameter* parameter = find_parameter(name);
  return parameter != nullptr && parameter->kind == From::compiler_flags;
}

static const std::vector<CacheKind>& cache_kinds() {
  static const std::vector<CacheKind> kKinds = {
      {"ccache", "ccache", "", "install ccache and put /usr/lib/ccache first in PATH"},
      {"pip", "pip", "--no-cache-dir", "call pip without --no-cache-dir"}};
  return kKinds;
}

const CacheKind* find_cache_kind(std::string_view name) {
  for (const CacheKind& kind : cache_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

const std::vector<std::string>& cache_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const CacheKind& kind : cache_kinds()) names.emplace_back(kind.name);
    return names;
  }();
  return kNames;
}

}  // namespace kiln
