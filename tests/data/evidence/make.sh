#!/bin/sh -eu
# Makes the fixtures of this folder, with nvcc and clang-offload-bundler in PATH. The tests need neither.
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf '__global__ void add(float* a, const float* b) { a[threadIdx.x] += b[threadIdx.x]; }\n' >add.cu

# Machine code for 8.0 and 9.0a, compressed PTX for 9.0; then 10.0f with PTX for 10.0a and 10.3f.
nvcc -c add.cu -o old.o -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=compute_90
nvcc -c add.cu -o new.o -gencode arch=compute_100f,code=sm_100f -gencode arch=compute_100a,code=compute_100a -gencode arch=compute_103f,code=compute_103f
objcopy -O binary --only-section=.nv_fatbin old.o "$here/cuda_80_90a.fatbin"
objcopy -O binary --only-section=.nv_fatbin new.o "$here/cuda_100f.fatbin"

for name in host gfx906 gfx90a; do printf '%s' "$name" >"$name.o"; done
bundler=$(command -v clang-offload-bundler || command -v clang-offload-bundler-14)
"$bundler" -type=o -bundle-align=4096 \
  -targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx906,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- \
  -inputs=host.o,gfx906.o,gfx90a.o -outputs=bundle.hipfb 2>/dev/null || "$bundler" -type=bc \
  -targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx906,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- \
  -inputs=host.o,gfx906.o,gfx90a.o -outputs=bundle.hipfb
cp bundle.hipfb "$here/hip.bundle"

# A library whose loop needs AVX-512, for tests/package/findings_version_test.cc.
printf 'void f(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }\n' >wide.c
gcc -shared -O3 -march=skylake-avx512 -mprefer-vector-width=512 -nostdlib -s -Wl,-z,noseparate-code,--build-id=none \
  -Wl,-soname,libwide.so.1,-rpath,/opt/lib -o "$here/wide.so" wide.c
