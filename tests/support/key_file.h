// Keys for tests of signatures, made where they are used.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace kiln::testing {

// A new private key in PEM; encrypted with a passphrase where there is one. With `public_half`, its public
// one goes there.
inline std::filesystem::path key_file(const std::filesystem::path& file, const char* curve = "P-256",
                                      std::string passphrase = "",
                                      const std::filesystem::path& public_half = {}) {
  EVP_PKEY* key = EVP_EC_gen(curve);
  std::FILE* out = std::fopen(file.c_str(), "w");
  PEM_write_PKCS8PrivateKey(out, key, passphrase.empty() ? nullptr : EVP_aes_256_cbc(),
                            passphrase.empty() ? nullptr : passphrase.data(),
                            static_cast<int>(passphrase.size()), nullptr, nullptr);
  std::fclose(out);
  if (!public_half.empty()) {
    out = std::fopen(public_half.c_str(), "w");
    PEM_write_PUBKEY(out, key);
    std::fclose(out);
  }
  EVP_PKEY_free(key);
  return file;
}

}  // namespace kiln::testing
