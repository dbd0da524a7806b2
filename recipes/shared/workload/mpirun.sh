#!/bin/sh -eu
# mpirun.sh RANKS COMMAND…: as many processes of it on this machine, by the image's MPI, over shared memory.
ranks=$1
shift
if command -v mpirun.openmpi >/dev/null 2>&1; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # Shared memory was called vader up to version 4.
  case $(mpirun.openmpi --version | sed -n '1s/.* //p') in
    [1-4].*) shared=vader ;;
    *) shared=sm ;;
  esac
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl="self,$shared"
  exec mpirun.openmpi --oversubscribe --bind-to none -n "$ranks" "$@"
elif command -v mpirun.mpich >/dev/null 2>&1; then
  exec mpirun.mpich -n "$ranks" "$@"
fi
echo "mpirun.sh: this image has no mpirun" >&2
exit 1
