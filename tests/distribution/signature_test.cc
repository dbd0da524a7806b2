#include "factory/distribution/signature.h"

#include <gtest/gtest.h>
#include <openssl/rsa.h>

#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/json.h"
#include "support/key_file.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::key_file;
using testing::TemporaryFolder;

const Digest kImage = Digest::of("an image");

TEST(SigningKey, SignsWhatItThenVerifies) {
  TemporaryFolder folder;
  const SigningKey ours = SigningKey::read(key_file(folder.path() / "ours"));
  const SigningKey foreign = SigningKey::read(key_file(folder.path() / "foreign"));
  const std::string signature = ours.sign("text");
  EXPECT_TRUE(ours.verifies("text", signature));
  EXPECT_FALSE(ours.verifies("Text", signature));
  EXPECT_FALSE(ours.verifies("text", signature.substr(1)));
  EXPECT_FALSE(ours.verifies("text", ""));
  EXPECT_FALSE(foreign.verifies("text", signature));
  EXPECT_EQ(ours.id(), SigningKey::read(folder.path() / "ours").id());
  EXPECT_NE(ours.id(), foreign.id());
}

TEST(SigningKey, AnEncryptedOneWantsItsPassphrase) {
  TemporaryFolder folder;
  const fs::path file = key_file(folder.path() / "key", "P-256", "the passphrase");
  EXPECT_TRUE(SigningKey::read(file, "the passphrase")
                  .verifies("a", SigningKey::read(file, "the passphrase").sign("a")));
  for (const char* wrong : {"", "another", "the passphrase "}) {
    try {
      SigningKey::read(file, wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.message(), "the key cannot be opened with this passphrase");
    }
  }
}

TEST(SigningKey, RefusesOtherKinds) {
  TemporaryFolder folder;
  EXPECT_THROW(SigningKey::read(folder.path() / "none"), Error);
  EXPECT_THROW(SigningKey::read(key_file(folder.path() / "p384", "P-384")), Error);
  RealFileSystem files;
  files.write(folder.path() / "text", "not a key");
  EXPECT_THROW(SigningKey::read(folder.path() / "text"), Error);
  EVP_PKEY* rsa = EVP_RSA_gen(1024);
  std::FILE* out = std::fopen((folder.path() / "rsa").c_str(), "w");
  PEM_write_PrivateKey(out, rsa, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(out);
  EVP_PKEY_free(rsa);
  EXPECT_THROW(SigningKey::read(folder.path() / "rsa"), Error);
}

TEST(VerifyingKey, IsThePublicHalf) {
  TemporaryFolder folder;
  const SigningKey ours =
      SigningKey::read(key_file(folder.path() / "ours", "P-256", "", folder.path() / "public"));
  const VerifyingKey key = VerifyingKey::read(folder.path() / "public");
  EXPECT_EQ(key.id(), ours.id());
  EXPECT_TRUE(key.verifies("text", ours.sign("text")));
  EXPECT_FALSE(key.verifies("Text", ours.sign("text")));
  EXPECT_THROW(VerifyingKey::read(folder.path() / "ours"), Error) << "a private key is none";
  EXPECT_THROW(VerifyingKey::read(folder.path() / "none"), Error);
  key_file(folder.path() / "p384", "P-384", "", folder.path() / "p384.pub");
  EXPECT_THROW(VerifyingKey::read(folder.path() / "p384.pub"), Error);
}

class SignatureTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  SigningKey ours = SigningKey::read(key_file(folder.path() / "ours"));
  SigningKey foreign = SigningKey::read(key_file(folder.path() / "foreign"));
  std::string claim = signed_claim("registry.site/ai/pytorch:2.6-abc", kImage);
};

TEST_F(SignatureTest, TheClaimNamesTheBitsAndTheReference) {
  const Json json = Json::parse(claim);
  EXPECT_EQ(json["critical"]["identity"]["docker-reference"], "registry.site/ai/pytorch:2.6-abc");
  EXPECT_EQ(json["critical"]["image"]["docker-manifest-digest"], kImage.text());
  EXPECT_EQ(json["critical"]["type"], "cosign container image signature");
  EXPECT_EQ(signatures_tag(kImage), "sha256-" + kImage.hex() + ".sig");
}

TEST_F(SignatureTest, IsALayerOfItsManifest) {
  const auto made = with_signature("", claim, ours);
  ASSERT_TRUE(made);
  const Json manifest = Json::parse(made->manifest);
  ASSERT_EQ(manifest["layers"].size(), 1u);
  EXPECT_EQ(manifest["layers"][0]["mediaType"], "application/vnd.dev.cosign.simplesigning.v1+json");
  EXPECT_EQ(manifest["layers"][0]["digest"], Digest::of(claim).text());
  EXPECT_EQ(manifest["config"]["digest"], Digest::of(made->blobs.at(1)).text());
  EXPECT_EQ(Json::parse(made->blobs[1])["rootfs"]["diff_ids"], Json::array({Digest::of(claim).text()}));
}

TEST_F(SignatureTest, IsMadeOnceByEachKey) {
  const std::string one = with_signature("", claim, ours)->manifest;
  EXPECT_FALSE(with_signature(one, claim, ours));
  const auto two = with_signature(one, claim, foreign);
  ASSERT_TRUE(two);
  EXPECT_EQ(Json::parse(two->manifest)["layers"].size(), 2u);
  EXPECT_EQ(Json::parse(two->manifest)["layers"][0], Json::parse(one)["layers"][0]);
  EXPECT_FALSE(with_signature(two->manifest, claim, ours));
  EXPECT_TRUE(with_signature(one, signed_claim("elsewhere:1", kImage), ours));
}

TEST_F(SignatureTest, OursAreToldFromThoseOfOthers) {
  const std::string one = with_signature("", claim, ours)->manifest;
  EXPECT_TRUE(has_no_claim_but(one, claim));
  EXPECT_TRUE(has_no_claim_but(with_signature(one, claim, foreign)->manifest, claim)) << "whoever signed it";
  EXPECT_FALSE(
      has_no_claim_but(with_signature(one, signed_claim("elsewhere:1", kImage), ours)->manifest, claim));
  EXPECT_FALSE(has_no_claim_but(one, signed_claim("elsewhere:1", kImage)));
  for (const char* theirs : {"", "no JSON", "[]", "{}", R"({"layers":[]})"})
    EXPECT_FALSE(has_no_claim_but(theirs, claim)) << theirs;
}

TEST_F(SignatureTest, AForgedOneDoesNotCount) {
  Json manifest = Json::parse(with_signature("", claim, foreign)->manifest);
  EXPECT_TRUE(with_signature(manifest.dump(), claim, ours));
  manifest["layers"][0]["annotations"]["dev.cosignproject.cosign/signature"] = "bm9uZQ==";
  EXPECT_TRUE(with_signature(manifest.dump(), claim, ours));
  EXPECT_THROW(with_signature("<html>", claim, ours), Error);
}

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
