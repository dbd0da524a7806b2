#include "registry/serve/service.h"

#include <atomic>
#include <set>
#include <thread>

#include "serve_fixture.h"

namespace kiln {
namespace {

using testing::header_of, testing::kTensorflow, testing::ServeTest;

using ServiceTest = ServeTest;

const std::string kOther =
    R"([{"opt_dsl_code": "mpi", "app_name": "mpich", "container_name": "ethcscs/mpich:3.1.4"}])";

TEST_F(ServiceTest, MethodsAndPathsThatAreNotThere) {
  EXPECT_EQ(ask("GET", "/v2").status, 404);
  EXPECT_EQ(ask("GET", "/v1").status, 404);
  EXPECT_EQ(ask("GET", "/v1/select/x").status, 404);
  EXPECT_EQ(ask("GET", "/V1/images").status, 404);
  const HttpResponse wrong = ask("DELETE", "/container_mappings");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(header_of(wrong, "Allow"), "GET, HEAD, POST");
  EXPECT_EQ(header_of(ask("GET", "/v1/select"), "Allow"), "POST");
  EXPECT_EQ(ask("HEAD", "/v1/snapshots").status, 200);
  EXPECT_EQ(error(ask("GET", "/v1/snapshots?x=1")), "400 unknown parameter 'x'");
}

TEST_F(ServiceTest, ABodyIsJson) {
  for (const char* type :
       {"application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"}) {
    ReceivedRequest request = testing::request_of("POST", "/v1/select", kTensorflow);
    request.headers = {{"content-type", type}};
    EXPECT_EQ(service.answer(request).status, 415) << type;
  }
  for (const char* type :
       {"application/json; charset=utf-8", "Application/JSON", "application/problem+json"}) {
    ReceivedRequest request = testing::request_of("POST", "/v1/select", kTensorflow);
    request.headers = {{"content-type", type}};
    EXPECT_EQ(service.answer(request).status, 200) << type;
  }
}

TEST_F(ServiceTest, ABodyIsPlain) {
  for (const char* target : {"/v1/select", "/get_image", "/container_mappings"}) {
    const HttpResponse refused = ask("POST", target, "\x1f\x8b", {{"content-encoding", "GZip"}});
    EXPECT_EQ(refused.status, 415) << target;
    EXPECT_EQ(header_of(refused, "Accept-Encoding"), "identity");
  }
  EXPECT_EQ(ask("POST", "/v1/select", kTensorflow, {{"content-encoding", "identity"}}).status, 200);
}

// RFC 9110, section 13.1.2.
TEST_F(ServiceTest, AStarIsWhateverThereIs) {
  for (const char* target : {"/v1/snapshots", "/container_mappings", "/healthz", "/openapi.json"})
    for (const char* method : {"GET", "HEAD"})
      EXPECT_EQ(ask(method, target, "", {{"if-none-match", " * "}}).status, 304) << target;
  EXPECT_EQ(ask("GET", "/v1/images/none/none", "", {{"if-none-match", "*"}}).status, 404);
  EXPECT_EQ(ask("POST", "/v1/select", kTensorflow, {{"if-none-match", "*"}}).status, 200);
}

TEST_F(ServiceTest, ATagNamesTheStateOfTheIndex) {
  const std::string tag = header_of(ask("GET", "/v1/snapshots"), "ETag");
  EXPECT_TRUE(tag.starts_with("\"1-")) << tag;
  EXPECT_EQ(header_of(ask("POST", "/v1/select", kTensorflow), "ETag"), tag);
  const HttpResponse same = ask("GET", "/v1/snapshots", "", {{"if-none-match", "\"x\", W/" + tag}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(header_of(same, "ETag"), tag);
  EXPECT_EQ(ask("GET", "/v1/images/none/none", "", {{"if-none-match", tag}}).status, 404);
  EXPECT_EQ(ask("POST", "/v1/select", kTensorflow, {{"if-none-match", tag}}).status, 200);
  EXPECT_EQ(header_of(ask("GET", "/v1/images/none/none"), "ETag"), "");
  import(kOther);
  EXPECT_EQ(ask("GET", "/v1/snapshots", "", {{"if-none-match", tag}}).status, 200);
  EXPECT_TRUE(header_of(ask("GET", "/v1/snapshots"), "ETag").starts_with("\"2-"));
}

TEST_F(ServiceTest, TheFirstQuestionsOfManyAtOnceHaveTheTag) {
  for (int turn = 0; turn < 20; ++turn) {
    service.change(settings(token.line));  // forgets it
    std::vector<std::thread> askers;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 6; ++i)
      askers.emplace_back([&] {
        const HttpResponse response = ask("GET", "/v1/snapshots");
        if (response.status != 200 || !header_of(response, "ETag").starts_with("\"1-")) ++wrong;
      });
    for (std::thread& asker : askers) asker.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(ServiceTest, ANewSnapshotIsSeenByTheNextQuestion) {
  EXPECT_EQ(json(ask("GET", "/v1/images"))["total"], 1);
  EXPECT_EQ(json(ask("GET", "/v1/images"))["total"], 1);  // which is kept
  import(kOther);
  const HttpResponse now = ask("GET", "/v1/images");
  EXPECT_EQ(json(now)["total"], 2);
  EXPECT_EQ(json(now)["snapshot"], 2);
  EXPECT_EQ(header_of(now, "Kiln-Snapshot"), "2");
  EXPECT_EQ(json(ask("GET", "/v1/images?snapshot=1"))["total"], 1);
  Index::open(folder.path(), Index::Mode::write).rollback(1);
  EXPECT_EQ(json(ask("GET", "/v1/images"))["total"], 1);
}

TEST_F(ServiceTest, ImagesComeInPages) {
  import(kOther);
  const Json page = json(ask("GET", "/v1/images?limit=1&offset=1"));
  EXPECT_EQ(page["total"], 2);
  EXPECT_EQ(page["images"].size(), 1u);
  EXPECT_TRUE(json(ask("GET", "/v1/images?offset=9"))["images"].empty());
  EXPECT_EQ(json(ask("GET", "/v1/images?match=application=mpich"))["images"][0]["code"], "mpi");
  EXPECT_EQ(json(ask("GET", "/v1/images?match=application=tensor*+version=2.1"))["total"], 1);
  EXPECT_EQ(ask("GET", "/v1/images?match=colour=red").status, 400);
  EXPECT_EQ(ask("GET", "/v1/images?limit=1001").status, 400);
  EXPECT_EQ(ask("GET", "/v1/images?snapshot=9").status, 404);
}

TEST_F(ServiceTest, TheWholeIndexIsReadByOneAtATime) {
  std::string many = "[";
  for (int i = 0; i < 200; ++i)
    many += (i == 0 ? "" : ",") + std::string(R"({"opt_dsl_code": "m)") + std::to_string(i) +
            R"(", "app_name": "x", "container_name": "y"})";
  import(many + "]");
  std::vector<std::thread> askers;
  std::atomic<int> answered{0}, later{0}, other{0};
  for (int i = 0; i < 8; ++i)
    askers.emplace_back([&, i] {
      const HttpResponse response = ask("GET", "/v1/images?limit=1000&offset=" + std::to_string(i));
      if (response.status == 200) ++answered;
      EXPECT_TRUE(response.status == 200 || response.status == 503) << response.status << response.body;
      if (response.status == 503 && header_of(response, "Retry-After") == "1") ++later;
      if (ask("POST", "/v1/select?limit=" + std::to_string(i), kTensorflow).status != 200) ++other;
    });
  for (std::thread& asker : askers) asker.join();
  EXPECT_GE(answered, 1);
  EXPECT_EQ(answered + later, 8);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(ask("GET", "/v1/images?limit=1000&offset=7").status, 200);  // and then again
}

TEST_F(ServiceTest, WithoutAnIndexItIsNotYet) {
  const testing::MemoryFolder empty;
  ServeSettings none = settings();
  none.paths.state = empty.path();
  Service waiting(
      none, [](const JsonDocument&, const WrittenNumbers&) { return WrittenMapping{}; }, clock);
  auto answer = [&](const char* method, const char* target, const std::string& body = "") {
    return waiting.answer(testing::request_of(method, target, body));
  };
  for (const auto& [method, target, body] :
       std::vector<std::tuple<const char*, const char*, std::string>>{{"GET", "/v1/images", ""},
                                                                      {"GET", "/v1/images/a/b", ""},
                                                                      {"GET", "/v1/snapshots", ""},
                                                                      {"POST", "/v1/select", kTensorflow},
                                                                      {"POST", "/v1/explain", kTensorflow},
                                                                      {"POST", "/get_image", kTensorflow},
                                                                      {"GET", "/container_mappings", ""},
                                                                      {"GET", "/container_mappings/a", ""}}) {
    const HttpResponse later = answer(method, target, body);
    EXPECT_EQ(later.status, 503) << target << later.body;
    EXPECT_EQ(header_of(later, "Retry-After"), "5") << target;
  }
  EXPECT_EQ(json(answer("GET", "/healthz"))["snapshot"], 0);
  EXPECT_EQ(answer("POST", "/v1/select", "{").status, 400);  // what is wrong is said all the same
}

TEST_F(ServiceTest, WhoMayWriteIsReadAgain) {
  auto post = [&](const std::string& bearer) {
    return ask("POST", "/container_mappings", "{}", {{"authorization", bearer}}).status;
  };
  EXPECT_EQ(post("Bearer " + token.token), 422);  // let in, and then refused for the body
  EXPECT_EQ(post("bearer  " + token.token), 422);
  for (const std::string& wrong : {"Bearer " + token.token + "0", "Basic " + token.token, token.token,
                                   std::string("Bearer "), std::string("Bearer")})
    EXPECT_EQ(post(wrong), 401) << wrong;
  const NewToken other = make_token("other");
  service.change(settings(other.line));
  EXPECT_EQ(post("Bearer " + token.token), 401);
  EXPECT_EQ(post("Bearer " + other.token), 422);
  ServeSettings bad = settings();
  bad.paths.archspec = "/nowhere";
  EXPECT_THROW(service.change(bad), Error);
  EXPECT_EQ(post("Bearer " + other.token), 422);  // the old ones stay
}

TEST_F(ServiceTest, WrongTokensAreSlowAndThenTooMany) {
  const HttpHeaders wrong = {{"authorization", "Bearer kiln_0"}};
  const HttpResponse first = ask("POST", "/container_mappings", "{}", wrong);
  EXPECT_EQ(first.status, 401);
  EXPECT_GE(first.delay, std::chrono::milliseconds(500));
  EXPECT_NE(header_of(first, "WWW-Authenticate").find("invalid_token"), std::string::npos);
  for (int i = 1; i < WrongTokens::kMost; ++i) ask("POST", "/container_mappings", "{}", wrong);
  const HttpResponse last = ask("POST", "/container_mappings", "{}", wrong);
  EXPECT_EQ(last.status, 429);
  EXPECT_EQ(header_of(last, "Retry-After"), "60");
  EXPECT_TRUE(last.close);
  // Who has a token is not kept out by those who have none.
  EXPECT_EQ(ask("POST", "/container_mappings", "{}", {{"authorization", "Bearer " + token.token}}).status,
            422);
  const HttpResponse none = ask("POST", "/container_mappings", "{}");
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.delay.count(), 0);  // it is no guess
}

TEST_F(ServiceTest, PagesAreWhateverElseIsAskedFor) {
  pages = {{"", {"text/html; charset=utf-8", "<p>first"}}, {"images/a/b c.html", {"text/html", "<p>b"}}};
  EXPECT_EQ(ask("GET", "/").body, "<p>first");
  EXPECT_EQ(ask("HEAD", "/?of=some-link").status, 200);
  const HttpResponse image = ask("GET", "/images/a/b%20c.html");
  EXPECT_EQ(image.body, "<p>b");
  EXPECT_EQ(image.type, "text/html");
  int policies = 0, caches = 0;
  for (const auto& [name, value] : image.headers) {
    policies += name == "Content-Security-Policy" && value == "frame-ancestors 'none'";
    caches += name == "Cache-Control";
  }
  EXPECT_EQ(policies, 1);
  EXPECT_EQ(caches, 1);
  EXPECT_EQ(error(ask("GET", "/images/a/c.html")),
            "404 there is nothing at this path; /openapi.json lists the requests");
  EXPECT_EQ(ask("POST", "/").status, 404);
  EXPECT_NE(ask("GET", "/metrics").body.find("kiln_requests_total{verb=\"page\",code=\"200\"} 3\n"),
            std::string::npos);
}

TEST_F(ServiceTest, CountsWhatItDoes) {
  ask("POST", "/v1/select", kTensorflow);
  ask("POST", "/v1/select", kTensorflow);
  ask("POST", "/nothing", "{}");
  service.watch([] { return HttpCounts{3, 4, 5, 6}; });
  const std::string text = ask("GET", "/metrics").body;
  for (const char* line :
       {"kiln_requests_total{verb=\"select\",code=\"200\"} 2\n",
        "kiln_requests_total{verb=\"none\",code=\"404\"} 1\n", "kiln_request_seconds_count 3\n",
        "kiln_request_seconds_bucket{le=\"+Inf\"} 3\n", "kiln_cache_hits_total 1\n",
        "kiln_cache_misses_total 1\n", "kiln_connections 3\n", "kiln_connections_late_total 4\n",
        "kiln_connections_refused_total 5\n", "kiln_requests_malformed_total 6\n", "kiln_snapshot 1\n",
        "kiln_demand_waiting 1\n", "kiln_tokens 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(ServiceTest, AnswersManyAtOnceWhileItIsChanged) {
  std::vector<std::thread> askers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i)
    askers.emplace_back([&, i] {
      for (int n = 0; n < 200; ++n)
        wrong += ask("POST", "/v1/select?limit=" + std::to_string(n % 7 + i), kTensorflow).status != 200;
    });
  for (int n = 0; n < 5; ++n) {
    service.change(settings(token.line));
    import(R"([{"opt_dsl_code": "c)" + std::to_string(n) + R"(", "app_name": "x", "container_name": "y"}])");
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(wrong, 0);
  service.write_demand();
  EXPECT_EQ(read_demand(folder.path()).at(0).count, 800u);
}

TEST_F(ServiceTest, OpenApiHasEveryRouteAndNoOther) {
  const Json paths = json(ask("GET", "/openapi.json"))["paths"];
  std::set<std::string> written, served;
  for (const auto& [path, methods] : paths.items())
    for (const auto& [method, ignored] : methods.items()) written.insert(upper_case(method) + " " + path);
  for (const Route& route : all_routes())
    served.insert(std::string(route.method) + " " + std::string(route.path));
  for (const std::string& one : served) EXPECT_TRUE(written.contains(one)) << one;
  for (const std::string& one : written) EXPECT_TRUE(served.contains(one)) << one;
}

TEST_F(ServiceTest, OpenApiHasEveryParameter) {
  const Json paths = json(ask("GET", "/openapi.json"))["paths"];
  for (const Route& route : all_routes()) {
    std::set<std::string> written, known;
    const Json& operation = paths[std::string(route.path)][lower_case(route.method)];
    if (operation.contains("parameters"))
      for (const Json& parameter : operation["parameters"])
        if (parameter["in"] == "query") written.insert(parameter["name"]);
    for (std::string_view name : split(route.parameters, ' '))
      if (!name.empty()) known.emplace(name);
    EXPECT_EQ(written, known) << route.path;
  }
}

}  // namespace
}  // namespace kiln
