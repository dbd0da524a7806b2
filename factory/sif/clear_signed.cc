#include "factory/sif/clear_signed.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cstdint>
#include <utility>

#include "factory/base/error.h"

namespace kiln::sif {
namespace {

constexpr std::size_t kMostMessage = 1u << 20;
constexpr std::size_t kArmourLine = 64;

[[noreturn]] void bad_message(const std::string& what) {
  throw Error(ExitCode::input, "not a clear-signed message as GnuPG writes it: " + what);
}

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::string_view next() {
    std::size_t end = text_.find('\n');
    if (end == std::string_view::npos) return std::exchange(text_, {});
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return line;
  }
  void expect(std::string_view line) {
    if (next() != line) bad_message(fmt::format("expected the line '{}'", line));
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// The checksum of ASCII armour, RFC 4880 section 6.1.
std::uint32_t crc24(std::string_view bytes) {
  std::uint32_t crc = 0xb704ce;
  for (char byte : bytes) {
    crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(byte)) << 16;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x800000) != 0 ? 0x864cfb : 0);
  }
  return crc & 0xffffff;
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// Only the one spelling of the bytes: right padding, unused bits zero.
std::string from_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) bad_message("the signature is not base64");
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  if (to_base64(bytes) != text) bad_message("the signature's base64 is not spelled as it should be");
  return bytes;
}

std::string read_armour(Lines& lines) {
  lines.expect("-----BEGIN PGP SIGNATURE-----");
  lines.expect("");
  std::string base64;
  std::string_view line;
  constexpr std::string_view kEnd = "-----END PGP SIGNATURE-----";
  bool last = false;
  while (!(line = lines.next()).starts_with('=') && line != kEnd) {
    if (line.empty() || line.size() > kArmourLine || last)
      bad_message("the signature's lines are not of 64 characters");
    last = line.size() < kArmourLine;
    base64 += line;
  }
  std::string bytes = from_base64(base64);
  if (line == kEnd) return bytes;  // Apptainer's library writes no checksum
  std::uint32_t crc = crc24(bytes);
  std::string sum = {static_cast<char>(crc >> 16), static_cast<char>(crc >> 8), static_cast<char>(crc)};
  if (line != "=" + to_base64(sum)) bad_message("the signature's checksum is wrong");
  lines.expect(kEnd);
  return bytes;
}

}  // namespace

ClearSigned read_clear_signed(std::string_view message) {
  if (message.size() > kMostMessage) bad_message("it is longer than 1 MiB");
  Lines lines(message);
  lines.expect("-----BEGIN PGP SIGNED MESSAGE-----");
  ClearSigned read;
  std::string_view header = lines.next();
  for (std::string_view hash : {"SHA256", "SHA384", "SHA512"})
    if (header == fmt::format("Hash: {}", hash)) read.hash = hash;
  if (read.hash.empty()) bad_message("expected a header 'Hash: SHA256', SHA384 or SHA512");
  lines.expect("");
  read.text = lines.next();
  // White space at a line's end and an escaping "- " are left out of what is signed.
  if (read.text.empty() || read.text.starts_with('-') ||
      read.text.find_first_of(" \t\r") != std::string::npos)
    bad_message("the signed text is not one line of JSON without white space");
  read.signature = read_armour(lines);
  if (!lines.at_end()) bad_message("something follows the signature");
  return read;
}

}  // namespace kiln::sif
