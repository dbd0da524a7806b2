// Scripts of many documents, for the reader of tests/oracle/deploy: a question a line on stdin, {"document",
// "image", "infrastructure", "runtime"}, and an answer a line on stdout, {"job", "build"} or {"error"}.
#include <iostream>
#include <nlohmann/json.hpp>

#include "registry/deploy/deployment.h"
#include "registry/deploy/render_job.h"

namespace kiln {
namespace {

std::string text_at(const Json& json, const char* key) { return json.value(key, std::string()); }

Json answer(const Json& question) {
  const Json& image = question.at("image");
  const DeployedImage deployed{text_at(image, "name"), text_at(image, "reference"), text_at(image, "sif"),
                               text_at(image, "mpi"), text_at(image, "gpu")};
  std::optional<Infrastructure> machines;
  if (question.contains("infrastructure"))
    machines = read_infrastructure(
        JsonDocument::parse(question.at("infrastructure").dump(), "machines.json").root());
  DeployTerms terms;
  terms.runtime = kContainerRuntimes.find(text_at(question, "runtime"));
  const JsonDocument document = JsonDocument::parse(text_at(question, "document"), "job.json");
  const Deployment deployment =
      deploy(read_job_request(document), deployed, machines ? &*machines : nullptr, terms);
  const JobScripts scripts = render_job(deployment);
  return {{"job", scripts.job}, {"build", scripts.build}};
}

}  // namespace
}  // namespace kiln

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    kiln::Json json;
    try {
      json = kiln::answer(kiln::Json::parse(line));
    } catch (const kiln::Error& error) {
      json = {{"error", error.format()}};
    }
    std::cout << json.dump(-1, ' ', false, kiln::Json::error_handler_t::replace) << "\n";
  }
  return 0;
}
