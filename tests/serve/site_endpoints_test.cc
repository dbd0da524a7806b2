// MODAK's infrastructures, scripts and scaling models.
#include "serve_fixture.h"

namespace kiln {
namespace {

using testing::header_of, testing::kTensorflow, testing::ServeTest;

constexpr const char* kPosted =
    R"({"name": "hlrs", "configuration": {"scheduler": "torque", "partitions": {"a": {"nnodes": 2}}}})";

class SiteVerbs : public ServeTest {
 protected:
  HttpResponse post(const std::string& target, const std::string& body) {
    return ask("POST", target, body, {{"authorization", "Bearer " + token.token}});
  }
  HttpResponse drop(const std::string& target) {
    return ask("DELETE", target, "", {{"authorization", "Bearer " + token.token}});
  }
};

TEST_F(SiteVerbs, AnInfrastructureIsPostedFoundAndUsed) {
  EXPECT_EQ(ask("GET", "/infrastructures").body, "[]\n");
  const HttpResponse made = post("/infrastructures", kPosted);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(header_of(made, "Kiln-Snapshot"), "2");
  EXPECT_EQ(header_of(made, "Location"), "/infrastructures/" + json(made)["id"].get<std::string>());
  EXPECT_EQ(ask("GET", header_of(made, "Location")).body, made.body);
  EXPECT_EQ(json(ask("GET", "/infrastructures")), Json::array({json(made)}));
  Json without_id = json(made);
  without_id.erase("id");
  EXPECT_EQ(without_id, Json::parse(kPosted));
  Json document = {{"job", Json::parse(kTensorflow)}};
  document["job"]["target"] = {{"name", "hlrs"}};
  document["job"]["application"] = {{"executable", "a"}};
  EXPECT_EQ(json(ask("POST", "/v1/job", document.dump()))["scheduler"], "torque");
  EXPECT_EQ(json(ask("POST", "/v1/job?snapshot=1", document.dump()))["scheduler"], "bash") << "not there yet";
  EXPECT_EQ(post("/infrastructures", kPosted).status, 409);
}

TEST_F(SiteVerbs, AScriptIsPostedAndFound) {
  const std::string script = R"({"conditions": {"application": {"name": "tensorflow"}},
    "data": {"stage": "pre", "raw": "export A=1"}})";
  const HttpResponse made = post("/scripts", script);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(ask("GET", header_of(made, "Location")).body, made.body);
  EXPECT_EQ(post("/scripts", script).body, made.body) << "the same script is the same";
  EXPECT_EQ(json(ask("GET", "/scripts")).size(), 1u);
  const std::string elsewhere = R"({"conditions": {"infrastructure": {"name": "hlrs"}},
    "data": {"stage": "post", "raw": "true"}})";
  EXPECT_EQ(error(post("/scripts", elsewhere)), "409 there is no infrastructure 'hlrs'");
  EXPECT_EQ(post("/infrastructures", kPosted).status, 201);
  EXPECT_EQ(post("/scripts", elsewhere).status, 201);
}

TEST_F(SiteVerbs, AScalingModelIsOfAMapping) {
  const std::string model = R"({"opt_dsl_code": "tf-2.1", "model": {"name": "amdahl", "F": 0.9}})";
  const HttpResponse made = post("/scaling_models", model);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(ask("GET", header_of(made, "Location")).body, made.body);
  EXPECT_EQ(json(ask("GET", "/scaling_models")).size(), 1u);
  EXPECT_EQ(error(post("/scaling_models", R"({"opt_dsl_code": "none", "model": {"name": "noop"}})")),
            "409 there is no mapping 'none'");
  // A new one of the code takes the place of the old one.
  EXPECT_EQ(post("/scaling_models", R"({"opt_dsl_code": "tf-2.1", "model": {"name": "noop"}})").status, 201);
  EXPECT_EQ(json(ask("GET", "/scaling_models"))[0]["model"]["name"], "noop");
}

TEST_F(SiteVerbs, ADocumentIsRemovedAndComesBackByAPost) {
  const HttpResponse made = post("/infrastructures", kPosted);
  const std::string place = header_of(made, "Location");
  EXPECT_EQ(ask("DELETE", place).status, 401);
  EXPECT_EQ(json(ask("GET", "/infrastructures")).size(), 1u);
  const HttpResponse gone = drop(place);
  ASSERT_EQ(gone.status, 200) << gone.body;
  EXPECT_EQ(gone.body, made.body);
  EXPECT_EQ(header_of(gone, "Kiln-Snapshot"), "3");
  EXPECT_EQ(ask("GET", "/infrastructures").body, "[]\n");
  EXPECT_EQ(ask("GET", place).status, 404);
  EXPECT_EQ(drop(place).status, 404);
  EXPECT_EQ(post("/infrastructures", kPosted).status, 201);
  const HttpResponse script = post("/scripts", R"({"data": {"stage": "pre", "raw": "export A=1"}})");
  EXPECT_EQ(drop(header_of(script, "Location")).status, 200);
  EXPECT_EQ(ask("GET", "/scripts").body, "[]\n");
  const HttpResponse model =
      post("/scaling_models", R"({"opt_dsl_code": "tf-2.1", "model": {"name": "noop"}})");
  EXPECT_EQ(drop(header_of(model, "Location")).status, 200);
  EXPECT_EQ(ask("GET", "/scaling_models").body, "[]\n");
  EXPECT_EQ(drop("/scripts/7").status, 422);
  EXPECT_EQ(drop("/scripts/6f1d3f6e-0000-4000-a000-000000000000").status, 404);
}

TEST_F(SiteVerbs, WhatIsNotUnderstoodIsRefused) {
  for (const char* path : {"/infrastructures", "/scripts", "/scaling_models"}) {
    EXPECT_EQ(ask("POST", path, "{}").status, 401) << path;
    for (const char* body : {"{", "[]", "{}", "3", R"({"name": 3})", R"({"odd": 1})"})
      EXPECT_EQ(post(path, body).status, 422) << path << body;
    EXPECT_EQ(ask("GET", std::string(path) + "/7").status, 422) << path;
    EXPECT_EQ(ask("GET", std::string(path) + "/6f1d3f6e-0000-4000-a000-000000000000").status, 404) << path;
    EXPECT_EQ(ask("DELETE", path).status, 405) << path;
  }
  // MODAK stored this, and answered 500 to each later request.
  EXPECT_EQ(post("/infrastructures", R"({"name": "a", "configuration": {"partitions": {"p": {"nnodes": 1,
    "node": {"ncpus": 1, "cpu": {"ncores": 4}, "memory": "1GiB"}}}}})")
                .status,
            201);
  EXPECT_EQ(error(post("/scripts", R"({"data": {"stage": "pre", "raw": "cp {{ nothing }} ."}})")),
            "422 unknown variable 'nothing'");
  EXPECT_EQ(
      post("/scaling_models", R"({"opt_dsl_code": "tf-2.1", "model": {"name": "amdahl", "F": 1}})").status,
      422);
}

// A file of the administrator comes before what clients post.
TEST_F(SiteVerbs, FilesComeFirst) {
  ServeSettings with_file = settings(token.line);
  with_file.site.push_back(
      read_site_document(SiteKind::infrastructure,
                         JsonDocument::parse(R"({"scheduler": "slurm"})", "hlrs.json").root(), "hlrs"));
  EXPECT_EQ(post("/infrastructures", kPosted).status, 201);
  service.change(with_file);
  const Json all = json(ask("GET", "/infrastructures"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["scheduler"], "slurm");
  EXPECT_EQ(all[0]["name"], "hlrs");
  EXPECT_EQ(drop("/infrastructures/" + all[0]["id"].get<std::string>()).status, 409);
}

}  // namespace
}  // namespace kiln
