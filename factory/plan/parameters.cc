#include "plan/parameters.h"

#include <algorithm>
#include <cctype>

#include "plan/flags.h"

namespace kiln {
namespace {

// The table of docs/formats.md, less the flags (plan/flags.h). <KIND> stands for each kind in capitals,
// <NAME> for any fact.
constexpr std::string_view kParameters[] = {
    "KILN_VERSION",         "KILN_METHOD",     "KILN_NAME",        "KILN_PREFIX",      "KILN_SOURCE_URL",
    "KILN_SOURCE_CHECKSUM", "KILN_ARCHIVE",    "KILN_FACT_<NAME>", "KILN_<KIND>_NAME", "KILN_<KIND>_VERSION",
    "KILN_CPU_TARGET",      "KILN_CPU_FAMILY", "KILN_GPU_TARGETS", "KILN_OPTIMISE",    "KILN_PROFILE",
};

constexpr std::string_view kGivenToAll[] = {
    "KILN_JOBS", "SOURCE_DATE_EPOCH", "KILN_OUTPUT", "DEBIAN_FRONTEND", "LC_ALL",     "HOME",
    "PATH",      "http_proxy",        "https_proxy", "no_proxy",        "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY",  "ALL_PROXY",         "all_proxy",
};

constexpr std::string_view kFactPrefix = "KILN_FACT_";

std::string in_capitals(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

}  // namespace

std::vector<std::string> known_parameters() {
  std::vector<std::string> names;
  for (std::string_view parameter : kParameters) {
    std::size_t kind = parameter.find("<KIND>");
    if (kind != std::string_view::npos) {
      for (const std::string& name : kind_names())
        names.push_back(
            std::string(parameter).replace(kind, std::string_view("<KIND>").size(), in_capitals(name)));
    } else if (parameter.find('<') == std::string_view::npos) {
      names.emplace_back(parameter);
    }
  }
  for (const auto* variables : {&compiler_variables(), &gpu_variables()})
    names.insert(names.end(), variables->begin(), variables->end());
  return names;
}

std::string fact_of_parameter(std::string_view name) {
  if (!name.starts_with(kFactPrefix) || name.size() == kFactPrefix.size()) return "";
  std::string fact;
  for (char c : name.substr(kFactPrefix.size())) {
    bool capital = c >= 'A' && c <= 'Z';
    if (!capital && !(c >= '0' && c <= '9') && c != '_') return "";
    fact += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return fact;
}

bool is_known_parameter(std::string_view name) {
  if (!fact_of_parameter(name).empty()) return true;
  const std::vector<std::string> known = known_parameters();
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::optional<Kind> kind_of_parameter(std::string_view name) {
  constexpr std::string_view kPrefix = "KILN_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  for (std::string_view ending : {"_NAME", "_VERSION"}) {
    if (!name.ends_with(ending)) continue;
    std::string_view capitals = name.substr(0, name.size() - ending.size());
    for (const std::string& kind : kind_names())
      if (in_capitals(kind) == capitals) return kind_from(kind);
  }
  return std::nullopt;
}

bool is_given_to_every_script(std::string_view name) {
  return name.starts_with("PIP_") ||
         std::find(std::begin(kGivenToAll), std::end(kGivenToAll), name) != std::end(kGivenToAll);
}

}  // namespace kiln
