#include "factory/recipe/native_flag.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(NativeFlag, IsFoundInEverySpelling) {
  for (const char* bad : {"-march=native", "-O2 -mtune=native", "-mcpu=native", "--copt=-march=native",
                          "-xHost", "-Xcompiler=-march=native,-O3", "-arch=native", "--offload-arch=native",
                          "-tp=host", "-DCMAKE_C_FLAGS='-O2 -march=native'", "-march=Native"})
    EXPECT_NE(native_flag(bad), "") << bad;
  for (const char* good :
       {"", "native", "-march=natively", "/opt/native", "-DUSE_NATIVE=ON", "-O2 -march=zen3"})
    EXPECT_EQ(native_flag(good), "") << good;
  EXPECT_EQ(native_flag("-O2 -march=native -g"), "-march=native");
}

}  // namespace
}  // namespace kiln
