// Content digests (OCI image-spec, "Digests"): only sha256 is made here; others are refused by name.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

// `sha256:<64 lower-case hex digits>`, checked on construction so that it is safe in paths and URLs.
class Digest {
 public:
  Digest() = default;                          // empty: "no digest"
  static Digest parse(std::string_view text);  // throws Error(input)
  static Digest of(std::string_view bytes);
  static Digest from_hex(std::string_view hex);

  bool empty() const { return hex_.empty(); }
  std::string text() const { return empty() ? "" : "sha256:" + hex_; }
  const std::string& hex() const { return hex_; }
  auto operator<=>(const Digest&) const = default;

 private:
  std::string hex_;
};

// The bytes of a SHA-256, for callers that keep many.
using Sha256 = std::array<unsigned char, 32>;
void append_hex(std::string& out, std::span<const unsigned char> bytes);  // lower-case hex digits
std::string hex_of(const Sha256& sum);
Sha256 sum_of_hex(std::string_view hex);  // REQUIRES: 64 lower-case hex digits

// SHA-256 of many short texts, one after the other: the algorithm is looked up once.
class TextHasher {
 public:
  TextHasher();
  ~TextHasher();
  TextHasher(TextHasher&&) noexcept;
  TextHasher& operator=(TextHasher&&) noexcept;
  Sha256 of(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Incremental SHA-256. Movable, not copyable.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  void update(const void* bytes, std::size_t size);
  void update(std::string_view bytes) { update(bytes.data(), bytes.size()); }
  Digest finish();  // may be called once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// RFC 4648, section 4.

std::string base64_of(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);  // nullopt: it is not base64

}  // namespace kiln
