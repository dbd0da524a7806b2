// Documents and what becomes of them, for the tests of registry/deploy.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "registry/deploy/deployment.h"
#include "registry/deploy/render_job.h"
#include "support/input_errors.h"

namespace kiln::testing {

inline DeployedImage openmpi_image() {
  return {"docker://ethcscs/openmpi:3.1.3", "docker://ethcscs/openmpi:3.1.3", "", "openmpi", ""};
}
inline DeployedImage gpu_image() {
  return {"pytorch:2.6.0", "docker://r.site:5000/ai/pytorch:2.6.0", "", "", "nvidia"};
}
inline DeployedImage sif_image() { return {"pytorch:2.6.0", "", "/srv/kiln/pytorch_2.6.0.sif", "", ""}; }

// Two partitions: `cpu` (default) of 8 nodes with 2 x 16 cores and 256 GiB, `gpu` of 2 nodes with 4 GPUs.
inline const char* kCluster = R"({"name": "hlrs", "configuration": {"scheduler": "slurm",
  "storage": {"file:///mnt/nfs": {"storage_class": "default-common"}, "file:///scratch": {"storage_class": "default-ssd"}},
  "partitions": {
    "cpu": {"default": true, "nnodes": 8, "node": {"ncpus": 2, "cpu": {"arch": "x86", "microarch": "zen3", "ncores": 16},
            "memory": "256GiB"}},
    "gpu": {"nnodes": 2, "node": {"ncpus": 2, "cpu": {"microarch": "zen3", "ncores": 32}, "memory": "512GiB",
            "naccel": 4, "accel": {"type": "gpu", "model": "nvidia:sm_80"}}}}}})";

inline Infrastructure infrastructure(const std::string& text = kCluster) {
  return read_infrastructure(JsonDocument::parse(text, "hlrs.json").root());
}

// A job's document: the insides of its three parts.
inline std::string document(const std::string& options, const std::string& application,
                            const std::string& target = R"("job_scheduler_type": "slurm")") {
  return fmt::format(R"({{"job": {{"job_options": {{{}}}, "application": {{{}}}, "target": {{{}}}}}}})",
                     options, application, target);
}
inline const char* kPlain = R"("executable": "./run.sh")";
inline const char* kMpi = R"("app_type": "mpi", "executable": "./xthi", "mpi_ranks": 8)";

inline Deployment deployed(const std::string& text, const DeployedImage& image = openmpi_image(),
                           const Infrastructure* machines = nullptr, const DeployTerms& terms = {}) {
  return deploy(read_job_request(JsonDocument::parse(text, "job.json")), image, machines, terms);
}
inline std::string script(const std::string& text, const DeployedImage& image = openmpi_image(),
                          const Infrastructure* machines = nullptr, const DeployTerms& terms = {}) {
  return render_job(deployed(text, image, machines, terms)).job;
}
inline std::string script_on_cluster(const std::string& text, const DeployedImage& image = openmpi_image()) {
  const Infrastructure machines = infrastructure();
  return script(text, image, &machines);
}
inline std::string refusal(const std::string& text, const DeployedImage& image = openmpi_image(),
                           const Infrastructure* machines = nullptr, const DeployTerms& terms = {}) {
  return input_error([&] { script(text, image, machines, terms); });
}
inline std::string refusal_on_cluster(const std::string& text) {
  const Infrastructure machines = infrastructure();
  return refusal(text, openmpi_image(), &machines);
}

inline bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}
// The lines that begin with `start`, each with a newline.
inline std::string lines_of(const std::string& text, const std::string& start) {
  std::string found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (text.compare(at, start.size(), start) == 0) found += text.substr(at, end - at) + "\n";
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return found;
}

}  // namespace kiln::testing
