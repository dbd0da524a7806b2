#!/usr/bin/env bash
# Scripts of kiln job on a real Slurm of two nodes, with an image of TensorFlow in a real Apptainer: Keras trains alone, and as two workers of
# TF_CONFIG whose weights agree; a job that is killed half way ends with the loss and weights of one that was not.
# KILN_TEST_STATE: a state folder for the image, which a later run finds there.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"
[ "$(uname -m)" = x86_64 ] || { echo 'SKIPPED: the image is for x86-64' && exit 77; }
apptainer_here "$work/real" || { echo 'SKIPPED: no Apptainer here' && exit 77; }

state=${KILN_TEST_STATE:-$work/state}
cell=(-f "$KILN_SOURCE/matrix/today-debian.json" --state "$state" framework=tensorflow version=2.21.0 compiler=none runtime=none)
expect 0 "$KILN" build "${cell[@]}"
expect 0 "$KILN" publish "${cell[@]}"

# The server of a worker takes its port on all addresses of the node, and the nodes of this cluster share a network. The containers of a node
# get a network that has the node's address alone.
mkdir bin net
printf '127.0.0.1 localhost\n10.20.30.1 site1\n10.20.30.2 site2\n' >hosts
for node in site1 site2; do
  : >"net/$node"
  unshare --net="$work/net/$node" ip link set lo up
done
nsenter --net="$work/net/site1" ip link add name to2 type veth peer name to1 netns "$work/net/site2"
nsenter --net="$work/net/site1" ip address add 10.20.30.1/24 dev to2
nsenter --net="$work/net/site2" ip address add 10.20.30.2/24 dev to1
nsenter --net="$work/net/site1" ip link set to2 up
nsenter --net="$work/net/site2" ip link set to1 up
# shellcheck disable=SC2016 # a variable of the job
printf '#!/bin/sh\nexec nsenter --net="%s/net/$SLURMD_NODENAME" "%s/real/apptainer" "$@"\n' "$work" "$work" >bin/apptainer
chmod +x bin/apptainer
export PATH=$work/bin:$PATH

cp "$KILN_SOURCE/tests/engines/"{digits_keras,train_digits_tensorflow}.py .
slurm_credential=5 slurm_start site
# shellcheck source=tests/support/jobs.sh
. "$KILN_SOURCE/tests/support/jobs.sh"
job_seconds=600

# 1. Alone.
job tensorflow '' '"node_count": 1' '"executable": "python3 train_digits_tensorflow.py alone"'
submit
ends COMPLETED
read -r loss _ <alone.0

# 2. Two workers on two nodes: their weights are equal, and their loss is that of one worker with all pictures. A proxy of the site, which gRPC
# would use, is not asked for the way to the nodes: no machine has this address.
job tensorflow ', "distributed_training": true' '"node_count": 2, "copy_environment_variable": "http_proxy=http://10.20.30.9:3128"' \
  '"executable": "python3 train_digits_tensorflow.py both"'
submit
ends COMPLETED
equals "$(cat both.0)" "$(cat both.1)"
read -r together _ <both.0
close_losses "$loss" "$together"

# 3. Killed half way: the job goes on from its checkpoint, and ends with the same loss and weights.
job tensorflow '' '"node_count": 1, "wall_time_limit": "30m"' \
  '"executable": "python3 train_digits_tensorflow.py resumed 20 0.5", "checkpoint": {"path": "'"$work"'/kept", "interval": "1s"}'
submit
slurm_wait 300 'no checkpoint' grep -q 'step 7' log.txt
scontrol requeue "$id"
slurm_wait 300 'the job stays' grep -q 'goes on at step' log.txt
ends COMPLETED
equals "$(cat resumed.0)" "$(cat alone.0)"
head -n 1 alone.0 both.0 both.1 resumed.0
echo 'kiln job: TensorFlow alone, as two workers of two nodes, and from a checkpoint'
