// The DSL's documented vocabulary: keys that are read or silently passed over. Others are noted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {

using Words = std::vector<std::string>;

// Of words with blanks between them.
inline Words word_list(std::string_view list) {
  const std::vector<std::string_view> pieces = split(list, ' ');
  return {pieces.begin(), pieces.end()};
}

struct DslWords {
  const Words document = word_list("job job_options target application optimisation optimization host");
  const Words job = word_list(
      "job_options target application optimisation optimization host job_script job_content "
      "build_script build_content");
  const Words job_options = word_list(
      "job_name account queue partition qos wall_time_limit node_count core_count "
      "process_count_per_node core_count_per_process memory_limit minimum_memory_per_processor "
      "request_gpus request_specific_nodes job_array standard_output_file standard_error_file "
      "combine_stdout_stderr architecture_constraint copy_environment copy_environment_variable "
      "job_dependency request_event_notification email_address defer_job node_exclusive");
  const Words target = word_list("name job_scheduler_type queue_type host");
  const Words application = word_list(
      "app_tag app_type executable arguments container_runtime mpi_ranks threads "
      "minimal_efficiency storage_class_pref pre-execution post-execution build checkpoint derive");
  const Words application_build = word_list("src build_command build_parallelism");
  const Words optimisation =
      word_list("enable_opt_build enable_autotuning app_type opt_build autotuning workload format");
  // Of two of MODAK's examples of June 2021 (SODALITE-EU/application-optimisation@e3af72d,
  // mpi_test_cirrus.json), which no version of it read: read here as what they stand for, and noted.
  const Words older_optimisation = word_list("app_name app_build arch_build");
  const Words formats = word_list("tag oci sif");
  const Words opt_build = word_list("cpu_type acc_type cpu gpu");
  const Words autotuning = word_list("tuner input");
  const Words app_types = word_list("ai_training ai_inference hpc big_data");
  const Words ai_config = word_list("ai_framework type distributed_training layers parameters");
  const Words hpc_config = word_list("parallelisation");
  const Words data = word_list("location basedata size count etl");
  const Words etl = word_list("prefetch cache");
  // In a framework's part; graph compilers and any other choice are also allowed.
  const Words framework = word_list("version method compilers backend");
  // Graph compilers that documents and mappings have as booleans, whatever recipes are at hand: those of
  // MODAK's documentation and of kiln's own recipes.
  const Words graph_compilers = word_list("glow inductor ngraph openvino tensorrt tvm xla");
  // In a parallelisation part: what says how to run, not which image.
  const Words parallelisation_hints =
      word_list("scaling_efficiency core_subscription message_size number_of_threads affinity number_of_acc");
  const Words cpu_types = word_list("x86 arm amd power");
  const Words acc_types = word_list("nvidia amd fpga none");
};

inline const DslWords& dsl_words() {
  static const DslWords words;
  return words;
}

// Values as MODAK's documents write them: numbers and flags may be strings, null counts as absent.

std::optional<JsonNode> present(const JsonNode& object, std::string_view key);  // nullopt: absent or null
// A string in lower case, a number as it is in `numbers` where it is, or a boolean.
std::string scalar_text(const JsonNode& node, const WrittenNumbers& numbers);
// The same of a choice; a list of components is joined by '+'. Throws Error(input) for a word that says yes
// or no and is no boolean.
std::string choice_text(const JsonNode& node, const WrittenNumbers& numbers);
std::vector<std::string> chosen_components(const std::string& value);  // of a choice: "a+b" is two
bool flag(const JsonNode& node);                                       // a boolean, "true" or "false"
// One of `allowed` or "", in lower case; the error names them and the nearest.
std::string word_of(const JsonNode& node, const std::vector<std::string>& allowed, std::string_view what);

}  // namespace kiln
