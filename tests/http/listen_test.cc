#include "registry/http/listen.h"

#include <fmt/format.h>

#include "factory/base/error.h"
#include "loopback.h"
#include "registry/http/message.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::LoopbackClient;
using testing::TemporaryFolder;

ExitCode code_of_listening(const std::string& address) {
  try {
    const ListeningSocket socket(address);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

TEST(Listen, SaysWhichPortItGot) {
  const ListeningSocket socket("127.0.0.1:0");
  EXPECT_TRUE(socket.address().starts_with("127.0.0.1:"));
  EXPECT_NE(socket.address(), "127.0.0.1:0");
  EXPECT_EQ(code_of_listening(socket.address()), ExitCode::network);  // it is taken
}

TEST(Listen, NamesAreNoAddresses) {
  for (const char* address :
       {"", "8642", "localhost:8642", ":8642", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536",
        "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:+80", "127.0.0.1: 80", "1.2.3:4:5", "unix:"})
    EXPECT_EQ(code_of_listening(address), ExitCode::usage) << address;
  EXPECT_EQ(code_of_listening("unix:" + std::string(200, 'a')), ExitCode::usage);
}

TEST(Listen, ReplacesTheSocketOfTheDeadAndNothingElse) {
  const TemporaryFolder folder;
  const std::string address = "unix:" + (folder / "s").string();
  {
    const ListeningSocket socket(address);
    EXPECT_EQ(socket.address(), address);
    EXPECT_EQ(code_of_listening(address), ExitCode::network);  // somebody listens
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "s"));
  folder.write("s", "a file");
  EXPECT_EQ(code_of_listening(address), ExitCode::network);
  EXPECT_EQ(folder.read("s"), "a file");
  std::filesystem::remove(folder / "s");
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);  // bound, closed, and not taken away
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (folder / "s").string().copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ::close(left);
  EXPECT_EQ(code_of_listening(address), ExitCode::ok);
}

TEST(Listen, TakesWhatSystemdHandsOver) {
  const std::map<std::string, std::string> others = {{"LISTEN_PID", "1"}, {"LISTEN_FDS", "1"}};
  EXPECT_THROW(ListeningSocket::of_systemd(others), Error);
  EXPECT_THROW(ListeningSocket::of_systemd({}), Error);
  EXPECT_THROW(ListeningSocket::of_systemd({{"LISTEN_PID", std::to_string(::getpid())}, {"LISTEN_FDS", "2"}}),
               Error);
}

TEST(ServiceManager, IsToldByADatagram) {
  const TemporaryFolder folder;
  const std::string path = (folder / "notify").string();
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_TRUE(tell_service_manager(path, "READY=1"));
  char got[64] = "";
  EXPECT_EQ(::recv(descriptor, got, sizeof got, 0), 7);
  EXPECT_STREQ(got, "READY=1");
  ::close(descriptor);
  EXPECT_FALSE(tell_service_manager(path, "READY=1"));  // nobody is there
  EXPECT_FALSE(tell_service_manager("", "READY=1"));
  EXPECT_FALSE(tell_service_manager(std::string(200, 'a'), "READY=1"));
  EXPECT_TRUE(monotonic_line().starts_with("MONOTONIC_USEC="));
}

TEST(HttpMessage, ErrorsAreJson) {
  const HttpResponse response = http_error(413, "a \"large\" body", "smaller");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body,
            "{\n  \"error\": {\n    \"code\": \"content_too_large\",\n    \"hint\": \"smaller\",\n"
            "    \"message\": \"a \\\"large\\\" body\"\n  }\n}\n");
  EXPECT_EQ(http_error_code(500), "internal_error");
}

}  // namespace
}  // namespace kiln
