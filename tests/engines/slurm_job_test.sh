#!/usr/bin/env bash
# Scripts of kiln job on a real Slurm: what scontrol says of the job is what the document asks for, and its program runs. But for Charliecloud, the container
# runtime is a stand-in that runs the command on the node: what it hands over, not what is inside an image, is looked at here.
# shellcheck disable=SC2016 # variables are for scripts that are looked at
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"

mkdir bin images
cat >bin/singularity <<'S'
#!/bin/sh
# singularity exec [OPTIONS] IMAGE COMMAND…
while case $1 in *.sif) false ;; *) true ;; esac do shift; done
shift
exec "$@"
S
chmod +x bin/singularity
touch images/solver_1.sif
export PATH=$work/bin:$PATH SINGULARITY_DIR=$work/images
slurm_start site

echo '[{"opt_dsl_code": "s", "app_name": "mpich", "version": "4", "container_name": "site/solver:1", "enable_opt_build": false}]' >mappings.json
expect 0 "$KILN" index import mappings.json
cat >site.json <<'J'
{"name": "site", "scheduler": "slurm", "mpi": "pmi2", "partitions": {
  "build": {"default": true, "nnodes": 2, "node": {"ncpus": 1, "cpu": {"ncores": 4}, "memory": "4000MiB"}},
  "gpu": {"nnodes": 1, "node": {"ncpus": 1, "cpu": {"ncores": 4}, "naccel": 1, "accel": {"type": "gpu", "model": "x"}}}}}
J
check() { ! command -v shellcheck >/dev/null || shellcheck "$1" || fail "shellcheck: $1"; }
# job OPTIONS APPLICATION: job.sh of a document with these.
job() {
  printf '{"job": {"job_options": {%s}, "application": {"container_runtime": "", %s}, "optimisation": {"app_type": "hpc",
    "app_type-hpc": {"config": {"parallelisation": "mpi"}, "parallelisation-mpi": {"library": "mpich"}}}}}' "$1" "$2" >job.json
  expect 0 "$KILN" job --dsl job.json --infrastructure site.json --host any -o job.sh
  check job.sh
}
# field NAME: of the job that was submitted last, as scontrol has it.
field() { printf '%s\n' "$shown" | tr ' ' '\n' | sed -n "s#^$1=##p" | head -n 1; }
submit() { # submit [OPTION…]
  id=$(sbatch --parsable "$@" job.sh) || fail 'sbatch'
  shown=$(scontrol show job "$id")
}
is_over() { [ -z "$(squeue --noheader --states=PENDING,CONFIGURING,RUNNING,COMPLETING --job "$id" --format %T)" ]; }
ends() { # ends STATE
  slurm_wait 60 "job $id does not end" is_over
  equals "$(squeue --noheader --states=all --job "$id" --format %T | sort -u)" "$1"
}

# 1. Each option is what Slurm has of it. Held, so that it stays to be looked at.
job '"job_name": "so (l) v$e`r", "wall_time_limit": "0:50:00", "node_count": 2, "process_count_per_node": 2, "memory_limit": "500MB",
  "standard_output_file": "out put.txt", "request_event_notification": "be", "email_address": "user@example.org",
  "job_dependency": "singleton", "defer_job": "now+1hour", "node_exclusive": true' \
  '"app_type": "mpi", "executable": "true", "mpi_ranks": 4, "threads": 2'
submit --hold
holds "$shown" 'JobName=so (l) v$e`r'
holds "$shown" "StdOut=$work/out put.txt"
equals "$(field TimeLimit)" 00:50:00
equals "$(field Partition)" build
equals "$(field NumNodes)" 2-2
equals "$(field NumTasks)" 4
equals "$(field CPUs/Task)" 2
equals "$(field MinMemoryNode)" 500M
equals "$(field MailUser)" user@example.org
equals "$(field MailType)" BEGIN,END
equals "$(field OverSubscribe)" NO
holds "$(field Dependency)" singleton
[ "$(field EligibleTime)" != Unknown ] || fail "$shown"
scancel "$id"

# 2. GPUs, arrays.
job '"request_gpus": 1, "queue": "gpu", "wall_time_limit": "60", "job_array": "0-1", "standard_output_file": "array-%a.txt"' \
  '"app_type": "python", "executable": "sh", "arguments": ["-c", "echo $SLURM_ARRAY_TASK_ID of \"$1\"", "sh", "a  '\''b'\''"]'
submit
holds "$shown" 'gres:gpu:1'
ends COMPLETED
equals "$(cat array-0.txt array-1.txt)" "0 of a  'b'
1 of a  'b'"

# 3. Four ranks on two nodes, each of which knows its number; and none that does, before the work begins.
job '"standard_output_file": "mpi.txt"' '"app_type": "mpi", "executable": "sh", "mpi_ranks": 4, "pre-execution": "export SEEN=by-rank",
  "arguments": ["-c", "echo $PMI_RANK/$PMI_SIZE $OMP_NUM_THREADS $SEEN >rank-$PMI_RANK.txt"], "post-execution": "echo after $status"'
submit
ends COMPLETED
equals "$(cat rank-?.txt)" '0/4 1 by-rank
1/4 1 by-rank
2/4 1 by-rank
3/4 1 by-rank'
holds "$(cat mpi.txt)" 'kiln: rank 0 of 4'
holds "$(cat mpi.txt)" 'after 0'
edit 's/pmi2/none/' site.json
job '"standard_output_file": "none.txt"' '"app_type": "mpi", "executable": "touch", "arguments": "began", "mpi_ranks": 4'
submit
ends FAILED
holds "$(cat none.txt)" 'kiln: no rank of 4'
[ ! -e began ] || fail 'the work began'

# 4. A build is a job that makes what the other one runs.
echo 'int main() { return 0; }' >source.c
job '"job_name": "b"' '"app_type": "python", "executable": "./made", "build": {"src": "file://'"$work"'/source.c",
  "build_command": "cp source.c made; echo {{BUILD_PARALLELISM}} >cores", "build_parallelism": 2}'
rm -f made
mv source.c kept.c && edit "s#source.c#kept.c#" job.build.sh
check job.build.sh
id=$(sbatch --parsable job.build.sh)
ends COMPLETED
equals "$(cat cores)" 2
[ -e made ] || fail 'nothing was built'

# 5. TensorFlow's processes on two nodes: each reads where all are, and which of them it is.
touch images/tensorflow_2.sif
cat >job.json <<'J'
{"job": {"job_options": {"node_count": 2, "standard_output_file": "tensorflow.txt"}, "application": {"container_runtime": "docker://site/tensorflow:2",
  "app_type": "python", "executable": ["sh", "-c", "echo $(hostname) $TF_CONFIG >tf-$SLURM_PROCID.txt"]},
  "optimisation": {"app_type-ai_training": {"config": {"ai_framework": "tensorflow", "distributed_training": true}}}}}
J
expect 0 "$KILN" job --dsl job.json --infrastructure site.json --host any -o job.sh
check job.sh
submit
ends COMPLETED
port=$((20000 + id % 10000))
for index in 0 1; do
  read -r host config <"tf-$index.txt"
  equals "$host" "site$((index + 1))"
  out=$config
  equals "$(json 'it["task"]["type"], it["task"]["index"], *it["cluster"]["worker"]')" "worker $index site1:$port site2:$port"
done

# 6. In a real Charliecloud: the job's folder, its variables and words reach the program. Debian's ch-image needs Debian's Python.
export CH_IMAGE_STORAGE=$work/storage USER=${USER:-root}
mkdir -p rootfs/{bin,dev,etc,proc,run,sys,tmp,var} rootfs/mnt/0
touch rootfs/etc/{passwd,group,hosts,resolv.conf}
cp "$(command -v busybox)" rootfs/bin/busybox
for name in sh env; do ln -s busybox "rootfs/bin/$name"; done
expect 0 /usr/bin/python3 "$(command -v ch-image)" import rootfs site/busybox:1
cat >job.json <<'J'
{"job": {"job_options": {"standard_output_file": "charliecloud.txt", "copy_environment_variable": "SEED=1"},
  "application": {"container_runtime": "docker://site/busybox:1", "app_type": "python", "threads": 2,
    "executable": ["sh", "-c", "echo \"$1\" $SEED $OMP_NUM_THREADS $(pwd -P) >made.txt", "sh", "a  'b' $x"]}}}
J
expect 0 "$KILN" job --dsl job.json --infrastructure site.json --host any --runtime charliecloud -o job.sh
check job.sh
submit
ends COMPLETED
equals "$(cat made.txt)" "a  'b' \$x 1 2 /mnt/0"

# 7. From within a job, whose memory and array are not those of the job that it submits.
job '"minimum_memory_per_processor": "100MB", "standard_output_file": "inner.txt"' \
  '"app_type": "mpi", "executable": "sh", "arguments": ["-c", "echo ran ${SLURM_ARRAY_TASK_ID-no array}"], "mpi_ranks": 1'
id=$(sbatch --parsable --wait --array=7 --mem=300M --output=outer.txt --wrap "sbatch --parsable --wait job.sh") || fail "$(cat outer.txt inner.txt)"
holds "$(cat inner.txt)" 'ran no array'

# 8. A script for Torque, handed to the qsub of Slurm: sbatch reads its #PBS lines. That qsub names the files itself, unless it is told.
cat >job.json <<'J'
{"job": {"job_options": {"job_name": "torque", "queue": "build", "wall_time_limit": "0:50:00", "node_count": 2, "process_count_per_node": 2,
    "memory_limit": "500MB", "standard_output_file": "torque.txt", "request_event_notification": "abe", "email_address": "user@example.org",
    "copy_environment_variable": "SEEN=by the job"},
  "application": {"container_runtime": "docker://site/tensorflow:2", "app_type": "python",
    "executable": ["sh", "-c", "echo \"$1\" $SEEN $(hostname) >torque-made.txt", "sh", "a  'b' $x"]},
  "target": {"job_scheduler_type": "torque"}}}
J
expect 0 "$KILN" job --dsl job.json --host any -o job.sh
check job.sh
holds "$(cat job.sh)" '#PBS -l nodes=2:ppn=2'
lacks "$(cat job.sh)" '#SBATCH'
id=$(qsub -h -V -j oe -o torque.txt job.sh) || fail "qsub: $id"
shown=$(scontrol show job "$id")
equals "$(field JobName)" torque
equals "$(field TimeLimit)" 00:50:00
equals "$(field Partition)" build
equals "$(field NumNodes)" 2-2
equals "$(field MailUser)" user@example.org
holds "$(field MailType)" BEGIN,END,FAIL
holds "$shown" "StdOut=$work/torque.txt"
scontrol release "$id"
ends COMPLETED
equals "$(cat torque-made.txt)" "a  'b' \$x by the job site1"
echo 'kiln job: options, GPUs, arrays, ranks, a build, TF_CONFIG, Charliecloud, a job of a job, and a Torque script on a real Slurm'
