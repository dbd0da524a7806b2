#include "factory/distribution/signed_envelope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/distribution/base64.h"
#include "support/key_file.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

constexpr const char* kType = "application/vnd.kiln.test+json";

class SignedEnvelope : public ::testing::Test {
 protected:
  SigningKey key(const std::string& name) {
    return SigningKey::read(testing::key_file(folder.path() / name));
  }
  testing::TemporaryFolder folder;
  SigningKey ours = key("ours"), foreign = key("foreign");
  std::vector<VerifyingKey> trusted = {foreign.public_half(), ours.public_half()};
};

TEST_F(SignedEnvelope, SaysWhoHasSignedIt) {
  const std::string text = signed_envelope(kType, R"({"a":1})", &ours);
  const OpenedEnvelope opened = open_envelope(text, kType, trusted);
  EXPECT_EQ(opened.payload, R"({"a":1})");
  EXPECT_EQ(opened.signer, ours.id());
  EXPECT_EQ(open_envelope(text, kType, {}).signer, "");
  EXPECT_EQ(open_envelope(text, kType, {foreign.public_half()}).signer, "");
  EXPECT_EQ(open_envelope(signed_envelope(kType, "a", nullptr), kType, trusted).signer, "");
}

// protocol.md: PAE(type, body) = "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body.
TEST_F(SignedEnvelope, IsTheOneOfDsse) {
  const Json envelope = Json::parse(signed_envelope("http://example.com/HelloWorld", "hello world", &ours));
  EXPECT_EQ(envelope["payload"], "aGVsbG8gd29ybGQ=");
  EXPECT_EQ(envelope["payloadType"], "http://example.com/HelloWorld");
  const auto signature = from_base64(envelope["signatures"][0]["sig"].get<std::string>());
  EXPECT_TRUE(ours.verifies("DSSEv1 29 http://example.com/HelloWorld 11 hello world", signature.value()));
}

TEST_F(SignedEnvelope, AnySignatureThatIsTrustedCounts) {
  Json one = Json::parse(signed_envelope(kType, "a", &foreign));
  one["signatures"].push_back(Json::parse(signed_envelope(kType, "a", &ours))["signatures"][0]);
  EXPECT_EQ(open_envelope(one.dump(), kType, {ours.public_half()}).signer, ours.id());
}

TEST_F(SignedEnvelope, AForgedOneIsNobodys) {
  const Json good = Json::parse(signed_envelope(kType, "a", &ours));
  Json other = good;
  other["payload"] = base64_of("b");
  EXPECT_EQ(open_envelope(other.dump(), kType, trusted).signer, "");
  EXPECT_EQ(open_envelope(other.dump(), kType, trusted).forged, ours.id());
  EXPECT_EQ(open_envelope(good.dump(), kType, trusted).forged, "");
  other = Json::parse(signed_envelope(kType, "a", &foreign));
  EXPECT_EQ(open_envelope(other.dump(), kType, {ours.public_half()}).forged, "") << "a stranger's";
  other["signatures"][0]["keyid"] = ours.id();  // a word, and no proof
  EXPECT_EQ(open_envelope(other.dump(), kType, {ours.public_half()}).signer, "");
  other = Json::parse(signed_envelope("another/type", "a", &ours));
  EXPECT_THROW(open_envelope(other.dump(), kType, trusted), Error);
  other["payloadType"] = kType;
  EXPECT_EQ(open_envelope(other.dump(), kType, trusted).signer, "") << "the type is signed, too";
}

TEST_F(SignedEnvelope, WhatIsNoneIsRefused) {
  Json many = Json::parse(signed_envelope(kType, "a", &ours));
  for (int i = 0; i < 20; ++i) many["signatures"].push_back(many["signatures"][0]);
  for (const std::string& bad :
       {std::string(""), std::string("no JSON"), std::string("[]"), std::string("{}"),
        std::string(R"({"payload":"!","payloadType":"application/vnd.kiln.test+json","signatures":[]})"),
        std::string(R"({"payload":"YQ==","payloadType":"application/vnd.kiln.test+json"})"), many.dump()})
    EXPECT_THROW(open_envelope(bad, kType, trusted), Error) << bad;
}

}  // namespace
}  // namespace kiln
