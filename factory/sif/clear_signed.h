// A clear-signed OpenPGP message (RFC 4880, section 7) in the one spelling that GnuPG and Apptainer write: a
// hash header, one line of text, an armoured signature (with its checksum, which Apptainer leaves out), and
// nothing else. What more lenient readers skip (further headers, white space, a second message) is where
// forgeries hide.
#pragma once

#include <string>
#include <string_view>

namespace kiln::sif {

struct ClearSigned {
  std::string hash;       // "SHA256", "SHA384" or "SHA512"
  std::string text;       // the signed line, without its end
  std::string signature;  // OpenPGP packets, binary
};

// Throws Error(input) saying which part is not as expected.
ClearSigned read_clear_signed(std::string_view message);

}  // namespace kiln::sif
