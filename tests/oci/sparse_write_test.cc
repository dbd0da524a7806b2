#include "factory/oci/sparse_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/merged.h"

namespace kiln {
namespace {

TEST(SparseWrite, GivesTheSameBytesAndNoRoomToZeros) {
  testing::TestFolder folder;
  const std::string zeros(1u << 20, '\0');
  const std::string path = folder.write("file", "").string();
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  std::string expected;
  for (const std::string& piece :
       {std::string("begin"), zeros, std::string("x"), std::string(5000, 'y') + zeros, std::string(),
        std::string(100, '\0') + "z", zeros, std::string(7, '\0')}) {
    EXPECT_EQ(write_sparse(file, piece), 0);
    expected += piece;
  }
  EXPECT_EQ(finish_sparse(file), 0);
  struct stat status {};
  ASSERT_EQ(::fstat(file, &status), 0);
  ::close(file);
  EXPECT_TRUE(testing::read_file(path) == expected);
  EXPECT_LT(status.st_blocks * 512, 1 << 20) << "of 3 MB of zeros";
}

TEST(SparseWrite, TellsWhatTheSystemRefuses) {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(write_sparse(file, "x"), EBADF);
  ::close(file);
}

}  // namespace
}  // namespace kiln
