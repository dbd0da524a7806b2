// Job scripts over HTTP: /v1/job, and MODAK's /optimise, /get_build and /get_optimisation.
#include "serve_fixture.h"

namespace kiln {
namespace {

using testing::header_of, testing::kTensorflow, testing::read_bytes, testing::ServeTest;

constexpr const char* kMachines = R"({"name": "hlrs", "configuration": {"scheduler": "slurm",
  "container_runtime": "apptainer",
  "storage": {"file:///scratch": {"storage_class": "default-ssd"}},
  "partitions": {"gpu": {"nnodes": 2, "node": {"ncpus": 2, "memory": "256GiB", "naccel": 2,
    "cpu": {"microarch": "skylake", "ncores": 20}, "accel": {"type": "gpu", "model": "nvidia:sm_70"}}}}}})";

class JobVerbs : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    import(R"([
      {"opt_dsl_code": "mpich", "app_name": "mpich", "version": "3.1.4", "enable_opt_build": true,
       "container_name": "ethcscs/mpich:ub1804", "target": {"cpu_type": "x86", "acc_type": "nvidia"}},
      {"opt_dsl_code": "openmpi", "app_name": "openmpi", "version": "3.1.3", "enable_opt_build": true,
       "container_name": "ethcscs/openmpi:3.1.3", "target": {"cpu_type": "x86", "acc_type": "nvidia"}}])");
    ServeSettings with_site = settings(token.line);
    for (const auto& [kind, text] : std::initializer_list<std::pair<SiteKind, const char*>>{
             {SiteKind::infrastructure, kMachines},
             {SiteKind::script,
              R"({"data": {"stage": "pre", "raw": "export TF_XLA_FLAGS=--tf_xla_auto_jit=2"},
               "conditions": {"application": {"name": "tensorflow", "feature": {"xla": true}}}})"},
             {SiteKind::scaling_model,
              R"({"opt_dsl_code": "mpich", "model": {"name": "max", "max_nranks": 4}})"}})
      with_site.site.push_back(read_site_document(kind, JsonDocument::parse(text, "site").root()));
    service.change(with_site);
  }
  static Json job(const std::string& options = "{}", const std::string& target = "null") {
    Json document = {{"job", Json::parse(kTensorflow)}};
    document["job"]["job_options"] = Json::parse(options);
    document["job"]["target"] = Json::parse(target);
    document["job"]["application"] = {{"executable", "./train.sh"}, {"app_type", "python"}};
    return document;
  }
  static Json peer_document(const std::string& name) {
    return Json::parse(read_bytes(std::string(KILN_TEST_DATA) + "/dsl/" + name + ".json"));
  }
};

bool holds(const Json& text, const std::string& part) {
  return text.get<std::string>().find(part) != std::string::npos;
}

TEST_F(JobVerbs, OptimiseGivesTheDocumentWithItsScripts) {
  const Json document = job(R"({"node_count": 1, "wall_time_limit": "1:00:00"})", R"({"name": "hlrs"})");
  const HttpResponse response = ask("POST", "/optimise", document.dump());
  ASSERT_EQ(response.status, 200) << response.body;
  Json answer = json(response);
  const Json script = answer["job"]["job_script"];
  EXPECT_TRUE(holds(script, "#SBATCH --partition=gpu\n")) << script;
  EXPECT_TRUE(holds(script, "#SBATCH --time=0-01:00:00\n")) << script;
  EXPECT_TRUE(holds(script, "apptainer exec")) << script;
  EXPECT_TRUE(holds(script, "export TF_XLA_FLAGS=--tf_xla_auto_jit=2\n")) << script;
  answer["job"].erase("job_script");
  Json expected = document;
  expected["job"]["application"]["container_runtime"] = "docker://modakopt/modak:tensorflow-2.1-gpu-src";
  EXPECT_EQ(answer, expected);
}

// MODAK itself answers two of these with 500, because they ask for autotuning.
TEST_F(JobVerbs, AllDocumentsOfThePeerAreServed) {
  for (const char* name :
       {"tf_snow", "tf_resnet", "mpi_solver", "mpi_test", "mpi_test_egi", "get_optimisation_non_existent"}) {
    const Json document = peer_document(name);
    const HttpResponse response = ask("POST", "/optimise", document.dump());
    ASSERT_EQ(response.status, 200) << name << response.body;
    const Json made = json(response)["job"];
    EXPECT_TRUE(holds(made["job_script"], "#!/bin/bash\n")) << name;
    EXPECT_EQ(made.contains("build_script"), document["job"]["application"].contains("build")) << name;
    const Json content = json(ask("POST", "/get_optimisation", document.dump()))["job"];
    EXPECT_EQ(content["job_content"], made["job_script"]) << name;
    EXPECT_EQ(content["application"], made["application"]) << name;
    const Json build = json(ask("POST", "/get_build", document.dump()))["job"];
    EXPECT_EQ(build["build_script"], made.value("build_script", "")) << name;
    EXPECT_EQ(build["application"], document["job"]["application"]) << name;
  }
}

TEST_F(JobVerbs, AnImageOfTheIndexComesBeforeThatOfTheDocument) {
  Json document = job();
  document["job"]["application"]["container_runtime"] = "docker://some/other:1";
  EXPECT_EQ(json(ask("POST", "/optimise", document.dump()))["job"]["application"]["container_runtime"],
            "docker://modakopt/modak:tensorflow-2.1-gpu-src");
  EXPECT_EQ(json(ask("POST", "/v1/job", document.dump()))["answer"], "docker://some/other:1");
  document["job"]["optimisation"]["app_type-ai_training"]["ai_framework-tensorflow"]["version"] = "9.9";
  EXPECT_EQ(json(ask("POST", "/optimise", document.dump()))["job"]["application"]["container_runtime"],
            "docker://some/other:1");
  document["job"]["application"].erase("container_runtime");
  const HttpResponse none = ask("POST", "/optimise", document.dump());
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(json(none)["detail"], "no image matches");
}

TEST_F(JobVerbs, TheScalingModelOfTheImageLowersRanks) {
  const Json run = json(ask("POST", "/v1/job?lenient=true", peer_document("mpi_test").dump()))["run"];
  EXPECT_EQ(run["ranks"], 4);
}

TEST_F(JobVerbs, JobIsTheDeploymentWithItsScripts) {
  const HttpResponse response =
      ask("POST", "/v1/job?infrastructure=hlrs&runtime=podman", job(R"({"request_gpus": 1})").dump());
  ASSERT_EQ(response.status, 200) << response.body;
  const Json answer = json(response);
  EXPECT_EQ(answer["scheduler"], "slurm");
  EXPECT_EQ(answer["container_runtime"], "podman");
  EXPECT_EQ(answer["answer"], "docker://modakopt/modak:tensorflow-2.1-gpu-src");
  EXPECT_EQ(answer["job_options"]["partition"], "gpu");
  EXPECT_TRUE(holds(answer["job_script"], "podman run"));
  EXPECT_FALSE(answer.contains("build_script"));
  EXPECT_EQ(header_of(response, "Kiln-Snapshot"), "2");
  const Json wrapped = {{"dsl", job()}, {"host", "any"}};
  EXPECT_EQ(json(ask("POST", "/v1/job?scheduler=torque", wrapped.dump()))["scheduler"], "torque");
}

TEST_F(JobVerbs, WhatCannotBeDoneHasAPlace) {
  auto refused = [&](const std::string& target, const Json& document) {
    return error(ask("POST", target, document.dump()));
  };
  EXPECT_EQ(refused("/v1/job?infrastructure=hlsr", job()),
            "400 there is no infrastructure 'hlsr'; did you mean 'hlrs'?");
  EXPECT_EQ(refused("/v1/job", job(R"({"node_count": 3})", R"({"name": "hlrs"})")),
            "400 the job needs 3 nodes; the partition gpu has 2");
  const Json wide =
      json(ask("POST", "/optimise", job(R"({"node_count": 3})", R"({"name": "hlrs"})").dump()))["detail"][0];
  EXPECT_EQ(wide["loc"], Json::parse(R"(["body", "job", "job_options", "node_count"])"));
  EXPECT_TRUE(holds(refused("/v1/job", job(R"({"node_cuont": 3})")), "400 unknown key 'node_cuont'"));
  EXPECT_EQ(ask("POST", "/optimise", job(R"({"node_cuont": 3})").dump()).status, 200)
      << "as lenient as MODAK";
  EXPECT_TRUE(holds(refused("/v1/job?scheduler=lsf", job()), "400 expected slurm"));
  const Json inside = json(ask("POST", "/v1/job", Json{{"dsl", job(R"({"node_count": 0})")}}.dump()));
  EXPECT_EQ(inside["error"]["where"]["pointer"], "/dsl/job/job_options/node_count");
}

// The names of a request are looked up among what the server was given, and are never paths.
TEST_F(JobVerbs, NoFileIsReadThatARequestNames) {
  testing::write_bytes(folder.path() / "machines.json", kMachines);
  const std::string path = (folder.path() / "machines.json").string();
  EXPECT_EQ(ask("POST", "/v1/job?infrastructure=" + path, job().dump()).status, 400);
  EXPECT_EQ(ask("POST", "/v1/job?host=" + path, job().dump()).status, 400);
  EXPECT_EQ(ask("POST", "/v1/job", job("{}", R"({"name": ")" + path + R"("})").dump()).status, 400);
  const Json elsewhere = json(ask("POST", "/v1/job", job("{}", R"({"name": "machines"})").dump()));
  ASSERT_TRUE(elsewhere.contains("scheduler")) << elsewhere;
  EXPECT_EQ(elsewhere["scheduler"], "bash");
  EXPECT_TRUE(holds(elsewhere["notes"].dump(), "the infrastructure machines is not known"));
}

TEST_F(JobVerbs, WithoutAnIndexItIsLater) {
  std::filesystem::remove(folder.path() / "index.db");
  EXPECT_EQ(ask("POST", "/v1/job", job().dump()).status, 503);
  EXPECT_EQ(ask("POST", "/optimise", job().dump()).status, 503);
}

}  // namespace
}  // namespace kiln
