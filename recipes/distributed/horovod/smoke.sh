#!/bin/sh -eu
# Horovod is built with MPI, Gloo and the image's framework (and NCCL for GPUs), and two ranks of it average a tensor.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
case $KILN_DISTRIBUTED_NAME in
  *mpich*) set -- mpirun.mpich ;;
  *) set -- mpirun.openmpi --oversubscribe --bind-to none ;;
esac
"$@" -n 2 python3 smoke.py
