// What real programs printed when they failed so.
#include <gtest/gtest.h>

#include "factory/run/failure.h"

namespace kiln {
namespace {

Error failure_of(const std::string& tail, int status = 1) {
  try {
    check_script({CommandEnd::exited, status, "", tail, 1}, {});
  } catch (const Error& error) {
    return error;
  }
  return Error(ExitCode::ok, "nothing was thrown");
}

std::string cause_of(const std::string& tail) {
  auto cause = cause_in(tail);
  return cause ? cause->what : "unknown";
}

constexpr const char* kPipHash =
    R"(Collecting nothinghere==1.0 (from -r req.txt (line 1))
  Downloading http://127.0.0.1:18766/simple/nothinghere/nothinghere-1.0-py3-none-any.whl (691 bytes)
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes. Otherwise, examine the package contents carefully; someone may have tampered with them.
    nothinghere==1.0 from http://127.0.0.1:18766/simple/nothinghere/nothinghere-1.0-py3-none-any.whl (from -r req.txt (line 1)):
        Expected sha256 1111111111111111111111111111111111111111111111111111111111111111
             Got        6855758ab3cf573fd7e5089fe7ec959b6e185827b71b3502f5e82368ee396faf

)";

TEST(Cause, AWrongHashIsNamedWithWhatHasIt) {
  EXPECT_EQ(
      cause_of(kPipHash),
      "a download has another hash than the recipe says: nothinghere==1.0 from "
      "http://127.0.0.1:18766/simple/nothinghere/nothinghere-1.0-py3-none-any.whl (from -r req.txt (line "
      "1)): expected 1111111111111111111111111111111111111111111111111111111111111111, got "
      "6855758ab3cf573fd7e5089fe7ec959b6e185827b71b3502f5e82368ee396faf");
  for (const char* last : {"sha256sum: WARNING: 1 computed checksum did NOT match\n",
                           "sha256sum: WARNING: 1 of 1 computed checksums did NOT match\n"})
    EXPECT_EQ(cause_of(std::string("blis.tar.gz: FAILED\n") + last),
              "a download has another hash than the recipe says: blis.tar.gz: FAILED");
  EXPECT_EQ(cause_of("  x Failed to download `six==1.16.0`\n  `-> Hash mismatch for `six==1.16.0`\n"),
            "a download has another hash than the recipe says: `-> Hash mismatch for `six==1.16.0`");
  Error error = failure_of(kPipHash);
  EXPECT_EQ(error.code(), ExitCode::images_failed);
  EXPECT_EQ(failure_class_of(error), FailureClass::build);
  EXPECT_NE(error.hint().find("the file was changed"), std::string::npos);
}

TEST(Cause, AWrongHashIsNamedWithBothHashes) {
  const std::string a(64, 'a');
  const std::string b(64, 'b');
  const std::string says = "a download has another hash than the recipe says: ";
  EXPECT_EQ(cause_of("  x Failed to download `six==1.16.0`\n  `-> Hash mismatch for `six==1.16.0`\n\n      "
                     "Expected:\n        sha256:" +
                     a + "\n\n      Computed:\n        sha256:" + b + "\n"),
            says + "`-> Hash mismatch for `six==1.16.0`: expected " + a + ", got " + b);
  EXPECT_EQ(cause_of("Error downloading [https://x/y.zip]: Checksum was " + a + " but wanted " + b + "\n"),
            says + "Error downloading [https://x/y.zip]: Checksum was " + a + " but wanted " + b +
                ": expected " + b + ", got " + a);
  EXPECT_EQ(cause_of("CMake Error: file DOWNLOAD HASH mismatch\n  for file: [/x]\n  expected hash: [" + a +
                     "]\n  actual hash: [" + b + "]\n"),
            says + "CMake Error: file DOWNLOAD HASH mismatch: expected " + a + ", got " + b);
}

TEST(Cause, ACutEndsInNoHashAndInNoCharacter) {
  const std::string hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  EXPECT_EQ(last_words("boom: " + std::string(120, 'x') + " " + hash + " more\n"),
            "boom: " + std::string(120, 'x') + " " + hash);
  EXPECT_EQ(last_words(std::string(159, 'x') + "\xc3\xa4\n"), std::string(159, 'x'));
  EXPECT_EQ(last_words(std::string(200, 'x') + "\n"), std::string(160, 'x'));
  EXPECT_EQ(last_words(std::string(120, 'x') + " " + std::string(400, 'a') + "\n"),
            std::string(120, 'x') + " ")
      << "a line of digits that is no hash";
}

// What make, ninja, engines and traps print behind the line that says it.
TEST(LastWords, AreTheLineThatSaysIt) {
  EXPECT_EQ(
      last_words("x.c:3:1: error: expected ';'\nmake[1]: *** [Makefile:2: x.o] Error 1\nmake[1]: Leaving "
                 "directory '/x'\nmake: *** [Makefile:1: all] Error 2\n"),
      "x.c:3:1: error: expected ';'");
  std::string noise = "E: Unable to locate package nosuch\n";
  for (int i = 0; i < 40; ++i) noise += "removing temporary " + std::to_string(i) + "\n";
  EXPECT_EQ(last_words(noise), "E: Unable to locate package nosuch; its last line: removing temporary 39");
  EXPECT_EQ(last_words("a\nModuleNotFoundError: No module named 'x'\n+ exit 1\nnote: see the log\n"),
            "ModuleNotFoundError: No module named 'x'");
  EXPECT_EQ(last_words("checking\nboom\n"), "boom");
  EXPECT_EQ(last_words("make: *** [Makefile:1: all] Error 2\n"), "make: *** [Makefile:1: all] Error 2")
      << "better than nothing";
  EXPECT_EQ(last_words("make: *** No rule to make target 'x'.  Stop.\n"),
            "make: *** No rule to make target 'x'.  Stop.");
  EXPECT_EQ(last_words("flag --on-error: x\nend\n"), "end");
  EXPECT_EQ(last_words(""), "");
}

TEST(Explanation, OfAClassSaysWhatToLookAt) {
  EXPECT_EQ(explanation_of(FailureClass::build),
            "(build): a script of the recipe failed, took too long or needed too much memory");
  EXPECT_EQ(explanation_of(FailureClass::policy), "(policy): a registry refused access");
}

TEST(Cause, AMovedArchiveIsNamedWithItsAddress) {
  const std::string says = "an archive is not where the recipe says: ";
  EXPECT_EQ(cause_of("https://host/a/nope.tar.gz:\n2026-11-22 16:17:07 ERROR 404: File not found.\n"),
            says + "https://host/a/nope.tar.gz");
  EXPECT_EQ(
      cause_of("--2026-11-22 16:17:07--  https://host/nope.tar.gz\nConnecting to host:443... connected.\n"
               "HTTP request sent, awaiting response... 404 File not found\n"
               "2026-11-22 16:17:07 ERROR 404: File not found.\n\n"),
      says + "https://host/nope.tar.gz");
  EXPECT_EQ(cause_of("curl: (22) The requested URL returned error: 404\n"),
            says + "curl: (22) The requested URL returned error: 404");
  EXPECT_EQ(
      cause_of("E: Failed to fetch http://deb.example/pool/g/gcc_12.deb  404  Not Found [IP: ::1 80]\n"
               "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?\n"),
      says + "http://deb.example/pool/g/gcc_12.deb");
  EXPECT_EQ(
      cause_of(
          "  ERROR: HTTP error 404 while getting http://host/x-1.0-py3-none-any.whl\n"
          "ERROR: Could not install requirement x==1.0 from http://host/x-1.0-py3-none-any.whl because of "
          "HTTP error 404 Client Error: File not found for url: http://host/x-1.0-py3-none-any.whl for URL "
          "http://host/x-1.0-py3-none-any.whl\n"),
      says + "http://host/x-1.0-py3-none-any.whl");
  EXPECT_EQ(cause_of("fatal: repository 'https://host/x.git/' not found\n"), says + "https://host/x.git/");
  EXPECT_EQ(failure_of("urllib.error.HTTPError: HTTP Error 404: File not found\n").code(),
            ExitCode::images_failed);
}

TEST(Cause, AnAddressIsSaidWithoutItsPassword) {
  EXPECT_EQ(cause_of("E: Failed to fetch https://me:secret@mirror/x.deb  404  Not Found\n"),
            "an archive is not where the recipe says: https://mirror/x.deb");
}

TEST(Cause, ANameThatNobodyKnowsIsInfrastructure) {
  for (const char* tail : {
           "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>",
           "wget: unable to resolve host address 'pypi.org'",
           "wget: bad address 'pypi.org'",
           "W: Failed to fetch http://host/InRelease  Could not resolve 'host'",
           "dial tcp: lookup proxy.golang.org: no such host",
           "curl: (7) Failed to connect to 127.0.0.1 port 18765 after 20 ms: Couldn't connect to server",
       }) {
    Error error = failure_of(tail);
    EXPECT_EQ(error.code(), ExitCode::network) << tail;
    EXPECT_EQ(failure_class_of(error), FailureClass::infrastructure);
    EXPECT_EQ(error.message(), "exit status 1: a package source could not be reached");
  }
}

TEST(Cause, TooLittleMemoryIsNamed) {
  EXPECT_EQ(
      failure_of("[ 12%] Building CXX object a.o\n", 137).message(),
      "exit status 137: a program was killed by signal 9 (out of memory?): [ 12%] Building CXX object a.o");
  EXPECT_NE(failure_of("", 137).hint().find("memory"), std::string::npos);
  EXPECT_EQ(failure_of("warning: HTTP error 404 at https://x/y\n", 137).message().substr(0, 33),
            "exit status 137: a program was ki")
      << "what killed it is nothing that it printed";
  EXPECT_EQ(failure_of("", 139).message(), "exit status 139: a program was killed by signal 11");
  EXPECT_EQ(failure_of("", 255).message(), "exit status 255");
  EXPECT_EQ(cause_of("c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
                     "make: *** [Makefile:3: all] Error 1\n"),
            "out of memory: c++: fatal error: Killed signal terminated program cc1plus");
  EXPECT_EQ(failure_of("make: *** [Makefile:3: a.o] Error 137\n", 2).message(),
            "exit status 2: out of memory: make: *** [Makefile:3: a.o] Error 137");
}

// A mark far above the end is of something that was tried and got over.
TEST(Cause, OnlyTheEndCounts) {
  std::string tail =
      "curl: (22) The requested URL returned error: 404\nsha256sum: WARNING: 1 computed checksum did NOT "
      "match\n";
  for (int i = 0; i < 25; ++i) tail += "checking for feature " + std::to_string(i) + "... yes\n";
  tail += "error: expected ';'\n";
  EXPECT_EQ(cause_of(tail), "unknown");
  EXPECT_EQ(failure_of(tail).message(), "exit status 1: error: expected ';'");
  EXPECT_EQ(cause_of(""), "unknown");
}

}  // namespace
}  // namespace kiln
