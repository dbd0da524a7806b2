// MODAK's optimisation DSL → ImageQuery. Accepts what its documentation and its examples write: a whole job,
// or a bare
// {"optimisation": …} (or "optimization"); versions as strings or numbers, booleans as booleans or "true".
// Unknown keys are noted.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/version.h"

namespace kiln {

struct ImageQuery {
  std::string app_type;           // ai_training, hpc, …
  std::string application;        // framework, app_tag or MPI library
  std::optional<bool> opt_build;  // nullopt: the document has no optimisation part, asks for the stock image
  VersionRange version;
  std::string cpu_type;            // x86, arm, amd, power; "" = not said
  std::string acc_type;            // nvidia, amd, fpga; "" = CPU only
  std::string cpu;                 // kiln's addition: archspec name the image must be no newer than
  std::string gpu;                 // kiln's addition: sm_61
  std::string method;              // kiln's addition
  std::string format;              // kiln's addition: sif, oci; "" or "tag" = any
  std::string workload;            // kiln's addition: which measurements count
  std::optional<bool> autotuning;  // enable_autotuning; nullopt: not said
  std::map<std::string, bool>
      compilers;  // "xla": true asked for, false forbidden; not named = must be absent
  std::set<std::string> stock_compilers;  // not of the document: that every build of the application has
  std::map<std::string, std::string> selectors;  // further choices: library, distributed_training, …
  std::optional<JsonNode> host;                  // kiln's addition: a host block
  std::optional<JsonNode> target;                // the name of the machines that the job is for
  bool mpi_ranks = false;  // application.app_type is mpi or hpc: MPI starts the processes
  bool strict_gains =
      false;  // not of the document: of optimised builds only those that are proven faster than stock
  bool allow_failing = false;  // not of the document: images that fail a test of today, too
};

struct DslNote {
  SourceLocation where;
  std::string message;  // "unknown key 'versoin'"
  std::string hint;
  // It stands where images are chosen, so it may be a choice that is misspelt: an answer without it would be
  // to another question.
  bool may_be_choice = false;
};
std::string text_of(
    const DslNote& note);  // "file:line:col: note: unknown key … (at /pointer); did you mean …"

struct DslReading {
  ImageQuery query;
  std::vector<DslNote> notes;
};

// Whether the framework starts training on several nodes itself, without MPI: PyTorch by torchrun, TensorFlow
// by the variable TF_CONFIG. Job scripts use the same launchers.
bool has_own_launcher(std::string_view framework);

// "sm_61", "nvidia:sm_61" or "gfx90a:xnack-", as a query's `gpu` is written, by vendor and code.
std::pair<std::string, std::string> asked_gpu(const std::string& text);

// Throws Error(input) for the first note that may be a choice.
void refuse_lost_choices(const DslReading& reading);

// The message of read_dsl() for a document that chooses nothing.
inline constexpr const char* kNamesNoApplication = "the document names no application";

// `compilers`: names of the graph compilers that there are, each of which is read as a boolean option; any
// other name is a further choice. `numbers`: of the document's text. Throws Error(input) for invalid values
// (wrong type, bad version).
DslReading read_dsl(const JsonDocument& document, const std::vector<std::string>& compilers,
                    const WrittenNumbers& numbers = {});

}  // namespace kiln
