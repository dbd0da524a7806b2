#include "factory/sif/tail_packer.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstring>
#include <unordered_map>

#include "factory/base/error.h"

namespace kiln::sif {

// Poly1305 under a key that only this process knows, at several times SHA-256's speed. As a universal hash,
// it gives two ends of 1 MiB at most one value with a chance below 2^-86, whoever chose them.
class TailPacker::Mac {
 public:
  Mac() {
    if (!context_ || RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1) fail();
  }

  Key of(std::string_view bytes) {
    std::array<unsigned char, 16> tag{};
    std::size_t size = 0;
    bool done = EVP_MAC_init(context_.get(), key_.data(), key_.size(), nullptr) == 1 &&
                EVP_MAC_update(context_.get(), reinterpret_cast<const unsigned char*>(bytes.data()),
                               bytes.size()) == 1 &&
                EVP_MAC_final(context_.get(), tag.data(), &size, tag.size()) == 1 && size == tag.size();
    if (!done) fail();
    Key key;
    std::memcpy(&key.first, tag.data(), 8);
    std::memcpy(&key.second, tag.data() + 8, 8);
    return key;
  }

 private:
  [[noreturn]] static void fail() { throw Error(ExitCode::store, "libcrypto cannot make a Poly1305"); }

  std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm_{EVP_MAC_fetch(nullptr, "POLY1305", nullptr),
                                                               &EVP_MAC_free};
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context_{
      algorithm_ ? EVP_MAC_CTX_new(algorithm_.get()) : nullptr, &EVP_MAC_CTX_free};
  std::array<unsigned char, 32> key_{};
};

struct TailPacker::Seen {
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.first; }  // random bits already
  };
  std::unordered_map<Key, Place, Hash> places;
};

TailPacker::TailPacker(std::uint32_t block_size, Flush flush)
    : block_size_(block_size),
      flush_(std::move(flush)),
      mac_(std::make_unique<Mac>()),
      seen_(std::make_unique<Seen>()) {
  block_.reserve(block_size);
}
TailPacker::~TailPacker() = default;

TailPacker::Place TailPacker::add(std::string_view tail) {
  auto [found, is_new] = seen_->places.try_emplace(mac_->of(tail));
  if (!is_new) return found->second;
  if (block_.size() + tail.size() > block_size_) finish();
  found->second = {flushed_, static_cast<std::uint32_t>(block_.size())};
  block_ += tail;
  return found->second;
}

void TailPacker::finish() {
  if (block_.empty()) return;
  flush_(block_);
  ++flushed_;
  block_.clear();
}

}  // namespace kiln::sif
