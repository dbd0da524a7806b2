// The key that a site signs its images with: ECDSA on P-256 over SHA-256, as cosign and containers/image use
// for sigstore signatures.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kiln {

class SigningKey {
 public:
  // A private key in PEM (PKCS#8 or SEC 1; encrypted ones want `passphrase`). Throws Error(input): it is
  // none, is of another kind, or the passphrase is wrong. Nothing of it is ever in a message.
  static SigningKey read(const std::filesystem::path& file, const std::string& passphrase = {});

  std::string sign(std::string_view bytes) const;  // ASN.1 DER; another one each time
  bool verifies(std::string_view bytes, std::string_view signature) const;
  // 64 hex: SHA-256 of the public key's DER. Says which key it is.
  std::string id() const;

 private:
  struct State;
  explicit SigningKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace kiln
