#include "factory/recipe/native_flag.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(NativeFlag, IsFoundInEverySpelling) {
  for (const char* bad : {"-march=native",
                          "-O2 -mtune=native",
                          "-mcpu=native",
                          "--copt=-march=native",
                          "-xHost",
                          "-Xcompiler=-march=native,-O3",
                          "-arch=native",
                          "--offload-arch=native",
                          "-tp=host",
                          "-DCMAKE_C_FLAGS='-O2 -march=native'",
                          "-march=Native",
                          "-tp=native",
                          "-QxHost",
                          "-xhost",
                          "-Ctarget-cpu=native",
                          "CUDAARCHS=native",
                          "-DCMAKE_CUDA_ARCHITECTURES=native",
                          "-DCMAKE_CUDA_ARCHITECTURES:STRING=native;86",
                          "-DCMAKE_HIP_ARCHITECTURES=native",
                          "-DAMDGPU_TARGETS=native",
                          "-DGPU_TARGETS=native",
                          "TORCH_CUDA_ARCH_LIST=native",
                          "--gpu-architecture=native",
                          "-arch native",
                          "--offload-arch native",
                          "-gpu=ccnative",
                          "-gpu=cc80,ccnative -gpu=native",
                          "-DGGML_NATIVE=ON",
                          "-DGGML_NATIVE:BOOL=1",
                          "LLAMA_NATIVE=true",
                          "-DKokkos_ARCH_NATIVE=ON",
                          "-DUSE_NATIVE_ARCH=1",
                          "args=['-march=native']"})
    EXPECT_NE(native_flag(bad), "") << bad;
  for (const char* good :
       {"", "native", "-march=natively", "/opt/native", "-DUSE_NATIVE=ON", "-O2 -march=zen3",
        "-DGGML_NATIVE=OFF", "-DCMAKE_CUDA_ARCHITECTURES=80", "--backend=native", "--search=native",
        "arch native", "-DNATIVE_TLS=ON", "ALTERNATIVE_ARCHIVE=1", "=native", "-DHOST=-xhostname"})
    EXPECT_EQ(native_flag(good), "") << good;
  EXPECT_EQ(native_flag("-O2 -march=native -g"), "-march=native");
  EXPECT_EQ(native_flag("--copt=-march=native"), "-march=native");
  EXPECT_EQ(native_flag("nvcc -arch native x.cu"), "-arch native");
}

TEST(NativeFlag, IsOfTheProcessorOrTheGpu) {
  for (const char* gpu : {"-arch=native", "--offload-arch=native", "CUDAARCHS=native", "-gpu=ccnative",
                          "-DCMAKE_HIP_ARCHITECTURES=native"})
    EXPECT_TRUE(is_for_gpu(gpu)) << gpu;
  for (const char* cpu : {"-march=native", "-xHost", "-DGGML_NATIVE=ON", "-tp=native"})
    EXPECT_FALSE(is_for_gpu(cpu)) << cpu;
}

}  // namespace
}  // namespace kiln
