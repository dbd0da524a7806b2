#include "factory/bench/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/record/tuned_record.h"

namespace kiln {
namespace {

constexpr std::int64_t kMostOfRange = 1'000'000'000'000;

void check_name(const JsonNode& space, const std::string& name) {
  if (is_option(name)) return;
  if (!is_variable_name(name))
    throw Error(ExitCode::input, space.where_key(name),
                fmt::format("'{}' is not the name of an environment variable", name),
                "for example OMP_NUM_THREADS; an option of a script begins with --");
  if ((name.starts_with("KILN_") && !is_workload_option(name)) || name == "PATH")
    throw Error(ExitCode::input, space.where_key(name), fmt::format("kiln sets '{}' itself", name),
                "a search that could set it would compare different work");
}

// Written with a point or an exponent.
bool is_real(const JsonNode& number) { return number.value().is_number_float(); }

[[noreturn]] void fail_empty(const JsonNode& node, const std::string& name) {
  node.fail(fmt::format("the range of '{}' is empty: it goes from {} to {}", name,
                        node.at("from").value().dump(), node.at("to").value().dump()));
}

SearchVariable real_range_of(const JsonNode& node, SearchVariable variable) {
  constexpr double kMostReal = 1e100;
  if (const auto step = node.find("step"))
    step->fail(fmt::format("'{}' is a range of real numbers, which has no step", variable.name));
  variable.real = {node.at("from").number(), node.at("to").number()};
  for (const char* end : {"from", "to"})
    if (std::abs(node.at(end).number()) > kMostReal)
      node.at(end).fail(fmt::format("expected a number within {0:g} and -{0:g}", kMostReal));
  if (variable.real->low > variable.real->high) fail_empty(node, variable.name);
  return variable;
}

SearchVariable whole_range_of(const JsonNode& node, SearchVariable variable) {
  variable.from = node.at("from").integer(-kMostOfRange, kMostOfRange);
  variable.to = node.at("to").integer(-kMostOfRange, kMostOfRange);
  if (const auto step = node.find("step")) variable.step = step->integer(1, kMostOfRange);
  if (variable.from > variable.to) fail_empty(node, variable.name);
  return variable;
}

SearchVariable range_of(const JsonNode& node, SearchVariable variable) {
  const bool real = is_real(node.at("from")) || is_real(node.at("to"));
  variable = real ? real_range_of(node, std::move(variable)) : whole_range_of(node, std::move(variable));
  const auto log = node.find("log");
  variable.logarithmic = log && log->boolean();
  if (!variable.logarithmic) return variable;
  if (real ? variable.real->low <= 0 : variable.from <= 0)
    node.at("from").fail(
        fmt::format("a range by logarithms begins above 0, and '{}' does not", variable.name));
  if (variable.step > 1)
    node.at("step").fail(fmt::format("'{}' is a range by logarithms, which has no step", variable.name));
  return variable;
}

SearchVariable list_of(const JsonNode& list, SearchVariable variable) {
  std::set<std::string> seen;
  for (const JsonNode& item : list.items()) {
    variable.values.push_back(item.line_of_text());
    if (variable.values.back().empty())
      item.fail("a value is empty", "kiln also tries each listed variable unset");
    if (!seen.insert(variable.values.back()).second)
      item.fail(fmt::format("'{}' has the value '{}' twice", variable.name, variable.values.back()));
  }
  if (variable.values.empty()) list.fail(fmt::format("'{}' has no values", variable.name));
  return variable;
}

SearchVariable variable_of(const std::string& name, const JsonNode& node) {
  node.allow_only(keys_of("space/variable"));
  const auto list = node.find("values");
  if (!list) return range_of(node, {name, {}});
  if (node.find("from") || node.find("to") || node.find("step") || node.find("log"))
    node.fail(fmt::format("'{}' has both values and a range", name));
  return list_of(*list, {name, {}});
}

void add_list(SearchSpace& space, const char* name, std::vector<std::string> values) {
  space.variables.push_back({name, std::move(values)});
}

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// One thread for each processor, and for each core where two processors share one, are the usual choices;
// others win where memory is the limit.
void add_threads(SearchSpace& space, int cores) {
  SearchVariable threads{"OMP_NUM_THREADS", {}};
  threads.from = 1;
  threads.to = std::max(cores, 1);
  if (cores > 1) space.variables.push_back(threads);
  add_list(space, "OMP_PROC_BIND", {"close", "spread"});
  add_list(space, "OMP_PLACES", {"cores", "threads"});
  add_list(space, "OMP_WAIT_POLICY", {"active", "passive"});
}

// KMP_*: of Intel's and LLVM's OpenMP. Milliseconds that a thread waits before it sleeps.
void add_openmp(SearchSpace& space, const RunAxes& axes) {
  if (!has_word(axes.runtimes, "llvm-openmp")) return;
  add_list(space, "KMP_BLOCKTIME", {"0", "1", "infinite"});
  add_list(space, "KMP_AFFINITY", {"granularity=fine,compact,1,0", "granularity=fine,scatter"});
}

void add_allocator(SearchSpace& space, const std::map<std::string, std::string>& environment) {
  const std::string libraries = value_or(environment, "LD_PRELOAD");
  if (libraries.find("jemalloc") != libraries.npos) {
    add_list(space, "MALLOC_CONF",
             {"dirty_decay_ms:10000,muzzy_decay_ms:0", "background_thread:true,metadata_thp:auto",
              "background_thread:true,dirty_decay_ms:-1,muzzy_decay_ms:-1,metadata_thp:auto"});
  } else if (libraries.find("malloc") == libraries.npos && !environment.contains("GLIBC_TUNABLES")) {
    // mallopt(3): bytes from which a block is a mapping of its own, and bytes that free() keeps.
    add_list(space, "MALLOC_ARENA_MAX", {"1", "2"});
    add_list(space, "MALLOC_MMAP_THRESHOLD_", {"1073741824"});
    add_list(space, "MALLOC_TRIM_THRESHOLD_", {"17179869184"});
    // Since glibc 2.35: malloc() asks for transparent huge pages, where the host grants them.
    add_list(space, "GLIBC_TUNABLES", {"glibc.malloc.hugetlb=1"});
  }
}

void add_framework(SearchSpace& space, const RunAxes& axes, int cores) {
  if (axes.framework == "tensorflow") {
    add_list(space, "TF_ENABLE_ONEDNN_OPTS", {"0", "1"});
    add_list(space, "TF_NUM_INTEROP_THREADS",
             cores > 1 ? std::vector<std::string>{"1", "2"} : std::vector<std::string>{"1"});
  }
  if (axes.framework == "mxnet") add_list(space, "MXNET_CPU_WORKER_NTHREADS", {"1", "2"});
  if (has_word(axes.compilers, "inductor")) {
    add_list(space, "TORCHINDUCTOR_CPP_WRAPPER", {"1"});
    add_list(space, "TORCHINDUCTOR_MAX_AUTOTUNE", {"1"});
  }
  if (has_word(axes.compilers, "xla"))
    add_list(space, "XLA_FLAGS",
             {"--xla_cpu_multi_thread_eigen=false", "--xla_backend_optimization_level=2"});
}

// Of processes on one machine: bytes up to which a message goes at once, how larger ones are copied, and
// whether a process that waits gives its processor away. Open MPI 5 takes vader's names for those of sm.
void add_open_mpi(SearchSpace& space) {
  add_list(space, "OMPI_MCA_btl_vader_eager_limit", {"1024", "32768"});
  add_list(space, "OMPI_MCA_btl_vader_single_copy_mechanism", {"none"});
  add_list(space, "OMPI_MCA_mpi_yield_when_idle", {"1"});
}

}  // namespace

bool is_option(std::string_view name) {
  constexpr std::size_t kLongestOption = 64;
  return name.size() > 2 && name.size() <= kLongestOption && name.starts_with("--") &&
         is_letter_or_digit(name[2]) && std::ranges::all_of(name.substr(2), [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

void need_space_of_workload(const SearchSpace& space) {
  for (const SearchVariable& variable : space.variables)
    if (is_option(variable.name))
      throw Error(
          ExitCode::usage,
          fmt::format("'{}' is an option, and a workload takes environment variables only", variable.name),
          "--script FILE tunes a script of yours");
  if (space.maximises)
    throw Error(ExitCode::usage, "kiln measures how fast a workload is, and that has its own direction",
                "\"direction\" is for --script FILE");
}

double SearchVariable::count() const {
  if (real) return std::numeric_limits<double>::infinity();
  if (!values.empty()) return static_cast<double>(values.size()) + 1;
  const std::int64_t steps = (to - from) / step;
  return static_cast<double>(steps) + 1;
}

double SearchSpace::points() const {
  double product = 1;
  for (const SearchVariable& variable : variables) product *= variable.count();
  return product;
}

SearchSpace search_space_from_json(const JsonNode& node) {
  node.allow_only(keys_of("space"));
  const JsonNode list = node.at("variables");
  SearchSpace space;
  if (const auto direction = node.find("direction")) {
    space.maximises = direction->string() == "maximize";
    if (!space.maximises && direction->string() != "minimize")
      direction->fail("expected minimize or maximize", "of the objective that the script prints");
  }
  for (const auto& [name, variable] : list.members()) {
    check_name(list, name);
    space.variables.push_back(variable_of(name, variable));
  }
  if (space.variables.empty())
    list.fail("the search space has no variables",
              R"(for example {"OMP_NUM_THREADS": {"from": 1, "to": 8}})");
  double points = 1;
  for (const SearchVariable& variable : space.variables)
    if (!variable.real) points *= variable.count();
  if (points > kMostPoints)
    list.fail(
        fmt::format("the search space has {:.3g} points, and at most {:g} make sense", points, kMostPoints),
        "leave variables out, or give ranges a step");
  return space;
}

Json to_json(const SearchSpace& space) {
  Json variables = Json::array();
  for (const SearchVariable& variable : space.variables) {
    Json one{{"name", variable.name}};
    if (!variable.values.empty())
      one["values"] = variable.values;
    else if (variable.real)
      one.update({{"low", variable.real->low}, {"high", variable.real->high}});
    else
      one.update({{"from", variable.from}, {"to", variable.to}, {"step", variable.step}});
    if (variable.logarithmic) one["log"] = true;
    variables.push_back(std::move(one));
  }
  Json json{{"variables", variables}};
  if (space.maximises) json["direction"] = "maximize";
  return json;
}

SearchSpace default_space(const SpaceOrigin& origin) {
  SearchSpace space;
  add_threads(space, origin.cores);
  add_openmp(space, origin.axes);
  add_allocator(space, origin.environment);
  add_framework(space, origin.axes, origin.cores);
  if (origin.mpi == "openmpi") add_open_mpi(space);
  return space;
}

std::string text_of(const TuningSetting& setting) {
  return setting.empty() ? "the default" : setting_text(setting);
}

}  // namespace kiln
