#!/usr/bin/env bash
# slurm_node.sh NODE BOOT_ID_FILE CGROUP…: a node of slurm.sh, until it is killed. What Slurm makes of control groups is below CGROUP.
set -euo pipefail
case $1 in
  --inside)
    shift
    hostname "$1"
    mount --bind "$2" /proc/sys/kernel/random/boot_id
    for group in "${@:3}"; do
      controller=$(basename "$(dirname "$group")")
      umount "/sys/fs/cgroup/$controller"
      mount -t cgroup -o "$controller" none "/sys/fs/cgroup/$controller"
    done
    # A shell is the first process, which buries those that others leave.
    slurmd -D -N "$1" &
    wait
    ;;
  *)
    namespaces=(--mount --uts --pid --fork --kill-child --mount-proc)
    for group in "${@:3}"; do
      echo $$ >"$group/cgroup.procs"
      namespaces+=(--cgroup)
    done
    exec unshare "${namespaces[@]}" bash "${BASH_SOURCE[0]}" --inside "$@"
    ;;
esac
