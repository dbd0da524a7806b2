// The DSL's documented vocabulary: keys that are read or silently passed over. Others are noted.
#pragma once

#include <string>
#include <vector>

namespace kiln::dsl_words {

using Words = std::vector<std::string>;

inline const Words& document() {
  static const Words words = {"job",          "job_options",  "target", "application",
                              "optimisation", "optimization", "host"};
  return words;
}

inline const Words& job() {
  static const Words words = {"job_options", "target",     "application", "optimisation", "optimization",
                              "host",        "job_script", "job_content", "build_script", "build_content"};
  return words;
}

inline const Words& job_options() {
  static const Words words = {"job_name",
                              "account",
                              "queue",
                              "partition",
                              "qos",
                              "wall_time_limit",
                              "node_count",
                              "core_count",
                              "process_count_per_node",
                              "core_count_per_process",
                              "memory_limit",
                              "minimum_memory_per_processor",
                              "request_gpus",
                              "request_specific_nodes",
                              "job_array",
                              "standard_output_file",
                              "standard_error_file",
                              "combine_stdout_stderr",
                              "architecture_constraint",
                              "copy_environment",
                              "copy_environment_variable",
                              "job_dependency",
                              "request_event_notification",
                              "email_address",
                              "defer_job",
                              "node_exclusive"};
  return words;
}

inline const Words& target() {
  static const Words words = {"name", "job_scheduler_type", "queue_type", "host"};
  return words;
}

inline const Words& application() {
  static const Words words = {
      "app_tag",        "app_type", "executable",         "arguments",          "container_runtime",
      "mpi_ranks",      "threads",  "minimal_efficiency", "storage_class_pref", "pre-execution",
      "post-execution", "build",    "checkpoint"};
  return words;
}

inline const Words& application_build() {
  static const Words words = {"src", "build_command", "build_parallelism"};
  return words;
}

inline const Words& optimisation() {
  static const Words words = {"enable_opt_build", "enable_autotuning", "app_type", "opt_build",
                              "autotuning",       "workload",          "format"};
  return words;
}

// Of two of MODAK's examples of June 2021 (SODALITE-EU/application-optimisation@e3af72d,
// mpi_test_cirrus.json), which no version of it read: read here as what they stand for, and noted.
inline const Words& older_optimisation() {
  static const Words words = {"app_name", "app_build", "arch_build"};
  return words;
}

inline const Words& formats() {
  static const Words words = {"tag", "oci", "sif"};
  return words;
}

inline const Words& opt_build() {
  static const Words words = {"cpu_type", "acc_type", "cpu", "gpu"};
  return words;
}

inline const Words& autotuning() {
  static const Words words = {"tuner", "input"};
  return words;
}

inline const Words& app_types() {
  static const Words words = {"ai_training", "ai_inference", "hpc", "big_data"};
  return words;
}

inline const Words& ai_config() {
  static const Words words = {"ai_framework", "type", "distributed_training", "layers", "parameters"};
  return words;
}

inline const Words& hpc_config() {
  static const Words words = {"parallelisation"};
  return words;
}

inline const Words& data() {
  static const Words words = {"location", "basedata", "size", "count", "etl"};
  return words;
}

inline const Words& etl() {
  static const Words words = {"prefetch", "cache"};
  return words;
}

// In a framework's part; graph compilers and any other choice may stand beside them.
inline const Words& framework() {
  static const Words words = {"version", "method", "compilers", "backend"};
  return words;
}

// Graph compilers that documents and mappings have as booleans, whatever recipes are at hand: those of
// MODAK's documentation and of kiln's own recipes.
inline const Words& graph_compilers() {
  static const Words words = {"glow", "inductor", "ngraph", "openvino", "tensorrt", "tvm", "xla"};
  return words;
}

// In a parallelisation part: what says how to run, not which image.
inline const Words& parallelisation_hints() {
  static const Words words = {"scaling_efficiency", "core_subscription", "message_size",
                              "number_of_threads",  "affinity",          "number_of_acc"};
  return words;
}

inline const Words& cpu_types() {
  static const Words words = {"x86", "arm", "amd", "power"};
  return words;
}

inline const Words& acc_types() {
  static const Words words = {"nvidia", "amd", "fpga", "none"};
  return words;
}

}  // namespace kiln::dsl_words
