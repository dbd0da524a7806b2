// To which hosts the client sends the login of a registry, and which tokens it asks for.
#include <fmt/format.h>

#include <functional>

#include "registry_client_fixture.h"

namespace kiln {
namespace {

using RegistryLoginTest = testing::RegistryClientTest;

TEST_F(RegistryLoginTest, SaysWhoAsksOnceItIsAsked) {
  refuse();
  answer(200, {{"content-length", "7"}});
  answer(200, {{"content-length", "8"}});
  RegistryClient client = client_of("h/ai");
  EXPECT_TRUE(client.has_blob("ai/a", Digest::of("x"), 7));
  EXPECT_TRUE(client.has_blob("ai/a", Digest::of("y"), 8));
  EXPECT_EQ(http.sent(0, "Authorization"), "");
  EXPECT_EQ(http.sent(1, "Authorization"), basic);
  EXPECT_EQ(http.sent(2, "Authorization"), basic);
}

TEST_F(RegistryLoginTest, LogsInAgainInTheMiddle) {
  RegistryClient client = client_of("h");
  for (const char* token : {"first", "second"}) {
    answer(401, {{"www-authenticate", "Bearer realm=\"https://auth/token\",service=\"s\""}});
    answer(200, {}, fmt::format(R"({{"token":"{}"}})", token));
    answer(200, {{"content-length", "7"}});
    EXPECT_TRUE(client.has_blob("a", Digest::of("x"), 7));
  }
  EXPECT_EQ(http.sent(3, "Authorization"), "Bearer first");
  EXPECT_EQ(http.sent(5, "Authorization"), "Bearer second");
  // Whom a new token does not help is told so.
  answer(401, {{"www-authenticate", "Bearer realm=\"https://auth/token\",service=\"s\""}});
  answer(200, {}, R"({"token":"third"})");
  answer(401);
  EXPECT_THROW(client.has_blob("a", Digest::of("x"), 7), Error);
}

TEST_F(RegistryLoginTest, TellsNoOtherHostWhoAsks) {
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

TEST_F(RegistryLoginTest, LogsInAtNoOtherHost) {
  answer(202, {{"location", "https://storage.site/up"}});
  refuse();
  RegistryClient client = client_of("https://h");
  EXPECT_THROW(client.put_blob("a", "one"), Error);
  for (std::size_t i = 0; i < http.requests.size(); ++i) EXPECT_EQ(http.sent(i, "Authorization"), "");
}

TEST_F(RegistryLoginTest, AsksForATokenOfTheRepository) {
  answer(401, {{"www-authenticate", "Bearer realm=\"https://auth/token\",service=\"s\""}});
  answer(200, {}, R"({"token":"t"})");
  answer(404);
  RegistryClient client = client_of("https://h");
  EXPECT_EQ(client.resolve("ai/a", "1"), std::nullopt);
  EXPECT_EQ(http.requests[1].url, "https://auth/token?service=s&scope=repository%3Aai%2Fa%3Apull%2Cpush");
  EXPECT_EQ(http.sent(1, "Authorization"), basic);
  EXPECT_EQ(http.sent(2, "Authorization"), "Bearer t");
}

TEST_F(RegistryLoginTest, AsksForNoMoreThanItNeeds) {
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

TEST_F(RegistryLoginTest, GivesNoPasswordToATokenServerWithoutTls) {
  answer(401, {{"www-authenticate", "Bearer realm=\"http://auth/token\",service=\"s\""}});
  RegistryClient client = client_of("https://h");
  EXPECT_THROW(client.resolve("a", "1"), Error);
  EXPECT_EQ(http.requests.size(), 1u);
}

TEST_F(RegistryLoginTest, TheRegistryIsOneByAllItsAddresses) {
  for (const char* same : {"https://h:443/up", "HTTPS://H/up", "//h/up", "/up", "../../../../up"}) {
    http.requests.clear();
    refuse();
    answer(202, {{"location", same}});
    answer(201);
    client_of("https://h").put_blob("a", "one");
    EXPECT_EQ(http.sent(2, "Authorization"), basic) << http.requests.at(2).url;
  }
  http.requests.clear();
  answer(202, {{"location", "17?_state=x#y"}});
  answer(200);
  client_of("http://h:5000").put_blob("a", "one");
  EXPECT_EQ(http.requests.at(1).url,
            "http://h:5000/v2/a/blobs/uploads/17?_state=x&digest=sha256%3A" + Digest::of("one").hex());
}

TEST_F(RegistryLoginTest, NobodyElsewhereSendsItToThisMachine) {
  auto said = [&](const char* address) -> std::string {
    try {
      client_of(address).put_blob("a", "one");
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  for (const std::string host : {"169.254.169.254", "127.0.0.1:8080", "localhost", "[::1]"}) {
    http.answers.clear();
    http.requests.clear();
    answer(401, {{"www-authenticate", "Bearer realm=\"https://" + host + "/token\""}});
    EXPECT_NE(said("https://h").find("an address of this machine or its link"), std::string::npos) << host;
    answer(202, {{"location", "https://" + host + "/up"}});
    EXPECT_NE(said("https://h").find("an address of this machine or its link"), std::string::npos) << host;
    EXPECT_EQ(http.requests.size(), 2u) << "it is not asked";
  }
  answer(202, {{"location", "http://127.0.0.1:81/up"}});
  answer(201);
  EXPECT_EQ(said("http://127.0.0.1:5000"), "") << "a registry of this machine may";
  EXPECT_FALSE(http.requests.back().is_foreign);
  answer(202, {{"location", "https://store.site/up"}});
  answer(201);
  EXPECT_EQ(said("https://h"), "");
  EXPECT_TRUE(http.requests.back().is_foreign) << "by its name it cannot be known";
}

TEST_F(RegistryLoginTest, AsksForATokenWhereARelativeRealmLeads) {
  answer(401, {{"www-authenticate", "Bearer realm=\"/token\""}});
  answer(200, {}, R"({"token":"t"})");
  answer(404);
  EXPECT_EQ(client_of("https://h").resolve("a", "1"), std::nullopt);
  EXPECT_TRUE(http.requests.at(1).url.starts_with("https://h/token?service=&scope=")) << http.requests[1].url;
  answer(401, {{"www-authenticate", "Bearer service=\"s\""}});
  EXPECT_THROW(client_of("https://h").resolve("a", "1"), Error);
}

}  // namespace
}  // namespace kiln
