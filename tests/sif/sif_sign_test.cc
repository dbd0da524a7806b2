// Signatures with a real gpg and a key of the test's own: good ones, every byte flipped, other keys, no keys.
#include "factory/sif/sif_sign.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "factory/sif/sif_build.h"
#include "factory/sif/sif_integrity.h"
#include "support/layout.h"

namespace kiln::sif {
namespace {

using testing::TestFolder;
using testing::TestLayout;

class SifSign : public ::testing::Test {
 protected:
  SifSign()
      : gpg{runner, {{"PATH", std::getenv("PATH")}, {"GNUPGHOME", home.path().string()}}, folder.path(), ""} {
    fs::permissions(home.path(), fs::perms::owner_all);
    make_key("Factory <factory@example.org>");
    TestLayout layout;
    layout.one_image({testing::short_tar({"f hello=hello"})});
    SourceImage image = SourceImage::open(parse_image_name("oci:" + layout.path()), "amd64");
    SifOptions options;
    options.now = 1'000'000'000;
    options.reproducible = true;
    build_sif(image, plain(), options);
  }
  ~SifSign() override { run({"gpgconf", "--kill", "all"}); }

  CommandResult run(std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    command.environment = gpg.environment;
    command.capture_stdout = true;
    return runner.run(command);
  }
  void make_key(const std::string& user) {
    CommandResult result = run({"gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase",
                                "", "--quick-generate-key", user, "ed25519", "sign", "never"});
    ASSERT_TRUE(result.ok()) << result.tail;
  }
  fs::path plain() const { return folder.path() / "plain.sif"; }
  fs::path signed_file() const { return folder.path() / "signed.sif"; }
  SignatureReport sign(const std::string& key = "factory") {
    return sign_sif(plain(), signed_file(), key, gpg);
  }

  // What verification says of a file; "" = good.
  std::string complaint(const fs::path& path) const {
    try {
      ReadOnlyFile file(path);
      verify_sif(file, gpg);
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  }

  // Flips each byte that `chosen` wants and expects a message_refusal. Two masks, so that letters change case
  // and digits parity.
  void flip(const std::function<bool(std::size_t at, char byte)>& chosen) {
    sign();
    const std::string bytes = testing::read_file(signed_file());
    int fd = ::open(signed_file().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    std::size_t tried = 0;
    for (std::size_t at = 0; at < bytes.size() && !HasFailure(); ++at) {
      if (!chosen(at, bytes[at])) continue;
      ++tried;
      char other = static_cast<char>(bytes[at] ^ (at % 2 == 0 ? 0x01 : 0x20));
      ASSERT_EQ(::pwrite(fd, &other, 1, static_cast<off_t>(at)), 1);
      EXPECT_NE(complaint(signed_file()), "")
          << "byte " << at << " of " << bytes.size() << " can change unseen";
      ASSERT_EQ(::pwrite(fd, &bytes[at], 1, static_cast<off_t>(at)), 1);
    }
    ::close(fd);
    EXPECT_GT(tried, 1000U);
    EXPECT_EQ(complaint(signed_file()), "");
  }

  TestFolder home;
  TestFolder folder;
  RealCommandRunner runner;
  Gpg gpg;
};

TEST_F(SifSign, ASignedFileVerifiesAndSaysWho) {
  SignatureReport made = sign();
  EXPECT_EQ(made.user, "Factory <factory@example.org>");
  EXPECT_EQ(made.fingerprint.size(), 40U);
  ReadOnlyFile file(signed_file());
  auto reports = verify_sif(file, gpg);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].fingerprint, made.fingerprint);
  EXPECT_EQ(reports[0].time, made.time);
  EXPECT_EQ(reports[0].objects, read_sif(file).objects.size() - 1);
  EXPECT_EQ(testing::read_file(signed_file())
                .substr(kSifDataOffset, file.size() - kSifDataOffset - read_sif(file).objects.back().size),
            testing::read_file(plain()).substr(kSifDataOffset))
      << "signing must not touch the objects";
}

TEST_F(SifSign, FlippedBytesAreRefused) {
  flip([](std::size_t at, char byte) { return byte != 0 || at % 97 == 0; });
}

// Run by itself, see tests/CMakeLists.txt: most bytes of a small SIF are zeros.
TEST_F(SifSign, DISABLED_EveryFlippedByteIsRefused) {
  flip([](std::size_t, char) { return true; });
}

TEST_F(SifSign, LongerAndShorterFilesAreRefused) {
  sign();
  const std::string bytes = testing::read_file(signed_file());
  EXPECT_NE(complaint(folder.write("longer", bytes + '\0')), "");
  EXPECT_NE(complaint(folder.write("shorter", bytes.substr(0, bytes.size() - 1))), "");
}

TEST_F(SifSign, AnUnsignedFileIsNotVerified) { EXPECT_EQ(complaint(plain()), "it is not signed"); }

TEST_F(SifSign, AKeyThatIsNotInTheKeyRingIsNamed) {
  SignatureReport made = sign();
  TestFolder other;
  fs::permissions(other.path(), fs::perms::owner_all);
  Gpg stranger{
      runner, {{"PATH", std::getenv("PATH")}, {"GNUPGHOME", other.path().string()}}, folder.path(), ""};
  ReadOnlyFile file(signed_file());
  try {
    verify_sif(file, stranger);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("is not in the key ring"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find(made.fingerprint.substr(24)), std::string::npos) << error.message();
    EXPECT_NE(error.hint().find("--keyring"), std::string::npos);
  }
  std::string exported = run({"gpg", "--batch", "--export", "factory"}).output;
  stranger.keyring = folder.write("factory.gpg", exported).string();
  EXPECT_EQ(verify_sif(file, stranger).size(), 1U);
}

TEST_F(SifSign, TwoKeysMaySign) {
  make_key("Site <site@example.org>");
  sign();
  sign_sif(signed_file(), signed_file(), "site", gpg);
  ReadOnlyFile file(signed_file());
  auto reports = verify_sif(file, gpg);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].user, "Site <site@example.org>");
  EXPECT_EQ(reports[0].objects, reports[1].objects) << "a signature does not cover signatures";
}

TEST_F(SifSign, AnUnknownKeyLeavesTheFileAlone) {
  const std::string before = testing::read_file(plain());
  try {
    sign_sif(plain(), plain(), "nobody", gpg);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(error.hint().find("--list-secret-keys"), std::string::npos);
  }
  EXPECT_EQ(testing::read_file(plain()), before);
}

// A signature moved from another file covers other digests.
TEST_F(SifSign, ASignatureOfAnotherFileIsRefused) {
  sign();
  ReadOnlyFile file(signed_file());
  SifFile sif = read_sif(file);
  sif.objects[0].name = "renamed";
  EXPECT_THROW(check_integrity(file, sif, 1, integrity_metadata(file, read_sif(file), 1)), Error);
  EXPECT_NO_THROW(check_integrity(file, read_sif(file), 1, integrity_metadata(file, read_sif(file), 1)));
}

// The checksum of armour (CRC-24) is from RFC 4880; the message below was made with GnuPG 2.2.
constexpr const char* kShape =
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{\"a\":1}\n-----BEGIN PGP "
    "SIGNATURE-----\n\nAAEC\n=%s\n"
    "-----END PGP SIGNATURE-----\n";

std::string message(const std::string& crc) {
  std::string text = kShape;
  return text.replace(text.find("%s"), 2, crc);
}

std::string message_refusal(const std::string& text) {
  try {
    read_clear_signed(text);
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

// The one checksum of all 64^4 that fits.
std::string right_crc() {
  std::uint32_t crc = 0xb704ce;
  for (std::uint32_t byte : {0U, 1U, 2U}) {
    crc ^= byte << 16;
    for (int i = 0; i < 8; ++i) {
      crc <<= 1;
      if ((crc & 0x1000000) != 0) crc ^= 0x1864cfb;
    }
  }
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (int shift = 18; shift >= 0; shift -= 6) text += digits[(crc >> shift) & 63];
  return text;
}

TEST(ClearSignedText, IsReadInOneSpellingOnly) {
  const std::string good = message(right_crc());
  ClearSigned read = read_clear_signed(good);
  EXPECT_EQ(read.hash, "SHA256");
  EXPECT_EQ(read.text, "{\"a\":1}");
  EXPECT_EQ(read.signature, std::string("\0\1\2", 3));
  auto changed = [&](std::string_view from, const std::string& to) {
    std::string text = good;
    return message_refusal(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_NE(changed("SHA256", "SHA1"), "");
  EXPECT_NE(changed("Hash: SHA256\n", "Hash: SHA256\nComment: hello\n"), "");
  EXPECT_NE(changed("{\"a\":1}", "{\"a\":1} "), "");
  EXPECT_NE(changed("{\"a\":1}", "- {\"a\":1}"), "");
  EXPECT_NE(changed("{\"a\":1}", "{\"a\":1}\n{\"b\":2}"), "");
  EXPECT_NE(changed("AAEC", "AAED"), "") << "the checksum";
  EXPECT_NE(changed("AAEC", "AAE="), "");
  EXPECT_NE(changed("AAEC", "AA\nEC"), "");
  EXPECT_NE(message_refusal(message("AAAA")), "");
  EXPECT_EQ(changed("=" + right_crc() + "\n", ""), "") << "as Apptainer writes it";
  EXPECT_NE(message_refusal(good + good), "");
  EXPECT_NE(message_refusal("\n" + good), "");
  EXPECT_NE(message_refusal(good.substr(0, good.size() / 2)), "");
}

}  // namespace
}  // namespace kiln::sif
