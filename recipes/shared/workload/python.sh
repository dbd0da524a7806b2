#!/bin/sh -eu
# python.sh PROGRAM [ARGUMENT…]: runs a program of the workload by the Python that has the image's framework, which may be a Python 2.
# KILN_BENCH_RANKS above 1: that many processes of it, by PyTorch's launcher or by the image's MPI, which Horovod asks for.
case ${KILN_FRAMEWORK_NAME:-} in
  pytorch) module=torch ;;
  '') module=json ;; # any Python
  scikit-learn) module=sklearn ;;
  llama-cpp-python) module=llama_cpp ;;
  *) module=$KILN_FRAMEWORK_NAME ;;
esac
# CNTK's own image switches its environment on by a script for bash.
if [ "$module" = cntk ] && [ -f /cntk/activate-cntk ] && [ -z "${KILN_BENCH_ACTIVE:-}" ]; then
  # shellcheck disable=SC2016  # bash expands them
  exec env KILN_BENCH_ACTIVE=1 bash -c '. /cntk/activate-cntk && exec /bin/sh -eu ./python.sh "$@"' bash "$@"
fi
python=
for candidate in python3 python python2.7 python2; do
  if command -v "$candidate" >/dev/null 2>&1 && "$candidate" find_module.py "$module" 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || { echo "python.sh: no Python on the PATH has the module $module" >&2; exit 1; }
export PYTHONDONTWRITEBYTECODE=1 TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-2}"

# A launcher of the framework for one process, which `kiln tune` compares with.
[ -z "${KILN_BENCH_LAUNCHER:-}" ] || set -- -m "$KILN_BENCH_LAUNCHER" "$@"
ranks=${KILN_BENCH_RANKS:-1}
[ "$ranks" != 1 ] || exec "$python" "$@"
# All of them on this machine: no network is needed, nor looked for.
export GLOO_SOCKET_IFNAME=lo
# PyTorch's launcher would give each of them one thread.
threads=$(($(nproc) / ranks))
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$((threads > 0 ? threads : 1))}"
case $module in
  torch)
    if "$python" find_module.py torch.distributed.run 2>/dev/null; then
      exec "$python" launch_pytorch.py --nnodes 1 --node_rank 0 --nproc_per_node "$ranks" --master_addr 127.0.0.1 --master_port 29517 "$@"
    fi
    exec "$python" -m torch.distributed.launch --use_env --nproc_per_node "$ranks" --master_addr 127.0.0.1 --master_port 29517 "$@"
    ;;
  tensorflow | mxnet)
    "$python" find_module.py horovod 2>/dev/null || { echo "python.sh: this image has no Horovod: one rank only" >&2; exit 1; }
    exec /bin/sh -eu ./mpirun.sh "$ranks" "$python" "$@"
    ;;
esac
echo "python.sh: no launcher of ranks is known for ${KILN_FRAMEWORK_NAME:-an image without a framework}" >&2
exit 1
