// The client against answers by hand: what it asks for, and what it makes of the answers.
#include "registry_client_fixture.h"

namespace kiln {
namespace {

using testing::RegistryClientTest;

TEST_F(RegistryClientTest, AsksForTheManifestWhereHeadIsNotAnswered) {
  answer(405);
  answer(200, {}, "bytes");
  EXPECT_EQ(client_of("h").resolve("a", "1"), Digest::of("bytes"));
  EXPECT_EQ(http.requests.back().method, "GET");
}

TEST_F(RegistryClientTest, FindsDamageOfBlobsByTheirFirstByte) {
  RegistryClient client = client_of("h");
  const Descriptor blob{"", Digest::of("12345"), 5, {}};
  answer(206, {{"content-range", "bytes 0-0/5"}}, "1");
  EXPECT_EQ(client.blob_damage("a", blob, false), "");
  EXPECT_EQ(http.sent(0, "Range"), "bytes=0-0");
  answer(200, {{"content-length", "5"}});
  EXPECT_EQ(client.blob_damage("a", blob, false), "") << "a registry without ranges";
  answer(404);
  EXPECT_EQ(client.blob_damage("a", blob, false), "is missing");
  answer(206, {{"content-range", "bytes 0-0/3"}}, "1");
  answer(404);
  EXPECT_EQ(client.blob_damage("a", blob, false), "is missing") << "it is read where its size is another";
  answer(403);
  answer(403);
  EXPECT_THROW(client.blob_damage("a", blob, false), Error);
}

TEST_F(RegistryClientTest, FindsDamageOfManifests) {
  RegistryClient client = client_of("h");
  const Digest digest = Digest::of("bytes");
  answer(200, {{"docker-content-digest", digest.text()}});
  EXPECT_EQ(client.manifest_damage("a", digest, false), "");
  answer(404);
  answer(200, {}, "bytes");
  EXPECT_EQ(client.manifest_damage("a", digest, false), "") << "it has what HEAD does not know";
  answer(404);
  answer(404);
  EXPECT_EQ(client.manifest_damage("a", digest, false), "is missing");
  answer(200, {}, "others");
  EXPECT_EQ(client.manifest_damage("a", digest, true), "has other bytes");
  EXPECT_EQ(http.requests.back().method, "GET");
}

TEST_F(RegistryClientTest, ListsGoNoFurtherThanTheRegistry) {
  answer(200, {{"link", "<https://evil/v2/a/tags/list?last=x>; rel=\"next\""}}, R"({"tags":["x"]})");
  answer(200, {}, R"({"tags":["y"]})");
  RegistryClient client = client_of("https://h");
  EXPECT_THROW(client.tags("a"), Error);
  EXPECT_EQ(http.requests.size(), 1u);
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

TEST_F(RegistryClientTest, TriesAgainWhatPasses) {
  answer(503);
  answer(429, {{"retry-after", "7"}});
  answer(200, {{"content-length", "1"}});
  EXPECT_TRUE(client_of("h").has_blob("a", Digest::of("x"), 1));
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

// What Debian's docker-registry 2.8.2 answered while another program sent the same blob.
constexpr const char* kEmptyLink =
    R"({"errors":[{"code":"DIGEST_INVALID","message":"provided digest did not match uploaded content"},)"
    R"({"code":"MANIFEST_BLOB_UNKNOWN","message":"blob unknown to registry","detail":"sha256:e1"}]})";

TEST_F(RegistryClientTest, WaitsForALinkThatAnotherProgramWrites) {
  answer(400, {}, kEmptyLink);
  answer(201);
  EXPECT_NO_THROW(client_of("h").put_manifest("a", "1", "t", "{}"));
  EXPECT_EQ(waited.size(), 1u);
  answer(500);
  answer(200, {{"content-length", "1"}});
  EXPECT_TRUE(client_of("h").has_blob("a", Digest::of("x"), 1));
}

TEST_F(RegistryClientTest, TakesABlobWhoseLinkStaysEmptyForMissing) {
  for (int tries = 0; tries < 3; ++tries) answer(400, {}, kEmptyLink);
  EXPECT_THROW(client_of("h").put_manifest("a", "1", "t", "{}"), MissingBlob);
  EXPECT_EQ(waited.size(), 2u);
  for (int tries = 0; tries < 3; ++tries) answer(500);
  EXPECT_TRUE(client_of("h").lacks_blob("a", Digest::of("x"), 1)) << "sending it writes the link again";
  for (int tries = 0; tries < 3; ++tries) answer(503);
  EXPECT_THROW(client_of("h").lacks_blob("a", Digest::of("x"), 1), Error) << "503 is never the link's";
  for (int tries = 0; tries < 3; ++tries) answer(500);
  EXPECT_THROW(client_of("h").has_blob("a", Digest::of("x"), 1), Error) << "the caller only looks";
  answer(400, {}, R"({"errors":[{"code":"DIGEST_INVALID","message":""}]})");
  try {
    client_of("h").put_manifest("a", "1", "t", "{}");
    ADD_FAILURE() << "no error";
  } catch (const MissingBlob&) {
    ADD_FAILURE() << "the registry has every blob";
  } catch (const Error&) {
  }
  EXPECT_EQ(waited.size(), 8u) << "bytes that do not match are refused at once";
}

TEST_F(RegistryClientTest, KnowsABlobByItsSizeAndItsDigest) {
  const Digest x = Digest::of("x");
  auto has = [&] { return client_of("h").has_blob("a", x, 1); };
  answer(404);
  EXPECT_FALSE(has());
  answer(200, {{"content-length", "2"}});
  EXPECT_FALSE(has());
  answer(200, {{"content-length", "1"}, {"docker-content-digest", Digest::of("y").text()}});
  EXPECT_FALSE(has());
  answer(200, {{"content-length", "1"}, {"docker-content-digest", x.text()}});
  EXPECT_TRUE(has());
  answer(403);
  EXPECT_THROW(has(), Error);
}

TEST_F(RegistryClientTest, ReadsABlobWhoseSizeIsNotSaid) {
  for (const auto& [status, length] : {std::pair(200, "0"), std::pair(200, ""), std::pair(405, "")})
    for (const std::string bytes : {"x", "y", "xx", ""}) {
      http.requests.clear();
      answer(status, {{"content-length", length}});
      answer(200, {}, bytes);
      EXPECT_EQ(client_of("h").has_blob("a", Digest::of("x"), 1), bytes == "x") << status << length << bytes;
      EXPECT_EQ(http.requests.at(1).method, "GET");
    }
  answer(200, {{"content-length", "0"}});
  EXPECT_TRUE(client_of("h").has_blob("a", Digest::of(""), 0)) << "that one has no bytes";
}

TEST_F(RegistryClientTest, ResolvesWhereNobodyKnowsHead) {
  answer(405);
  answer(200, {}, "bytes");
  EXPECT_EQ(client_of("h").resolve("a", "1"), Digest::of("bytes"));
}

TEST_F(RegistryClientTest, AnUploadIsLedOn) {
  refuse();
  answer(307, {{"location", "/there"}});
  answer(202, {{"location", "/up"}});
  answer(308, {{"location", "https://store.site/up"}});
  answer(201);
  client_of("https://h").put_blob("a", "one");
  ASSERT_EQ(http.requests.size(), 5u);
  EXPECT_EQ(http.requests[2].url, "https://h/there");
  EXPECT_EQ(http.sent(2, "Authorization"), basic);
  EXPECT_EQ(http.requests[4].url, "https://store.site/up");
  EXPECT_EQ(http.requests[4].body, "one");
  EXPECT_EQ(http.sent(4, "Authorization"), "");
  for (int hop = 0; hop < 9; ++hop) answer(307, {{"location", "/round"}});
  EXPECT_THROW(client_of("https://h").put_blob("a", "one"), Error);
}

TEST_F(RegistryClientTest, AnUploadWithoutAPlaceIsNone) {
  answer(202);
  EXPECT_THROW(client_of("h").put_blob("a", "one"), Error);
}

TEST_F(RegistryClientTest, EverySuccessIsOne) {
  for (int status : {200, 201, 202, 204}) {
    answer(status);
    EXPECT_FALSE(client_of("h").put_manifest("a", "1", "t", "{}")) << status;
  }
  for (int status : {301, 304, 403, 409}) {
    answer(status);
    EXPECT_THROW(client_of("h").put_manifest("a", "1", "t", "{}"), Error) << status;
  }
}

TEST_F(RegistryClientTest, WhatARegistryRefusesIsAnErrorWhoeverCatchesIt) {
  auto told = [&](int status, const std::string& code) -> std::string {
    answer(status, {}, R"({"errors":[{"code":")" + code + R"(","message":"x"}]})");
    try {
      client_of("h").put_manifest("a", "1", "t", "{}");
    } catch (const std::exception& exception) {
      const auto* error = dynamic_cast<const Error*>(&exception);
      return error != nullptr && error->code() == ExitCode::network ? error->message() : "no Error(network)";
    }
    return "nothing";
  };
  EXPECT_EQ(told(404, "MANIFEST_BLOB_UNKNOWN"), "h/a: writing 1: 404 MANIFEST_BLOB_UNKNOWN: x");
  EXPECT_EQ(told(400, "MANIFEST_INVALID"), "h/a: writing 1: 400 MANIFEST_INVALID: x");
  const HttpFailure failure{"reset"};
  EXPECT_EQ(dynamic_cast<const Error&>(failure).message(), "reset");
}

TEST_F(RegistryClientTest, AMountThatFailsIsNoFailure) {
  auto mounts = [&] { return client_of("h").mount_blob("a", Digest::of("x"), "b"); };
  for (int status : {400, 403, 404, 405, 202}) {
    http.requests.clear();
    answer(status);
    EXPECT_FALSE(mounts()) << status;
    EXPECT_EQ(http.requests.size(), 1u) << "an upload without a place is not left";
  }
  answer(401, {{"www-authenticate", "Bearer realm=\"https://auth/token\""}});
  answer(403);
  EXPECT_FALSE(mounts()) << "no token for both";
  answer(201);
  EXPECT_TRUE(mounts());
}

TEST_F(RegistryClientTest, AnUploadThatCannotBeLeftIsNoFailure) {
  http.fails = "DELETE";
  answer(202, {{"location", "/up/1"}});
  EXPECT_FALSE(client_of("h").mount_blob("a", Digest::of("x"), "b"));
  EXPECT_EQ(http.requests.back().method + " " + http.requests.back().url, "DELETE https://h/up/1");
}

TEST_F(RegistryClientTest, PagesThatComeAgainHaveAnEnd) {
  answer(200, {{"link", "<list?last=b>; rel=\"next\""}}, R"({"tags":["b"]})");
  answer(200, {{"link", "</v2/a/tags/list?last=b>; rel=\"next\""}}, R"({"tags":["a"]})");
  RegistryClient client = client_of("https://h");
  EXPECT_EQ(client.tags("a"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(http.requests.size(), 2u);
  EXPECT_EQ(http.requests.at(1).url, "https://h/v2/a/tags/list?last=b");
  http.requests.clear();
  for (int page = 0; page < 9; ++page)
    answer(200, {{"link", "<?page=" + std::to_string(page) + ">; rel=next"}}, R"({"tags":["a","b"]})");
  EXPECT_EQ(client.tags("a"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(http.requests.size(), 2u) << "nothing new";
}

TEST_F(RegistryClientTest, MovesATagWhereNoConditionIsKnown) {
  answer(400, {}, "unsupported header");
  answer(201);
  EXPECT_TRUE(client_of("h").move_tag("a", "1", Digest::of("x"), "t", "{}"));
  EXPECT_NE(http.sent(0, "If-Match"), "");
  EXPECT_EQ(http.sent(1, "If-Match"), "");
  EXPECT_EQ(http.sent(1, "Content-Type"), "t");
}

TEST_F(RegistryClientTest, KnowsAnotherManifestByItsBytes) {
  answer(200, {{"content-type", "t"}, {"docker-content-digest", Digest::of("right").text()}}, "wrong");
  EXPECT_THROW(client_of("h").manifest("a", Digest::of("right").text()), Error);
}

}  // namespace
}  // namespace kiln
