#!/bin/sh -eu
# Builds torch_glow against the image's own PyTorch, with Clang and LLVM 8 and the target's flags, into /opt/kiln/glow/site.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends cmake git libgflags-dev libgoogle-glog-dev \
  libpng-dev libprotobuf-dev make protobuf-compiler python3-dev zlib1g-dev
work=$(mktemp -d)
git init -q "$work/glow"
cd "$work/glow"
git fetch -q --depth 1 "$KILN_SOURCE_URL" "${KILN_SOURCE_CHECKSUM#git:}"
git checkout -q FETCH_HEAD
git submodule --quiet update --init --recursive

export CC=clang-8 CXX=clang++-8 CFLAGS CXXFLAGS
export CMAKE_ARGS="-DLLVM_DIR=/usr/lib/llvm-8/lib/cmake/llvm -DGLOW_WITH_CPU=ON -DGLOW_WITH_OPENCL=OFF -DGLOW_BUILD_EXAMPLES=OFF \
-DGLOW_BUILD_TESTS=OFF"
# The target's flags, and not those of the CPU that builds; the tests of the bridge need those of Glow, which are off.
sed -i 's/ -march=native//' cmake/modules/GlowDefaults.cmake
sed -i '/add_subdirectory(torch_glow\/tests\/unittests)/d' CMakeLists.txt
cd torch_glow
# Its list of what setup needs is a test runner, unpinned, which nothing here runs. Its default is a build without optimisation.
sed -i -e "/setup_requires.append/d" -e "s/str(multiprocessing.cpu_count())/'$KILN_JOBS'/" setup.py
/opt/kiln/pytorch/bin/python3 setup.py build --release --build-lib "$work/site"
mkdir -p /opt/kiln/glow
mv "$work/site" /opt/kiln/glow/site
