#!/usr/bin/env bash
# What a cluster does to jobs besides ending them: preempted, requeued, held, suspended, past their deadline, on a node that cannot start
# them. None of it is taken for a failure of the step's script, and none of it hangs.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
slurm_min_job_age=3600 # jobs are counted
slurm_credential=5
# Who comes with a higher tier takes the machine of `spot`. A job that is run again may do so after five seconds, not two minutes. A node whose
# prolog fails, as one does now and then, starts nothing.
slurm_more="PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
Prolog=$work/prolog
PartitionName=spot Nodes=site1 PriorityTier=1 MaxTime=60
PartitionName=urgent Nodes=site1,site2 PriorityTier=10 PreemptMode=OFF MaxTime=60"
printf '#!/bin/sh\n! rm %s/prolog-fails 2>/dev/null\n' "$work" >prolog
chmod +x prolog
slurm_start site
cp -r "$tiny" tiny
matrix=tiny/tiny.json
cat >"$matrix" <<'J'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["x86_64"]}}
J
# site_file ARGUMENT…: with these of sbatch, on the partition that others may take.
site_file() {
  local arguments=''
  for argument in "$@"; do arguments+="${arguments:+, }\"$argument\""; done
  cat >site.json <<J
{"launcher": {"slurm": {"arguments": [$arguments],
  "default": {"partition": "${partition:-spot}", "cpus": 1, "memory": "300MiB", "time": "3m"}, "poll": "1s", "patience": "40s"}},
 "formats": ["oci"], "jobs": 4, "limits": {"retries": 2, "silence": "15s"}}
J
}
export KILN_SITE=$work/site.json

job() { squeue --me --noheader --states=all --format="$1" --sort=-i | head -n 1; }
kiln_job() { squeue --me --noheader --states=all --format="%i|$1|%k" --sort=-i | awk -F'|' '$3 ~ /^kiln/ {print $2; exit}'; }
running() { [ "$(kiln_job %T)" = RUNNING ] && [ -n "$(ls .kiln/running 2>/dev/null)" ] && grep -qs begins .kiln/logs/*.log; }
is() { [ "$(kiln_job %T)" = "$1" ]; }
# slow SECONDS: from now on the step of hello is another one, and takes so long.
slow() {
  rm -rf .kiln/logs/*.log .kiln/failed
  printf '%s\n' "echo begins; sleep $1; : $RANDOM$RANDOM" | cat "$tiny/recipes/framework/hello/distro.sh" - >tiny/recipes/framework/hello/distro.sh
}
begin() {
  "$KILN" --progress json build -f "$matrix" >"$work/.out" 2>"$work/.err" & # each word, not one in ten seconds
  build=$!
  begun=$(date +%s)
}
ended() { # ended STATUS: of what begin began
  local status=0
  wait "$build" || status=$?
  out=$(cat "$work/.out")
  err=$(cat "$work/.err")
  [ "$status" = "$1" ] || fail "exit status $status, expected $1: $out $err"
  echo "  ${what:-}: $(($(date +%s) - begun)) s"
}
said() { grep -qs "$1" "$work/.err"; }
take_machine() { sbatch --quiet --partition=urgent --nodelist=site1 --exclusive --time=1 --output=/dev/null --wrap "sleep $1"; }
no_failure_of_the_script() {
  lacks "$out" 'exit status'
  [ -z "$(ls .kiln/failed 2>/dev/null)" ] || fail "$(cat .kiln/failed/*)"
}

# The base, so that each of what follows is one step, its test and the image.
site_file --no-requeue
slow 0
expect 0 "$KILN" build -f "$matrix"

what=preempted
slow 8
begin
slurm_wait 60 'no job runs' running
take_machine 2
ended 0
holds "$err" 'PREEMPTED'
holds "$err" 'try 2 of 3'
no_failure_of_the_script

what='preempted and run again by Slurm'
site_file --requeue
slow 8
begin
slurm_wait 60 'no job runs' running
id=$(kiln_job %i)
take_machine 2
ended 0
lacks "$err" 'try 2'
grep -qs "job $id, .*, start 1$" .kiln/logs/*.log || fail "job $id was not run again: $(grep -h '^# node' .kiln/logs/*.log)"
no_failure_of_the_script

what='requeued by an administrator'
slow 6
begin
slurm_wait 60 'no job runs' running
scontrol requeue "$(kiln_job %i)"
ended 0
lacks "$err" 'try 2'
no_failure_of_the_script

what='requeued and held'
slow 6
begin
slurm_wait 60 'no job runs' running
scontrol requeuehold "$(kiln_job %i)"
slurm_wait 30 'it is not held' said 'job requeued in held state'
scontrol release "$(kiln_job %i)"
ended 0
lacks "$err" 'try 2'
no_failure_of_the_script

what='suspended for longer than the silence that a step may keep'
slow 10
begin
slurm_wait 60 'no job runs' running
scontrol suspend "$(kiln_job %i)"
slurm_wait 30 'nobody says that it is suspended' said SUSPENDED
sleep 25
scontrol resume "$(kiln_job %i)"
ended 0
lacks "$err" 'try 2'
no_failure_of_the_script

what='past its deadline'
site_file --no-requeue --deadline=now+185seconds
take_machine 50
slow 0
begin
ended 1
holds "$out" 'DEADLINE'
holds "$out" '(infrastructure)'

# Slurm takes the node out and cancels the job, or keeps it for an administrator.
scancel --me --partition=urgent --state=RUNNING
for argument in --no-requeue --requeue; do
  what="on a node that does not start it, $argument"
  partition=urgent site_file "$argument"
  slurm_wait 60 'no node is free' slurm_node_is site1 idle
  slow 0
  : >prolog-fails
  begin
  ended 0
  [ ! -e prolog-fails ] || fail 'no prolog failed'
  holds "$err" ': the machine did not start it; try 2 of 3'
  case $argument in
    --requeue) holds "$err" 'PENDING (launch failed requeued held)' ;;
    *) holds "$err" ': CANCELLED: ' ;;
  esac
  no_failure_of_the_script
  for node in site1 site2; do scontrol update "nodename=$node" state=resume 2>/dev/null || true; done # it refuses the other
done
echo 'slurm_ends: what a cluster does to jobs'
