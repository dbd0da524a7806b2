#!/usr/bin/env bash
# Scripts of kiln job on a real Slurm of two nodes, with the demo's image in a real Apptainer: PyTorch trains alone and as two ranks of torchrun,
# whose losses and weights agree; a job that is killed half way ends with the loss of one that was not; the graph compiler that a document asks for
# generated what ran.
# shellcheck disable=SC2016 # variables are for the scripts of jobs
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"

state=$KILN_SOURCE/.kiln
"$KILN" select pytorch --state "$state" --host any >/dev/null 2>&1 || { echo 'SKIPPED: no image of ci/demo here' && exit 77; }
apptainer_here "$work/bin" || { echo 'SKIPPED: no Apptainer here' && exit 77; }
export PATH=$work/bin:$PATH
cp "$KILN_SOURCE/tests/engines/train_digits.py" .
slurm_credential=5 slurm_start site
# Both nodes are on this machine's network: each has an address of its own on it.
printf '127.0.0.1 localhost\n127.0.0.1 site1\n127.0.0.2 site2\n' >hosts
# shellcheck source=tests/support/jobs.sh
. "$KILN_SOURCE/tests/support/jobs.sh"

# 1. Alone.
job pytorch '' '"node_count": 1' '"executable": "python3 train_digits.py alone"'
submit
ends COMPLETED
read -r loss _ <alone.0

# 2. Two ranks on two nodes: their weights are equal, and their loss is that of one rank with all pictures.
job pytorch ', "distributed_training": true' '"node_count": 2' '"executable": "python3 train_digits.py both"'
submit
ends COMPLETED
equals "$(cat both.0)" "$(cat both.1)"
read -r together _ <both.0
close_losses "$loss" "$together"

# 3. Killed half way: the job goes on from its checkpoint, and ends with the same loss and weights.
job pytorch '' '"node_count": 1, "wall_time_limit": "30m"' \
  '"executable": "python3 train_digits.py resumed 20 0.3", "checkpoint": {"path": "'"$work"'/state.pt", "interval": "1s"}'
submit
slurm_wait 60 'no checkpoint' grep -q 'step 7' log.txt
scontrol requeue "$id"
slurm_wait 60 'the job stays' grep -q 'goes on at step' log.txt
ends COMPLETED
equals "$(cat resumed.0)" "$(cat alone.0)"

# 4. The document asks for Inductor: the image has it, and code that it generated runs.
cat >compiled.py <<'P'
import torch
from torch._inductor import metrics
double = torch.compile(lambda x: torch.relu(x) * 2 + 1)
assert double(torch.ones(8)).tolist() == [3.0] * 8
print("kernels of Inductor:", metrics.generated_kernel_count)
P
job pytorch '' '"node_count": 1' '"executable": "python3 compiled.py"' '"inductor": true'
holds "$(cat job.sh)" -inductor-
submit
ends COMPLETED
holds "$(cat log.txt)" 'kernels of Inductor: 1'
