// What is read whole is a file of a size that somebody named: kind and size are looked at before the first
// byte.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "factory/base/effects.h"
#include "factory/base/read_whole.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

struct ReadFile : ::testing::Test {
  testing::TemporaryFolder folder;
  RealFileSystem files;

  // The error of reading `path`, "" when it was read.
  std::string refusal(const fs::path& path) {
    try {
      files.read(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input) << error.format();
      return error.format();
    }
    return "";
  }
};

TEST_F(ReadFile, AFileOfManyGigabytesIsRefusedForItsSize) {
  const fs::path file = folder.path() / "large.json";
  int fd = ::open(file.c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(::ftruncate(fd, off_t{3} << 30), 0);
  ::close(fd);
  EXPECT_NE(refusal(file).find("large.json: error: 3221225472 bytes, the limit is "), std::string::npos);
}

TEST_F(ReadFile, ANamedPipeIsRefusedAndNotWaitedFor) {
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Whoever waits for a writer is let go after a second.
  std::thread writer([&] {
    ::sleep(1);
    ::close(::open(pipe.c_str(), O_RDWR | O_NONBLOCK));
  });
  EXPECT_EQ(refusal(pipe),
            "error: '" + pipe.string() + "' is a named pipe, not a file; hand a pipe over as /dev/stdin");
  writer.join();
}

TEST_F(ReadFile, WhatIsNoFileIsCalledWhatItIs) {
  EXPECT_EQ(refusal("/dev/zero"), "error: '/dev/zero' is a device, not a file");
  EXPECT_EQ(refusal(folder.path()), "error: '" + folder.path().string() + "' is a folder");
  const fs::path name = folder.path() / "socket";
  int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  name.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(name), "error: '" + name.string() + "' is a socket, not a file");
  ::close(fd);
}

TEST_F(ReadFile, TheLimitIsTheLastByteThatIsRead) {
  folder.write("file", "12345");
  EXPECT_EQ(files.read(folder / "file", 5), "12345");
  EXPECT_THROW(files.read(folder / "file", 4), Error);
}

// Files whose size the kernel does not say: it is counted while they are read.
TEST_F(ReadFile, FilesOfTheKernelAreRead) {
  EXPECT_NE(files.read("/proc/self/mountinfo").value().find(" / "), std::string::npos);
  EXPECT_THROW(files.read("/proc/self/mountinfo", 3), Error);
}

TEST_F(ReadFile, APipeThatWasHandedOverIsReadAndNoFurtherThanTheLimit) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    ::usleep(50'000);
    EXPECT_EQ(::write(ends[1], "something", 9), 9);
  });
  EXPECT_THROW(files.read("/dev/fd/" + std::to_string(ends[0]), 3), Error);  // its end is still open
  writer.join();
  ::close(ends[1]);
  EXPECT_EQ(files.read("/proc/self/fd/" + std::to_string(ends[0])), "thing");
  ::close(ends[0]);
}

TEST_F(ReadFile, TheEndOfALog) {
  folder.write("log", "first\nlast\n");
  EXPECT_EQ(read_end(folder / "log", 5), "last\n");
  EXPECT_EQ(read_end(folder / "log", 500), "first\nlast\n");
  EXPECT_EQ(read_end(folder / "absent", 5), "");
}

}  // namespace
}  // namespace kiln
