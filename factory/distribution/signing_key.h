// The keys that a site signs its images and steps with, and those that it believes: ECDSA on P-256 over
// SHA-256, as cosign and containers/image use for sigstore signatures.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kiln {

// What a signature is checked with.
class VerifyingKey {
 public:
  // A public key in PEM. Throws Error(input): it is none, or is of another kind.
  static VerifyingKey read(const std::filesystem::path& file);

  bool verifies(std::string_view bytes, std::string_view signature) const;
  // 64 hex: SHA-256 of the public key's DER. Says which key it is.
  std::string id() const;

 private:
  friend class SigningKey;
  struct State;
  explicit VerifyingKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

class SigningKey {
 public:
  // A private key in PEM (PKCS#8 or SEC 1; encrypted ones want `passphrase`). Throws Error(input): it is
  // none, is of another kind, or the passphrase is wrong. Nothing of it is ever in a message.
  static SigningKey read(const std::filesystem::path& file, const std::string& passphrase = {});
  // The same; the first line of `passphrase_file`, where that is not empty, opens it.
  static SigningKey read_with(const std::filesystem::path& file,
                              const std::filesystem::path& passphrase_file);

  std::string sign(std::string_view bytes) const;  // ASN.1 DER; another one each time
  bool verifies(std::string_view bytes, std::string_view signature) const {
    return public_half_.verifies(bytes, signature);
  }
  std::string id() const { return public_half_.id(); }
  const VerifyingKey& public_half() const { return public_half_; }

 private:
  explicit SigningKey(VerifyingKey pair) : public_half_(std::move(pair)) {}
  VerifyingKey public_half_;  // which has the private one, too
};

}  // namespace kiln
