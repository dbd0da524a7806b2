// Signs SIF files as Apptainer does, with GnuPG, and verifies such signatures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/sif/sif_reader.h"

namespace kiln::sif {

// How GnuPG is run. `environment` is its whole environment (HOME, GNUPGHOME, GPG_TTY); `scratch` is a private
// folder.
struct Gpg {
  CommandRunner& runner;
  std::map<std::string, std::string> environment;
  fs::path scratch;
  std::string keyring;  // a file of public keys (gpg --export); "" = the user's own key ring
};

struct SignatureReport {
  std::uint32_t object = 0;  // of the signature
  std::string fingerprint;   // of the primary key, 40 upper-case hex digits
  std::string user;          // as the key names it
  std::int64_t time = 0;     // when it was signed
  std::size_t objects = 0;   // that it covers
};

// Adds a signature of `key` (whatever gpg --local-user takes; "" = gpg's default) over the objects of group 1
// and writes the file anew, completely or not. Throws Error(input) when the file is not in canonical form or
// was changed since an earlier signature, Error(tool_missing) without gpg, Error(usage) when gpg cannot sign.
SignatureReport sign_sif(const fs::path& input, const fs::path& output, const std::string& key,
                         const Gpg& gpg);

// Every signature, each checked: the message, the key, what it covers, and all bytes that it leaves out
// (check_canonical). Throws Error(input) naming what is wrong; also when there is no signature.
std::vector<SignatureReport> verify_sif(const ReadOnlyFile& file, const Gpg& gpg);

}  // namespace kiln::sif
