#!/usr/bin/env bash
# Scripts of kiln job on a real Slurm of two nodes, with an image of TensorFlow, Horovod and Open MPI in a real Apptainer: Keras trains alone,
# and as two ranks that srun starts by PMIx; their weights agree. A launcher that does not fit the image's MPI ends the job before it trains.
# KILN_TEST_STATE: a state folder for the image, which a later run finds there.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"
[ "$(uname -m)" = x86_64 ] || { echo 'SKIPPED: the image is for x86-64' && exit 77; }
apptainer_here "$work/real" || { echo 'SKIPPED: no Apptainer here' && exit 77; }
export PATH=$work/real:$PATH

# PMIx makes a folder for each step in TmpFS, by the number of the job alone: the nodes of this cluster would share it in /tmp.
places=$(mktemp -d)
at_exit "rm -rf $places"
mkdir "$places"/site{1,2}
slurm_more="TmpFS=$places/%n" slurm_start site
srun --mpi=pmix true || { echo 'SKIPPED: no PMIx for Slurm here (libpmix-dev)' && exit 77; }

state=${KILN_TEST_STATE:-$work/state}
cell=(-f "$KILN_SOURCE/matrix/today-debian.json" --state "$state" framework=tensorflow version=2.12.1 distributed=openmpi@4.1.4+horovod)
expect 0 "$KILN" build "${cell[@]}"
expect 0 "$KILN" publish "${cell[@]}"

# Containers see the job's folder. They must not see SlurmdSpoolDir, where the files of Slurm's PMIx are: on a cluster it is below /var.
mkdir job
cd job
printf '127.0.0.1 localhost\n' >"$work/hosts"
cp "$KILN_SOURCE/tests/engines/"{digits_keras,train_digits_horovod}.py .
# shellcheck source=tests/support/jobs.sh
. "$KILN_SOURCE/tests/support/jobs.sh"
job_seconds=600 job_type=mpi
# The nodes are one machine, which may have no other network.
export OMPI_MCA_btl_tcp_if_include=lo
# train NAME RANKS STATE: a job of that many ranks, each on a node of its own, that ends in this state.
train() {
  job tensorflow ', "distributed_training": true' "\"node_count\": $2" \
    "\"executable\": \"python3 train_digits_horovod.py $1\", \"mpi_ranks\": $2" '"horovod": true'
  holds "$(cat job.sh)" "image='$state/"
  submit
  ends "$3"
}

# 1. One rank.
train alone 1 COMPLETED
read -r loss _ <alone.0

# 2. Two ranks on two nodes: their weights are equal, and their loss is that of one rank with all pictures.
train both 2 COMPLETED
holds "$(cat log.txt)" 'kiln: rank 0 of 2'
for rank in 0 1; do holds "$(cat log.txt)" "rank $rank of 2 on site$((rank + 1))"; done
lacks "$(cat log.txt)" 'PMIX ERROR'
equals "$(cat both.0)" "$(cat both.1)"
read -r together _ <both.0
close_losses "$loss" "$together"

# 3. Launchers that give no rank, or one that the image's Open MPI does not read. No process trains as rank 0 of 1.
for launcher in none pmi2; do
  edit "s/\"scheduler\"/\"mpi\": \"$launcher\", &/" site.json
  train refused 2 FAILED
  holds "$(cat log.txt)" 'kiln: no rank of 2'
  lacks "$(cat log.txt)" ' of 1 on '
  edit "s/\"mpi\": \"$launcher\", //" site.json
done
head -n 1 alone.0 both.0 both.1
echo 'kiln job: Horovod alone, as two ranks of two nodes, and with launchers that do not fit'
