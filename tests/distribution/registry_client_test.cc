// The client against answers by hand: what is asked, and who is told who asks.
#include "factory/distribution/registry_client.h"

#include <gtest/gtest.h>

#include <deque>

#include "factory/distribution/base64.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

class FakeHttp final : public Http {
 public:
  HttpAnswer send(const HttpRequest& request) override {
    requests.push_back(request);
    if (answers.empty()) return {500, {}, ""};
    HttpAnswer answer = answers.front();
    answers.pop_front();
    return answer;
  }
  // The header of a request; "" without it.
  std::string sent(std::size_t request, const std::string& name) const {
    for (const auto& [header, value] : requests.at(request).headers)
      if (header == name) return value;
    return "";
  }

  std::deque<HttpAnswer> answers;
  std::vector<HttpRequest> requests;
};

class RegistryClientTest : public ::testing::Test {
 protected:
  RegistryClient client_of(const std::string& address) {
    return RegistryClient({RegistryAddress::parse(address), http,
                           [](const std::string&) {
                             return Credentials{"me", "secret", "", "a file"};
                           },
                           clock, 2,
                           [this](std::chrono::milliseconds time) { waited.push_back(time.count()); }});
  }
  void answer(int status, std::multimap<std::string, std::string> headers = {},
              const std::string& body = "") {
    http.answers.push_back({status, std::move(headers), body});
  }
  void refuse() { answer(401, {{"www-authenticate", "Basic realm=\"r\""}}); }

  FakeHttp http;
  testing::FakeClock clock;
  std::vector<std::int64_t> waited;  // milliseconds
  const std::string basic = "Basic " + base64_of("me:secret");
};

TEST_F(RegistryClientTest, SaysWhoAsksOnceItIsAsked) {
  refuse();
  answer(200, {{"content-length", "7"}});
  answer(200, {{"content-length", "8"}});
  RegistryClient client = client_of("h/ai");
  EXPECT_EQ(client.blob_size("ai/a", Digest::of("x")), 7u);
  EXPECT_EQ(client.blob_size("ai/a", Digest::of("y")), 8u);
  EXPECT_EQ(http.sent(0, "Authorization"), "");
  EXPECT_EQ(http.sent(1, "Authorization"), basic);
  EXPECT_EQ(http.sent(2, "Authorization"), basic);
}

TEST_F(RegistryClientTest, TellsNoOtherHostWhoAsks) {
  for (const char* elsewhere : {"https://storage.site/up?x=1", "http://h/up", "https://h.evil/up",
                                "https://h:444/up", "https://h@evil/up"}) {
    http.requests.clear();
    refuse();
    answer(202, {{"location", "/first"}});
    answer(201);
    answer(202, {{"location", elsewhere}});
    answer(201);
    RegistryClient client = client_of("https://h");
    client.put_blob("a", "one");
    client.put_blob("a", "two");
    ASSERT_EQ(http.requests.size(), 5u);
    EXPECT_EQ(http.sent(2, "Authorization"), basic);
    EXPECT_EQ(http.requests[2].url, "https://h/first?digest=sha256%3A" + Digest::of("one").hex());
    EXPECT_EQ(http.sent(4, "Authorization"), "") << http.requests[4].url;
  }
}

TEST_F(RegistryClientTest, LogsInAtNoOtherHost) {
  answer(202, {{"location", "https://storage.site/up"}});
  refuse();
  RegistryClient client = client_of("https://h");
  EXPECT_THROW(client.put_blob("a", "one"), Error);
  for (std::size_t i = 0; i < http.requests.size(); ++i) EXPECT_EQ(http.sent(i, "Authorization"), "");
}

TEST_F(RegistryClientTest, ListsGoNoFurtherThanTheRegistry) {
  answer(200, {{"link", "<https://evil/v2/a/tags/list?last=x>; rel=\"next\""}}, R"({"tags":["x"]})");
  answer(200, {}, R"({"tags":["y"]})");
  RegistryClient client = client_of("https://h");
  EXPECT_THROW(client.tags("a"), Error);
  EXPECT_EQ(http.requests.size(), 1u);
}

TEST_F(RegistryClientTest, AsksForATokenOfTheRepository) {
  answer(401, {{"www-authenticate", "Bearer realm=\"https://auth/token\",service=\"s\""}});
  answer(200, {}, R"({"token":"t"})");
  answer(404);
  RegistryClient client = client_of("https://h");
  EXPECT_EQ(client.resolve("ai/a", "1"), std::nullopt);
  EXPECT_EQ(http.requests[1].url, "https://auth/token?service=s&scope=repository%3Aai%2Fa%3Apull%2Cpush");
  EXPECT_EQ(http.sent(1, "Authorization"), basic);
  EXPECT_EQ(http.sent(2, "Authorization"), "Bearer t");
}

TEST_F(RegistryClientTest, AsksForNoMoreThanItNeeds) {
  auto scope_of = [this](const std::function<void(RegistryClient&)>& ask) {
    http.requests.clear();
    answer(401, {{"www-authenticate", "Bearer realm=\"https://auth/token\",service=\"s\""}});
    answer(200, {}, R"({"token":"t"})");
    answer(404);
    RegistryClient client = client_of("https://h");
    ask(client);
    return http.requests.at(1).url.substr(http.requests.at(1).url.find("&scope=") + 7);
  };
  EXPECT_EQ(scope_of([](RegistryClient& client) { client.resolve("a", "1"); }),
            "repository%3Aa%3Apull%2Cpush");
  EXPECT_EQ(scope_of([](RegistryClient& client) { client.delete_manifest("a", "1"); }),
            "repository%3Aa%3Apull%2Cpush%2Cdelete");
  EXPECT_EQ(scope_of([](RegistryClient& client) { client.mount_blob("a", Digest::of("x"), "b/c"); }),
            "repository%3Aa%3Apull%2Cpush%20repository%3Ab%2Fc%3Apull");
}

TEST_F(RegistryClientTest, DeletesWhereTheRegistryLetsIt) {
  using Deletion = RegistryClient::Deletion;
  const std::string digest = Digest::of("x").text();
  for (const auto& [status, reference, wanted] :
       {std::tuple(202, digest, Deletion::done), std::tuple(404, digest, Deletion::absent),
        std::tuple(405, digest, Deletion::unsupported),
        std::tuple(405, std::string("1"), Deletion::unsupported),
        std::tuple(400, std::string("1"), Deletion::unsupported),
        std::tuple(202, std::string("1"), Deletion::done)}) {
    answer(status);
    EXPECT_EQ(client_of("h").delete_manifest("a", reference), wanted) << status << " " << reference;
  }
  answer(400);
  EXPECT_THROW(client_of("h").delete_manifest("a", digest), Error);
  answer(403);
  EXPECT_THROW(client_of("h").delete_manifest("a", "1"), Error);
}

TEST_F(RegistryClientTest, GivesNoPasswordToATokenServerWithoutTls) {
  answer(401, {{"www-authenticate", "Bearer realm=\"http://auth/token\",service=\"s\""}});
  RegistryClient client = client_of("https://h");
  EXPECT_THROW(client.resolve("a", "1"), Error);
  EXPECT_EQ(http.requests.size(), 1u);
}

TEST_F(RegistryClientTest, TriesAgainWhatPasses) {
  answer(503);
  answer(429, {{"retry-after", "7"}});
  answer(200, {{"content-length", "1"}});
  EXPECT_EQ(client_of("h").blob_size("a", Digest::of("x")), 1u);
  ASSERT_EQ(waited.size(), 2u);
  EXPECT_GE(waited[0], 500);
  EXPECT_LE(waited[0], 1000);
  EXPECT_EQ(waited[1], 7000);
}

TEST_F(RegistryClientTest, KnowsATagThatTheRegistryCannotRead) {
  for (int tries = 0; tries < 3; ++tries) answer(500);
  answer(200, {}, R"({"tags":["1","2"]})");
  RegistryClient client = client_of("h");
  EXPECT_THROW(client.resolve("a", "1"), BrokenTag);
  EXPECT_EQ(http.requests.back().url, "https://h/v2/a/tags/list");
  EXPECT_EQ(waited.size(), 2u);
  for (int tries = 0; tries < 3; ++tries) answer(500);
  answer(200, {}, R"({"tags":["1","2"]})");
  EXPECT_EQ(unless_broken([&] { return client.manifest("a", "2"); }), std::nullopt);
}

TEST_F(RegistryClientTest, TakesNoRegistryInTroubleForABrokenTag) {
  RegistryClient client = client_of("h");
  EXPECT_THROW(client.resolve("a", "1"), Error) << "it has no list either";
  http.requests.clear();
  for (int tries = 0; tries < 3; ++tries) answer(500);
  answer(200, {}, R"({"tags":["2"]})");
  answer(500);
  answer(404);
  EXPECT_EQ(client.resolve("a", "1"), std::nullopt) << "it is not in the list";
  for (int tries = 0; tries < 3; ++tries) answer(503);
  EXPECT_THROW(client.resolve("a", "1"), Error) << "503 is never the tag's";
  EXPECT_THROW(client.manifest("a", Digest::of("x").text()), Error) << "nor is that of a digest";
  for (int tries = 0; tries < 2; ++tries) answer(500);
  answer(200, {{"docker-content-digest", Digest::of("x").text()}});
  EXPECT_EQ(client.resolve("a", "1"), Digest::of("x")) << "it passed";
}

TEST_F(RegistryClientTest, KnowsAnotherManifestByItsBytes) {
  answer(200, {{"content-type", "t"}, {"docker-content-digest", Digest::of("right").text()}}, "wrong");
  EXPECT_THROW(client_of("h").manifest("a", Digest::of("right").text()), Error);
}

}  // namespace
}  // namespace kiln
