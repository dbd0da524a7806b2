#include "factory/oci/layout.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(ReadLayout, SaysWhatIsWrong) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  EXPECT_THROW(read_layout(folder / "nothing", files), Error);
  folder.write("l/index.json", R"({"manifests": []})");
  try {
    read_layout(folder / "l", files);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().pointer, "/manifests");
    EXPECT_EQ(error.message(), "expected one image");
  }
}

}  // namespace
}  // namespace kiln
