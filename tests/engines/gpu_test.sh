#!/usr/bin/env bash
# A test of an image for GPUs reaches the machine's: the driver's libraries and the device nodes are in its container, by each engine, and
# in no build step's. No GPU is needed: a library of another kind and a node of /dev/null's number stand where NVIDIA's are, in mounts of
# the test's own. What CUDA does then is for a machine that has one.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: only root may make device nodes' && exit 77; }
[ ! -e /proc/driver/nvidia ] || { echo 'SKIPPED: there is a driver of NVIDIA here' && exit 77; }
if [ -z "${KILN_OWN_MOUNTS-}" ]; then
  KILN_OWN_MOUNTS=yes exec unshare --mount bash "$KILN_SOURCE/tests/engines/gpu_test.sh" "$@"
fi
# shellcheck source=tests/support/dockerd.sh
. "$KILN_SOURCE/tests/support/dockerd.sh"
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"
engines=(buildah podman docker)
if apptainer_here "$work/bin"; then
  PATH=$work/bin:$PATH
  engines+=(apptainer)
fi

# 1. The machine: /dev with two nodes more, the driver's file in /proc, a library that the loader's cache knows.
mkdir dev driver lib
mount -t tmpfs -o mode=755 tmpfs dev
for node in /dev/*; do
  name=${node##*/}
  if [ -d "$node" ] && [ ! -L "$node" ]; then
    mkdir "dev/$name" && mount --rbind "$node" "dev/$name"
  elif [ -L "$node" ]; then
    ln -s "$(readlink "$node")" "dev/$name"
  else
    touch "dev/$name" && mount --bind "$node" "dev/$name"
  fi
done
for name in nvidia0 nvidiactl; do mknod -m 666 "dev/$name" c 1 3 2>/dev/null || { echo 'SKIPPED: no device nodes may be made here' && exit 77; }; done
echo >dev/nvidia0 2>/dev/null || { echo 'SKIPPED: device nodes may not be opened here' && exit 77; }
mount --rbind dev /dev
mount -t tmpfs tmpfs /proc/driver
mkdir /proc/driver/nvidia
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024' >/proc/driver/nvidia/version
echo 'int cuInit(unsigned flags) { return (int)flags; }' | gcc -shared -fPIC -Wl,-soname,libcuda.so.1 -x c - -o lib/libcuda.so.1
echo "$work/lib" >ld.so.conf
ldconfig -f ld.so.conf -C "$work/ld.so.cache"
mount --bind ld.so.cache /etc/ld.so.cache

expect 0 "$KILN" doctor
printf '%s\n' "$out" | grep -qE '^GPUs +2 nodes, 1 library .* ok ' || fail "doctor does not see them: $out"

# 2. A target with a GPU, and a test that looks.
cp -r "$tiny" tiny
matrix=tiny/tiny.json
cat >"$matrix" <<'J'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["plain", "gpu"]}}
J
echo '{"cpu": "x86_64", "accelerators": ["nvidia:sm_80"], "description": "with a GPU"}' >tiny/targets/gpu.json
hello=tiny/recipes/framework/hello
edit 's/"parameters": \["KILN_VERSION", "KILN_FACT_GREETING"\],/"parameters": ["KILN_VERSION", "KILN_FACT_GREETING", "KILN_GPU_TARGETS"],/' "$hello/recipe.json"
cat >>"$hello/distro.sh" <<'S'
[ ! -e /run/kiln/driver ] || { echo 'a build step has the driver' && exit 1; }
S
cat >>"$hello/smoke.sh" <<'S'
if [ -z "$KILN_GPU_TARGETS" ]; then
  [ ! -e /run/kiln/driver ] && echo 'no GPU is wanted, and none is given'
  exit
fi
echo "job: ${CUDA_VISIBLE_DEVICES-all}"
[ "$LD_LIBRARY_PATH" = /run/kiln/driver ]
cmp "$LD_LIBRARY_PATH/libcuda.so.1" "$LD_LIBRARY_PATH/libcuda.so.1"
! echo more 2>/dev/null >>"$LD_LIBRARY_PATH/libcuda.so.1"
echo data >/dev/nvidia0
[ -c /dev/nvidiactl ]
echo 'the GPU is reached'
S

# 3. By each engine.
start_dockerd
for engine in "${engines[@]}"; do
  CUDA_VISIBLE_DEVICES=1 KILN_ENGINE=$engine expect 0 "$KILN" build -f "$matrix" --state "$engine"
  grep -qs '^the GPU is reached$' "$engine"/logs/*.log || fail "$engine's test does not reach the GPU"
  grep -qs '^job: 1$' "$engine"/logs/*.log || fail "$engine's test is not told which GPU is the job's"
  grep -qs '^no GPU is wanted, and none is given$' "$engine"/logs/*.log || fail "$engine's other test was not run"
done
echo "gpu: reached by ${engines[*]}"
