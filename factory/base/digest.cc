#include "factory/base/digest.h"

#include <openssl/evp.h>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {

struct Hasher::State {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(md); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  if (state_->md == nullptr || EVP_DigestInit_ex(state_->md, EVP_sha256(), nullptr) != 1)
    throw Error(ExitCode::store, "libcrypto cannot make a SHA-256");
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(const void* bytes, std::size_t size) { EVP_DigestUpdate(state_->md, bytes, size); }

Digest Hasher::finish() {
  Sha256 raw{};
  EVP_DigestFinal_ex(state_->md, raw.data(), nullptr);
  return Digest::from_hex(hex_of(raw));
}

void append_hex(std::string& out, const Sha256& sum) {
  std::array<char, 64> digits{};
  for (std::size_t i = 0; i < sum.size(); ++i) {
    digits[2 * i] = "0123456789abcdef"[sum[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[sum[i] & 15];
  }
  out.append(digits.data(), digits.size());
}

std::string hex_of(const Sha256& sum) {
  std::string hex;
  hex.reserve(2 * sum.size());
  append_hex(hex, sum);
  return hex;
}

Sha256 sum_of_hex(std::string_view hex) {
  auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  Sha256 sum{};
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] = static_cast<unsigned char>(16 * value(hex[2 * i]) + value(hex[2 * i + 1]));
  return sum;
}

struct TextHasher::State {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    EVP_MD_CTX_free(md);
    EVP_MD_free(algorithm);
  }
};

TextHasher::TextHasher() : state_(std::make_unique<State>()) {
  if (state_->md == nullptr || state_->algorithm == nullptr)
    throw Error(ExitCode::store, "libcrypto cannot make a SHA-256");
}
TextHasher::~TextHasher() = default;
TextHasher::TextHasher(TextHasher&&) noexcept = default;
TextHasher& TextHasher::operator=(TextHasher&&) noexcept = default;

Sha256 TextHasher::of(std::string_view text) {
  Sha256 sum{};
  bool done = EVP_DigestInit_ex(state_->md, state_->algorithm, nullptr) == 1 &&
              EVP_DigestUpdate(state_->md, text.data(), text.size()) == 1 &&
              EVP_DigestFinal_ex(state_->md, sum.data(), nullptr) == 1;
  if (!done) throw Error(ExitCode::store, "libcrypto cannot make a SHA-256");
  return sum;
}

Digest Digest::from_hex(std::string_view hex) {
  bool good = hex.size() == 64 && is_hex(hex);
  if (!good)
    throw Error(ExitCode::input, "not a sha256 digest: '" + std::string(hex.substr(0, 80)) + "'",
                "64 lower-case hex digits");
  Digest digest;
  digest.hex_ = std::string(hex);
  return digest;
}

Digest Digest::parse(std::string_view text) {
  if (!text.starts_with("sha256:"))
    throw Error(ExitCode::input, "not a sha256 digest: '" + std::string(text.substr(0, 80)) + "'",
                "kiln uses sha256 only: 'sha256:' and 64 lower-case hex digits");
  return from_hex(text.substr(7));
}

Digest Digest::of(std::string_view bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace kiln
