#include "serve_fixture.h"

namespace kiln {
namespace {

using testing::header_of, testing::kTensorflow, testing::ServeTest;

using SelectVerbs = ServeTest;

TEST_F(SelectVerbs, AnswerAsTheCommandLineDoes) {
  const HttpResponse response = ask("POST", "/v1/select", kTensorflow);
  EXPECT_EQ(response.status, 200) << response.body;
  ImageChooser chooser(settings().paths);
  ChooserQuestion question;
  question.document = kTensorflow;
  question.unsaid = UnsaidHost::any;
  EXPECT_EQ(response.body, chooser.choose(question).answer.dump(2) + "\n");
  EXPECT_EQ(json(response)["answer"], "docker://modakopt/modak:tensorflow-2.1-gpu-src");
}

TEST_F(SelectVerbs, TheHostIsANameOrADescription) {
  const std::string body = R"({"dsl": )" + kTensorflow + R"(, "host": {"cpu": "haswell"}})";
  const HttpResponse without_gpu = ask("POST", "/v1/select", body);
  EXPECT_EQ(without_gpu.status, 404) << without_gpu.body;
  EXPECT_EQ(ask("POST", "/v1/select?host=haswell", kTensorflow).body, without_gpu.body);
  EXPECT_EQ(ask("POST", "/v1/select", R"({"dsl": )" + kTensorflow + R"(, "host": "haswell"})").body,
            without_gpu.body);
  EXPECT_EQ(ask("POST", "/v1/select?host=haswell,nvidia:sm_80", kTensorflow).status, 200);
  EXPECT_EQ(ask("POST", "/v1/select?host=any", kTensorflow).status, 200);
  for (const char* name :
       {"zen4,nvidia", "zen4,nvidia:sm_90,amd:gfx90a:xnack-", "zen4,amd:gfx90a:sramecc%2B:xnack-,nvidia"})
    EXPECT_EQ(ask("POST", std::string("/v1/select?host=") + name, kTensorflow).status, 200) << name;
  EXPECT_EQ(ask("POST", "/v1/select?host=zen4,amd", kTensorflow).status, 404);
  for (const char* name : {"zen4,nvida", "zen4,nvidia:90", "zen4,", "zen4,amd:sm_90"})
    EXPECT_NE(error(ask("POST", std::string("/v1/select?host=") + name, kTensorflow))
                  .find("400 expected an accelerator"),
              std::string::npos)
        << name;
  EXPECT_EQ(ask("POST", "/v1/select", R"({"dsl": )" + kTensorflow + "}").status, 200);
}

TEST_F(SelectVerbs, AVersionKeepsItsZero) {
  std::string asked = kTensorflow;
  asked.replace(asked.find("\"2.1\""), 5, "2.10");
  for (const std::string& body : {asked, R"({"host": "any", "dsl": )" + asked + "}"}) {
    const Json miss = json(ask("POST", "/v1/select", body));
    EXPECT_NE(miss["nearest_miss"].get<std::string>().find("asks for 2.10; this is 2.1"), std::string::npos)
        << body;
  }
}

TEST_F(SelectVerbs, NoHostIsAFileOrThisMachine) {
  testing::write_bytes(folder.path() / "host.json", R"({"cpu": "haswell"})");
  const std::string file = (folder.path() / "host.json").string();
  EXPECT_EQ(ask("POST", "/v1/select?host=" + percent_encoded(file, "/"), kTensorflow).status, 400);
  EXPECT_EQ(ask("POST", "/v1/select", R"({"dsl": )" + kTensorflow + R"(, "host": ")" + file + "\"}").status,
            400);
  for (const char* host : {"here", "", "%7B%22cpu%22:%22haswell%22%7D", "nothing-of-the-kind"})
    EXPECT_EQ(ask("POST", std::string("/v1/select?host=") + host, kTensorflow).status, 400) << host;
  EXPECT_EQ(ask("POST", "/v1/select", R"({"dsl": )" + kTensorflow + R"(, "host": 3})").status, 400);
  EXPECT_EQ(error(ask("POST", "/v1/select?host=any", R"({"dsl": )" + kTensorflow + R"(, "host": "any"})")),
            "400 both the body and the query name a host; remove one of them");
}

TEST_F(SelectVerbs, ParametersMeanWhatTheOptionsMean) {
  EXPECT_EQ(ask("POST", "/v1/select?snapshot=1", kTensorflow).status, 200);
  EXPECT_EQ(error(ask("POST", "/v1/select?snapshot=7", kTensorflow)).substr(0, 4), "404 ");
  EXPECT_EQ(ask("POST", "/v1/select?format=sif&limit=0&allow_failing=false&lenient", kTensorflow).status,
            200);
  EXPECT_EQ(error(ask("POST", "/v1/select?format=zip", kTensorflow)),
            "400 expected tag, digest, oci, sif for 'format'");
  EXPECT_EQ(error(ask("POST", "/v1/select?snapshot=-1", kTensorflow)),
            "400 expected a number from 1 to 1000000000 for 'snapshot'");
  EXPECT_EQ(error(ask("POST", "/v1/select?limit=3x", kTensorflow)),
            "400 expected a number from 0 to 1000000000 for 'limit'");
  EXPECT_EQ(error(ask("POST", "/v1/select?lenient=maybe", kTensorflow)),
            "400 expected true or false for 'lenient'");
  EXPECT_EQ(error(ask("POST", "/v1/select?formt=sif", kTensorflow)),
            "400 unknown parameter 'formt'; did you mean 'format'?");
}

TEST_F(SelectVerbs, AMissSaysWhyAndIsNotFound) {
  std::string other = kTensorflow;
  other.replace(other.find("\"2.1\""), 5, "\"2.10\"");
  const HttpResponse response = ask("POST", "/v1/select", other);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(json(response)["error"]["code"], "not_found");
  EXPECT_EQ(json(response)["error"]["message"], "no image matches");
  EXPECT_TRUE(json(response)["selected"].is_null());
  EXPECT_EQ(json(response)["error"]["hint"], json(response)["nearest_miss"]);
}

TEST_F(SelectVerbs, WhatIsWrongHasAPlace) {
  const HttpResponse cut = ask("POST", "/v1/select", "{\"optimisation\":\n  {");
  EXPECT_EQ(cut.status, 400);
  EXPECT_EQ(json(cut)["error"]["where"]["line"], 2);
  const std::string misspelt = R"({"optimisation": {"enable_opt_build": true, "app_type": "ai_training",
    "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"versoin": "2"}}}})";
  const HttpResponse refused = ask("POST", "/v1/select", misspelt);
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(error(refused).find("unknown key 'versoin'"), std::string::npos);
  EXPECT_EQ(json(refused)["error"]["where"]["pointer"],
            "/optimisation/app_type-ai_training/ai_framework-tensorflow/versoin");
  const HttpResponse wrapped = ask("POST", "/v1/select", "{\"dsl\": " + misspelt + "}");
  EXPECT_EQ(json(wrapped)["error"]["where"]["pointer"],
            "/dsl/optimisation/app_type-ai_training/ai_framework-tensorflow/versoin");
  // As the body has it, whatever stands before the document.
  EXPECT_EQ(json(wrapped)["error"]["where"]["line"], 2);
  EXPECT_EQ(json(wrapped)["error"]["where"]["column"], json(refused)["error"]["where"]["column"]);
  const HttpResponse behind =
      ask("POST", "/v1/select", R"({"host": "any", "dsl":)" + std::string("\n\n") + misspelt + "}");
  EXPECT_EQ(json(behind)["error"]["where"]["line"], 4);
  EXPECT_NE(ask("POST", "/v1/select?lenient=1", misspelt).status, 400);
  EXPECT_EQ(ask("POST", "/v1/select", R"({"dsl": {}, "hsot": "any"})").status, 400);
  for (const char* dsl : {"[]", "\"}\"", "7", "null"})
    EXPECT_EQ(ask("POST", "/v1/select", std::string(R"({"dsl": )") + dsl + "}").status, 400) << dsl;
  EXPECT_EQ(ask("POST", "/v1/select", R"({"dsl": )" + kTensorflow + R"(, "host": {"cpu": 7}})").status, 400);
  for (const char* body : {"", "[]", "null", "\"x\"", "{}", "{\"a\":1,\"a\":2}"})
    EXPECT_EQ(ask("POST", "/v1/select", body).status, 400) << body;
  EXPECT_EQ(ask("POST", "/v1/select", std::string(100'000, '[')).status, 400);
}

TEST_F(SelectVerbs, ReasonsAreText) {
  const HttpResponse text = ask("POST", "/v1/explain", kTensorflow);
  EXPECT_EQ(text.status, 200);
  EXPECT_EQ(text.type, "text/plain; charset=utf-8");
  EXPECT_NE(text.body.find("modakopt/modak:tensorflow-2.1-gpu-src"), std::string::npos) << text.body;
  EXPECT_EQ(ask("POST", "/v1/select?explain=text", kTensorflow).body, text.body);
  const HttpResponse missed = ask("POST", "/v1/explain?host=haswell", kTensorflow);
  EXPECT_EQ(missed.status, 404);
  EXPECT_NE(missed.body.find("error: no image matches"), std::string::npos) << missed.body;
}

TEST_F(SelectVerbs, QuestionsAreCountedEachTime) {
  for (int i = 0; i < 3; ++i) ask("POST", "/v1/select", kTensorflow);
  ask("POST", "/v1/select?host=haswell", kTensorflow);
  ask("POST", "/v1/select?snapshot=1", kTensorflow);  // of another time
  ask("POST", "/v1/select?limit=nothing", kTensorflow);
  EXPECT_TRUE(read_demand(folder.path()).empty());  // no answer waits for the disk
  service.write_demand();
  const std::vector<Demand> all = read_demand(folder.path());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].outcome, Demand::Outcome::missed);
  EXPECT_EQ(all[1].count, 3u);
  EXPECT_EQ(all[1].last, rfc3339(clock.unix_seconds()).substr(0, 10));
  service.write_demand();
  EXPECT_EQ(read_demand(folder.path())[1].count, 3u);
  const Json told = json(ask("GET", "/v1/demand?unmet=1"));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["outcome"], "missed");
}

}  // namespace
}  // namespace kiln
