#include "factory/base/digest.h"

#include <openssl/evp.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

struct Freed {
  void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, Freed>;

}  // namespace

struct Hasher::State {
  Context md{EVP_MD_CTX_new()};
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  if (state_->md == nullptr || EVP_DigestInit_ex(state_->md.get(), EVP_sha256(), nullptr) != 1)
    throw Error(ExitCode::store, "libcrypto cannot make a SHA-256");
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(const void* bytes, std::size_t size) { EVP_DigestUpdate(state_->md.get(), bytes, size); }

Digest Hasher::finish() {
  Sha256 raw{};
  EVP_DigestFinal_ex(state_->md.get(), raw.data(), nullptr);
  return Digest::from_hex(hex_of(raw));
}

void append_hex(std::string& out, std::span<const unsigned char> bytes) {
  std::size_t at = out.size();
  out.resize(at + 2 * bytes.size());
  for (unsigned char byte : bytes) {
    out[at++] = "0123456789abcdef"[byte >> 4];
    out[at++] = "0123456789abcdef"[byte & 15];
  }
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
  std::unique_ptr<EVP_MD, Freed> algorithm{EVP_MD_fetch(nullptr, "SHA256", nullptr)};
  Context md{EVP_MD_CTX_new()};
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
  bool done = EVP_DigestInit_ex(state_->md.get(), state_->algorithm.get(), nullptr) == 1 &&
              EVP_DigestUpdate(state_->md.get(), text.data(), text.size()) == 1 &&
              EVP_DigestFinal_ex(state_->md.get(), sum.data(), nullptr) == 1;
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

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_of(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a NUL
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t end = std::min(text.find('='), text.size());
  const std::size_t padding = text.size() - end;
  // OpenSSL passes over blanks, and knows no padding.
  if (padding > 2 || text.find_first_not_of('=', end) != std::string_view::npos ||
      text.substr(0, end).find_first_not_of(kAlphabet) != std::string_view::npos)
    return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

}  // namespace kiln
