#include "factory/distribution/signature.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr const char* kClaimType = "application/vnd.dev.cosign.simplesigning.v1+json";
constexpr const char* kSignature = "dev.cosignproject.cosign/signature";

bool is_ours(const Descriptor& layer, const std::string& claim, const SigningKey& key) {
  auto found = layer.annotations.find(kSignature);
  if (layer.digest != Digest::of(claim) || found == layer.annotations.end()) return false;
  const auto signature = from_base64(found->second);
  return signature && key.verifies(claim, *signature);
}

Manifest read(const std::string& now) {
  try {
    return manifest_from_json(JsonDocument::parse(now, "the signatures").root());
  } catch (const Error& error) {
    throw Error(ExitCode::network, "the tag of the signatures names no manifest: " + error.message());
  }
}

// A configuration as of an image: its layers, which are not compressed.
std::string configuration(const std::vector<Descriptor>& layers) {
  Json ids = Json::array();
  for (const Descriptor& layer : layers) ids.push_back(layer.digest.text());
  return Json{{"architecture", ""},
              {"os", ""},
              {"config", Json::object()},
              {"rootfs", {{"type", "layers"}, {"diff_ids", ids}}}}
      .dump();
}

}  // namespace

std::string signatures_tag(const Digest& image) { return "sha256-" + image.hex() + ".sig"; }

std::string signed_claim(const std::string& reference, const Digest& image) {
  return Json{{"critical",
               {{"identity", {{"docker-reference", reference}}},
                {"image", {{"docker-manifest-digest", image.text()}}},
                {"type", "cosign container image signature"}}},
              {"optional", {{"creator", "kiln"}}}}
      .dump();
}

bool has_no_claim_but(const std::string& manifest, const std::string& claim) {
  try {
    const Manifest signatures = manifest_from_json(JsonDocument::parse(manifest, "the signatures").root());
    return !signatures.layers.empty() && std::ranges::all_of(signatures.layers, [&](const Descriptor& layer) {
      return layer.digest == Digest::of(claim);
    });
  } catch (const Error&) {
    return false;  // others have written it
  }
}

std::optional<SignatureManifest> with_signature(const std::string& now, const std::string& claim,
                                                const SigningKey& key) {
  Manifest manifest;
  if (!now.empty()) manifest = read(now);
  if (std::ranges::any_of(manifest.layers,
                          [&](const Descriptor& layer) { return is_ours(layer, claim, key); }))
    return std::nullopt;
  manifest.layers.push_back(
      {kClaimType, Digest::of(claim), claim.size(), {{kSignature, base64_of(key.sign(claim))}}});
  const std::string config = configuration(manifest.layers);
  manifest.config = {std::string(media_type::kConfig), Digest::of(config), config.size(), {}};
  return SignatureManifest{{claim, config}, to_json(manifest).dump()};
}

namespace {

constexpr std::size_t kMostSignatures = 16;  // each is checked with each key

// The bytes that are signed: PAE(type, body).
std::string pre_authentication_encoding(std::string_view type, std::string_view body) {
  return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, body.size(), body);
}

std::string bytes_in(const JsonNode& node) {
  auto bytes = from_base64(node.string());
  if (!bytes) node.fail("expected base64");
  return *std::move(bytes);
}

}  // namespace

std::string signed_envelope(std::string_view type, std::string_view payload, const SigningKey* key) {
  Json signatures = Json::array();
  if (key != nullptr)
    signatures.push_back(
        {{"keyid", key->id()}, {"sig", base64_of(key->sign(pre_authentication_encoding(type, payload)))}});
  return Json{{"payload", base64_of(payload)}, {"payloadType", type}, {"signatures", signatures}}.dump();
}

// `keyid` is a hint that anybody may write: each signature is tried with each key.
OpenedEnvelope open_envelope(std::string_view text, std::string_view type,
                             const std::vector<VerifyingKey>& trusted) {
  const JsonDocument document = JsonDocument::parse(text, "the envelope");
  const JsonNode root = document.root();
  const JsonNode named = root.at("payloadType");
  if (named.string() != type)
    named.fail(fmt::format("expected a payload of the type {}, found '{}'", type, named.string()));
  OpenedEnvelope opened{bytes_in(root.at("payload")), "", ""};
  const std::string signed_bytes = pre_authentication_encoding(type, opened.payload);
  const std::vector<JsonNode> signatures = root.at("signatures").items();
  if (signatures.size() > kMostSignatures)
    root.at("signatures").fail(fmt::format("more than {} signatures", kMostSignatures));
  for (const JsonNode& signature : signatures) {
    const std::string bytes = bytes_in(signature.at("sig"));
    const auto named_key = signature.find("keyid");
    for (const VerifyingKey& key : trusted) {
      if (opened.signer.empty() && key.verifies(signed_bytes, bytes)) opened.signer = key.id();
      if (named_key && named_key->string() == key.id()) opened.forged = key.id();
    }
  }
  if (!opened.signer.empty()) opened.forged.clear();
  return opened;
}

struct VerifyingKey::State {
  EVP_PKEY* key;
  explicit State(EVP_PKEY* own) : key(own) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_PKEY_free(key); }
};

namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

constexpr std::uint64_t kMostKey = 64u << 10;  // bytes of a file
constexpr const char* kMakeOne = "`openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` makes one";

std::string text_of(const fs::path& file) {
  auto text = RealFileSystem().read(file, kMostKey);
  if (!text) throw Error(ExitCode::input, {file.string(), 0, 0, ""}, "there is no such key");
  return *std::move(text);
}

int give_passphrase(char* to, int size, int, void* passphrase) {
  const auto& text = *static_cast<const std::string*>(passphrase);
  if (text.empty() || text.size() > static_cast<std::size_t>(size)) return -1;
  text.copy(to, text.size());
  return static_cast<int>(text.size());
}

bool is_p256(EVP_PKEY* key) {
  char group[64] = {};
  std::size_t size = 0;
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group, sizeof group, &size) == 1 &&
         std::string_view(group, size) == SN_X9_62_prime256v1;
}

void need_p256(EVP_PKEY* key, const fs::path& file) {
  if (!is_p256(key))
    throw Error(ExitCode::input, {file.string(), 0, 0, ""}, "the key is not of ECDSA on P-256", kMakeOne);
}

[[noreturn]] void broken() { throw Error(ExitCode::internal, "OpenSSL does not sign"); }

}  // namespace

SigningKey SigningKey::read(const fs::path& file, const std::string& passphrase) {
  const std::string text = text_of(file);
  const Bio in(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  EVP_PKEY* key =
      PEM_read_bio_PrivateKey(in.get(), nullptr, &give_passphrase, const_cast<std::string*>(&passphrase));
  if (key == nullptr) {
    const bool encrypted = contains(text, "ENCRYPTED");
    throw Error(ExitCode::input, {file.string(), 0, 0, ""},
                encrypted ? "the key cannot be opened with this passphrase" : "this is no private key in PEM",
                contains(text, "COSIGN")
                    ? "cosign's own form is not read: `openssl genpkey` makes one that is"
                    : kMakeOne);
  }
  VerifyingKey pair(std::make_shared<const VerifyingKey::State>(key));
  need_p256(key, file);
  return SigningKey(std::move(pair));
}

SigningKey SigningKey::read_with(const fs::path& file, const fs::path& passphrase_file) {
  if (passphrase_file.empty()) return read(file);
  const auto bytes = RealFileSystem().read(passphrase_file, kMostKey);
  if (!bytes) throw Error(ExitCode::input, {passphrase_file.string(), 0, 0, ""}, "there is no such file");
  return read(file, bytes->substr(0, bytes->find('\n')));
}

VerifyingKey VerifyingKey::read(const fs::path& file) {
  const std::string text = text_of(file);
  const Bio in(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  EVP_PKEY* key = PEM_read_bio_PUBKEY(in.get(), nullptr, nullptr, nullptr);
  if (key == nullptr)
    throw Error(ExitCode::input, {file.string(), 0, 0, ""}, "this is no public key in PEM",
                "`openssl pkey -in KEY -pubout` writes that of a private one");
  VerifyingKey read(std::make_shared<const State>(key));
  need_p256(key, file);
  return read;
}

std::string SigningKey::sign(std::string_view bytes) const {
  const DigestContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, public_half_.state_->key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, data, bytes.size()) != 1)
    broken();
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                     bytes.size()) != 1)
    broken();
  signature.resize(size);
  return signature;
}

bool VerifyingKey::verifies(std::string_view bytes, std::string_view signature) const {
  const DigestContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, state_->key) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                          bytes.size()) == 1;
}

std::string VerifyingKey::id() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(state_->key, &der);
  if (size <= 0) broken();
  const std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return Digest::of(bytes).hex();
}

}  // namespace kiln
