#!/bin/sh -eu
# Builds llama-cpp-python $KILN_VERSION for the target. ggml takes its kernels by what the compiler may use, and chooses none at run time.
eval "set -- $KILN_CMAKE_FLAGS"
# -O3 is the project's own level, and its kernels count on it.
# No workload calls LLaVA's library, which takes as long as all others.
exec /bin/sh -eu ./wheel.sh -DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF "$@" '-DCMAKE_C_FLAGS_RELEASE=-O3 -DNDEBUG' '-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG'
