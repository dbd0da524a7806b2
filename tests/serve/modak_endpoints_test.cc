// MODAK's verbs, as its own clients use them.
#include "serve_fixture.h"

namespace kiln {
namespace {

using testing::header_of, testing::kTensorflow, testing::ServeTest;

const std::string kMapping =
    R"({"opt_dsl_code": "modak-tensorflow-2.2.1-gpu-py3-TEST", "app_name": "tensorflow",
  "version": "2.2.1", "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"},
  "selectors": {"xla": true, "version": "2.2.1"}, "container_name": "tensorflow_2.2.1-gpu-py3",
  "container_type": "shub", "container_registry": "library"})";

class PeerVerbs : public ServeTest {
 protected:
  HttpResponse post_mapping(const std::string& mapping) {
    return ask("POST", "/container_mappings", mapping, {{"authorization", "Bearer " + token.token}});
  }
};

TEST_F(PeerVerbs, GetImageGivesTheDocumentBack) {
  Json document = {{"job", Json::parse(kTensorflow)}};
  document["job"]["job_options"] = {{"job_name", "a job"}, {"node_count", 2}};
  document["job"]["application"] = {{"executable", "train.py"}, {"container_runtime", "old"}};
  Json expected = document;
  expected["job"]["application"]["container_runtime"] = "docker://modakopt/modak:tensorflow-2.1-gpu-src";
  const HttpResponse response = ask("POST", "/get_image", document.dump());
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json(response), expected);
}

TEST_F(PeerVerbs, WithoutAnImageTheDocumentHasNone) {
  Json document = {{"job", Json::parse(kTensorflow)}};
  document["job"]["application"] = {{"container_runtime", "old"}};
  document["job"]["optimisation"]["app_type-ai_training"]["ai_framework-tensorflow"]["version"] = "9.9";
  const HttpResponse response = ask("POST", "/get_image", document.dump());
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json(response)["job"]["application"], Json::object());
}

TEST_F(PeerVerbs, WhatTheyDoNotKnowIsNoted) {
  Json document = {{"job", Json::parse(kTensorflow)}};
  document["job"]["optimisation"]["odd\r\nX-Evil: 1"] = "y";
  const HttpResponse response = ask("POST", "/get_image?whatever=1", document.dump());
  EXPECT_EQ(response.status, 200) << response.body;
  const std::string note = header_of(response, "Kiln-Note");
  EXPECT_NE(note.find("odd"), std::string::npos) << note;
  EXPECT_EQ(note.find_first_of("\r\n"), std::string::npos);
}

TEST_F(PeerVerbs, WhatIsNotUnderstoodIs422WithADetail) {
  for (const char* body : {"", "{", "[]", R"({"job": 3})", R"({"job": {"optimisation": []}})"}) {
    const HttpResponse response = ask("POST", "/get_image", body);
    EXPECT_EQ(response.status, 422) << body << response.body;
    const Json detail = json(response)["detail"];
    ASSERT_TRUE(detail.is_array() && detail.size() == 1) << body;
    EXPECT_EQ(detail[0]["msg"], json(response)["error"]["message"]);
    EXPECT_EQ(detail[0]["loc"][0], "body");
    EXPECT_EQ(detail[0]["type"], "value_error");
  }
  auto place = [&](const std::string& body) {
    return json(ask("POST", "/get_image", body))["detail"][0]["loc"];
  };
  EXPECT_EQ(place("{"), Json::parse(R"(["body"])"));
  EXPECT_EQ(place(R"({"job": {"optimisation": []}})"), Json::parse(R"(["body", "job", "optimisation"])"));
  EXPECT_EQ(place(R"({"optimisation": {"opt_build": {"cpu_type": "~/x"}}})"),
            Json::parse(R"(["body", "optimisation", "opt_build", "cpu_type"])"));
  const Json mapping =
      json(post_mapping(R"({"opt_dsl_code": "a", "app_name": "b", "container_name": "c", "a/b": 1})"));
  EXPECT_EQ(mapping["detail"][0]["loc"], Json::parse(R"(["body", "a/b"])"));
}

// MODAK takes a job that chooses nothing, and answers with it.
TEST_F(PeerVerbs, AJobWithoutAnApplicationComesBack) {
  for (const char* body : {R"({"job": {"job_options": {"job_name": "a"}}})",
                           R"({"job": {"job_options": {}, "application": {"executable": "x"}}})",
                           R"({"application": {"executable": "x"}})",
                           R"({"job": {"optimisation": {"enable_opt_build": false}}})"}) {
    const HttpResponse response = ask("POST", "/get_image", body);
    EXPECT_EQ(response.status, 200) << body << response.body;
    EXPECT_EQ(json(response), Json::parse(body));
  }
  const HttpResponse old =
      ask("POST", "/get_image", R"({"job": {"application": {"container_runtime": "old"}}})");
  EXPECT_EQ(json(old)["job"]["application"], Json::object());
  EXPECT_EQ(ask("POST", "/get_image", "{}").status, 422) << "no job";
}

TEST_F(PeerVerbs, AMappingIsPostedAndFound) {
  const HttpResponse made = post_mapping(kMapping);
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json(made)["opt_dsl_code"], "modak-tensorflow-2.2.1-gpu-py3-TEST");
  EXPECT_EQ(header_of(made, "Location"), "/container_mappings/modak-tensorflow-2.2.1-gpu-py3-TEST");
  EXPECT_EQ(header_of(made, "Kiln-Snapshot"), "2");
  EXPECT_EQ(ask("GET", header_of(made, "Location")).body, made.body);
  EXPECT_EQ(json(ask("GET", "/container_mappings")).size(), 2u);
  EXPECT_EQ(json(ask("GET", "/container_mappings/nothing"))["detail"], "there is no mapping 'nothing'");
  EXPECT_EQ(ask("GET", "/container_mappings/nothing").status, 404);
  std::string asked = kTensorflow;
  asked.replace(asked.find("\"2.1\""), 5, "\"2.2.1\"");
  EXPECT_EQ(json(ask("POST", "/get_image", asked))["application"]["container_runtime"],
            "library://tensorflow_2.2.1-gpu-py3");
  EXPECT_EQ(header_of(post_mapping(kMapping), "Kiln-Snapshot"), "2");  // nothing new
  EXPECT_EQ(json(made), Json::parse(kMapping));
}

TEST_F(PeerVerbs, AWriteTakesATokenAndIsWholeOrNothing) {
  EXPECT_EQ(ask("POST", "/container_mappings", kMapping).status, 401);
  for (const char* bad :
       {"{", "[]", "{}", R"({"opt_dsl_code": "a", "app_name": "b", "container_nmae": "c"})"})
    EXPECT_EQ(post_mapping(bad).status, 422) << bad;
  locked = true;
  const HttpResponse later = post_mapping(kMapping);
  EXPECT_EQ(later.status, 503);
  EXPECT_EQ(header_of(later, "Retry-After"), "5");
  EXPECT_EQ(json(later)["error"].contains("hint"), false);  // it is about the command line
  EXPECT_EQ(json(ask("GET", "/container_mappings")).size(), 1u);
}

}  // namespace
}  // namespace kiln
