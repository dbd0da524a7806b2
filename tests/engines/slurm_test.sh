#!/usr/bin/env bash
# Steps as jobs of a real Slurm cluster of two nodes: the same bits as here, and every way in which a job, what waits for it, kiln or the
# controller can end.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
slurm_min_job_age=3600 # jobs are counted
slurm_start site
cp -r "$tiny" tiny
matrix=tiny/tiny.json
cat >"$matrix" <<'J'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.1", "2.10"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["v2"]}}
J
echo '{"cpu": "x86_64_v2", "description": "what every machine here is"}' >tiny/targets/v2.json
# Memory that the first job of a step has too little of, and the second has enough; time that no job of two minutes has.
cat >site.json <<'J'
{"launcher": {"slurm": {"arguments": ["--no-requeue"],
  "default": {"partition": "build", "cpus": 1, "memory": "300MiB", "time": "5m", "most": {"memory": "1GiB", "time": "5m"}},
  "partitions": {"x86_64_v2": {"partition": "zen4"}}, "poll": "1s", "patience": "40s"}}, "formats": ["oci"], "jobs": 4, "limits": {"retries": 2}}
J
export KILN_SITE=$work/site.json
one=version=2.1

diff_ids() { "$KILN_PYTHON" -c 'import glob, json, sys
for name in sorted(glob.glob(sys.argv[1] + "/steps/*.json")):
    record = json.load(open(name))
    print(record["key"], [layer["diff_id"] for layer in record["layers"]])' "$1"; }
job() { squeue --me --noheader --states=all --format="$1" --sort=-i | head -n 1; }
running() { [ "$(squeue --me --noheader --states=RUNNING --format=%i | wc -l)" -gt 0 ] && steps_run; }
steps_run() { [ -n "$(ls .kiln/running 2>/dev/null)" ]; }
runs_of() { grep -c "\"key\":\"$1\"" .kiln/history.jsonl; }
# slow SECONDS: from now on the step of hello is another one, and takes so long.
slow() {
  printf '%s\n' "echo begins; sleep $1; : $RANDOM$RANDOM" | cat "$tiny/recipes/framework/hello/distro.sh" - >tiny/recipes/framework/hello/distro.sh
}
begin() {
  "$KILN" --progress json build -f "$matrix" $one >"$work/.out" 2>"$work/.err" & # each word, not one in ten seconds
  build=$!
}
# ended STATUS: of what begin began.
ended() {
  local status=0
  wait "$build" || status=$?
  out=$(cat "$work/.out")
  err=$(cat "$work/.err")
  [ "$status" = "$1" ] || fail "exit status $status, expected $1: $out $err"
}
# As an administrator ends it: it saves what it knows first.
controller_away() {
  scontrol shutdown slurmctld
  wait "$(cat "$slurm/slurmctld.process")" || true
  slurm_stop_controller TERM
}
# Of the step that took part last.
last_key() { tail -n 1 .kiln/history.jsonl | sed 's/.*"key":"\([0-9a-f]*\)".*/\1/'; }

# 1. The same bits as on this machine, on both nodes; a test of an image goes to its machines, and the log says where it was.
expect 0 env KILN_SITE= "$KILN" build -f "$matrix" --state here
expect 0 "$KILN" build -f "$matrix"
holds "$out" '2 built'
[ "$(diff_ids here)" = "$(diff_ids .kiln)" ] || fail "$(diff here <(diff_ids .kiln))"
[ -n "$(diff_ids here)" ] || fail 'no layers'
equals "$(grep -ho '"host": *"[^"]*"' .kiln/tests/*.json | sort -u)" '"host": "site2"'
log=$(cat .kiln/logs/*.log)
for words in '# node site' ', partition build' ', partition zen4' '# Linux ' '# Architecture' '# CPU(s)'; do holds "$log" "$words"; done
grep -qsE '^# (open files|nofiles) ' .kiln/logs/*.log || fail 'no limits in the logs'
expect 0 "$KILN" build -f "$matrix"
holds "$out" 'nothing to do'
[ -z "$(find .kiln/jobs -name submission)" ] || fail "$(find .kiln/jobs)"
holds "$(squeue --me --noheader --states=all --format=%k)" 'kiln run='
expect 0 "$KILN" doctor
holds "$out" 'sbatch'
expect 0 "$KILN" doctor --node --partition zen4
holds "$out" 'runs the steps'
expect 0 "$KILN" test -f "$matrix" $one --again --partition gpu
equals "$(job %P)" gpu

# A step that takes longer than any job may, in a state folder of its own: what becomes of it is looked at below.
cp -r tiny tiny-late
echo 'sleep 600' >>tiny-late/recipes/framework/hello/distro.sh
sed 's/"5m"/"1m"/g' site.json >late.json
"$KILN" build -f tiny-late/tiny.json $one --site late.json --state late >late.out 2>&1 &
late=$!

# 2. Too little memory: twice as much, and it is remembered.
cp "$tiny/recipes/framework/hello/distro.sh" tiny/recipes/framework/hello/distro.sh
echo 'dd if=/dev/zero of=/dev/null bs=350M count=2' >>tiny/recipes/framework/hello/distro.sh
expect 0 "$KILN" build -f "$matrix" $one
holds "$err" 'more memory'
holds "$(cat .kiln/history.jsonl)" '"end":"out of memory"'

# 3. An administrator cancels a job: its step failed, and nobody tries it again.
slow 100
begin
slurm_wait 60 'no job runs' running
scancel "$(job %i)"
ended 1
holds "$out" 'CANCELLED'
holds "$out" '(infrastructure)'
holds "$out" 'job '

# 4. kiln is told to end: its job is gone when it is.
begin
slurm_wait 60 'no job runs' running
kill -INT "$build"
ended 130
equals "$(job %T)" CANCELLED

# 5. kiln is killed, and all that waits for the job with it: the job goes on, the next run takes it over, and its step was run once.
slow 6
begin
slurm_wait 60 'no job runs' running
kill -KILL "$build"
wait "$build" || true
id=$(job %i)
equals "$(job %T)" RUNNING
begin
ended 0
holds "$err" "job $id of an earlier run is taken over"
equals "$(runs_of "$(grep -l 'begins' .kiln/logs/*.log | xargs ls -t | head -n 1 | xargs basename | sed 's/.log//')")" 1

# 6. What waits for a job is killed alone: another waits in its place.
slow 7
begin
slurm_wait 60 'no job runs' running
id=$(job %i)
pkill -KILL --parent "$(pgrep -x ninja --parent "$build")"
ended 0
holds "$err" 'waited for again'
holds "$err" "job $id of an earlier run is taken over"

# 7. The controller is away while a job runs, and while one is to be submitted.
slow 6
begin
slurm_wait 60 'no job runs' running
controller_away
sleep 4
slurm_start_controller
ended 0
lacks "$err" 'try 2'
slow 0
controller_away
begin
sleep 3
slurm_start_controller
ended 0

status=0
wait "$late" || status=$?
equals "$status" 124
holds "$(cat late.out)" 'TIMEOUT'
holds "$(cat late/history.jsonl)" '"end":"out of time"'

# 8. A node is lost: another one does it.
slow 6
begin
slurm_wait 60 'no job runs' running
node=$(job %N)
slurm_lose_node "$node"
ended 0
holds "$err" "on $node: NODE_FAIL"
slurm_start_node "$node"

# 9. sbatch gives up although the controller has the job: it is not submitted a second time.
mkdir bin
cat >bin/sbatch <<SH
#!/bin/sh
answer=\$($(command -v sbatch) "\$@") || exit
[ ! -e "$work/gave-up" ] || exec echo "\$answer"
: >"$work/gave-up"
echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
exit 1
SH
chmod +x bin/sbatch
slow 3
before=$(squeue --me --noheader --states=all | wc -l)
expect 0 env "PATH=$work/bin:$PATH" "$KILN" build -f "$matrix" $one
[ -e gave-up ] || fail 'sbatch did not give up'
equals "$(($(squeue --me --noheader --states=all | wc -l) - before))" 3 # the step, its test, and the image

# 10. What the other cluster on this state folder has is not started here. What Slurm refuses is told in its words.
slow 0
expect 0 "$KILN" build -f "$matrix" $one
key=$(last_key)
rm .kiln/built/*.json
mkdir -p ".kiln/jobs/$key"
echo 'elsewhere 17' >".kiln/jobs/$key/submission"
expect 7 "$KILN" build -f "$matrix" $one
holds "$out" 'handed to the cluster elsewhere as job 17'
rm -r ".kiln/jobs/$key"
sed 's/"partition": "build"/"partition": "nowhere"/' site.json >wrong.json
expect 1 "$KILN" build -f "$matrix" $one --site wrong.json
holds "$out" 'Invalid partition name specified'
sed 's/x86_64_v2/x86_64_v22/' site.json >wrong.json
expect 3 "$KILN" build -f "$matrix" $one --site wrong.json
holds "$err" "archspec knows no microarchitecture 'x86_64_v22'"

# 11. No controller for longer than the site has patience.
sed 's/"40s"/"3s"/' site.json >short.json
controller_away
expect 6 "$KILN" build -f "$matrix" $one --site short.json
holds "$out" 'Unable to contact slurm controller'
slurm_start_controller
expect 0 "$KILN" build -f "$matrix" $one
echo 'slurm: two nodes, and every end of a job'
