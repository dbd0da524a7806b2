#!/bin/sh -eu
# Builds llama-cpp-python $KILN_VERSION as `pip install llama-cpp-python` does: for the machine that builds. It must be the target.
features() {
  gcc "$@" -dM -E -x c /dev/null | grep -E '^#define __(AVX|BMI|F16C|FMA|SSE|ARM_FEATURE)' | sort
}
# shellcheck disable=SC2086 # words
features $CFLAGS >/tmp/kiln-llama.target
# kiln-lint: ignore KL003 only asks what this machine has
features -march=native >/tmp/kiln-llama.machine
if ! cmp -s /tmp/kiln-llama.target /tmp/kiln-llama.machine; then
  echo "native.sh: the project's own build is for the machine that builds, which is not $KILN_CPU_TARGET (< target, > machine):" >&2
  diff /tmp/kiln-llama.target /tmp/kiln-llama.machine >&2 || true
  exit 3
fi
rm /tmp/kiln-llama.target /tmp/kiln-llama.machine
unset CFLAGS
# No workload calls LLaVA's library, which takes as long as all others.
# kiln-lint: ignore KL003 the project's own build, on a machine that is the target
exec /bin/sh -eu ./wheel.sh -DGGML_NATIVE=ON -DLLAVA_BUILD=OFF
