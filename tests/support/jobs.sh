# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# Scripts of kiln job on the cluster of slurm.sh: sourced after slurm.sh. $state has the images, `hosts` the addresses of the nodes.
#   job FRAMEWORK CONFIG OPTIONS APPLICATION [FEATURES]   job.sh of a document with these parts
#   submit                                                $id is the job, log.txt what it prints
#   ends STATE                                            waits until the job has ended, in that state
# What may be set before: job_seconds, the longest wait for a job (default 120), and job_type, the app_type of documents (default python).
cat >site.json <<'J'
{"name": "site", "scheduler": "slurm", "container_runtime": "apptainer", "partitions": {
  "build": {"default": true, "nnodes": 2, "node": {"ncpus": 1, "cpu": {"ncores": 4}, "memory": "4000MiB"}}}}
J
job() {
  printf '{"job": {"job_options": {"standard_output_file": "log.txt", %s}, "application": {"app_type": "%s", %s},
    "optimisation": {"enable_opt_build": true, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "%s" %s},
      "ai_framework-%s": {%s}}}}}' "$3" "${job_type:-python}" "$4" "$1" "$2" "$1" "${5:-}" >job.json
  expect 0 "$KILN" job --dsl job.json --infrastructure site.json --state "$state" --host any -o job.sh
}
is_over() { [ -z "$(squeue --noheader --states=PENDING,CONFIGURING,RUNNING,COMPLETING --job "$id" --format %T)" ]; }
submit() {
  rm -f log.txt
  # Slurm takes a capability from root's jobs, which Apptainer would hand on to root's containers.
  id=$(APPTAINER_NO_PRIVS=1 APPTAINER_BIND=$work/hosts:/etc/hosts sbatch --parsable job.sh) || fail 'sbatch'
}
ends() {
  slurm_wait "${job_seconds:-120}" "job $id does not end" is_over
  local ended
  ended=$(squeue --noheader --states=all --job "$id" --format %T | sort -u)
  [ "$ended" = "$1" ] || fail "$ended: $(cat log.txt)"
}
# close_losses ONE OTHER: equal but for the order in which ranks add.
close_losses() {
  "$KILN_PYTHON" -c 'import sys; one, two = map(float, sys.argv[1:]); sys.exit(abs(one - two) > 0.002)' "$1" "$2" || fail "loss $1 alone, $2 together"
}
