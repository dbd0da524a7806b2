#!/usr/bin/env bash
# The site file's launcher is srun, on a real Slurm of two nodes: the bits are those of a local build, and whatever happens to a job has its
# verdict, is green in the next run, is never run twice at once, and leaves nothing.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
digests() { # digests STATE: one line an image: its tag and manifest
  "$KILN_PYTHON" -c 'import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/built/*.json")):
    record = json.load(open(path))
    print(record["tag"], record["manifest"])' "$1"
}
hosts() { # hosts STATE: where its tests ran
  "$KILN_PYTHON" -c 'import glob, json, sys; print(*sorted({json.load(open(path))["host"] for path in glob.glob(sys.argv[1] + "/tests/*.json")}))' "$1"
}
has_no_jobs() { [ -z "$(squeue --noheader)" ]; }
nothing_left() { # nothing_left STATE
  slurm_wait 20 'a job stays' has_no_jobs
  ! pgrep -af "step --state $1" || fail 'a step is still at work'
  equals "$(ls -A "$1/running")" ''
  equals "$(ls -A "$1/tmp")" '.lock'
}

# 1. The bits of a local build; both nodes work; a test runs where it is told to.
expect 0 "$KILN" build -f "$matrix" --state here
slurm_start site
echo '{"launcher": ["srun", "-n1", "--partition={partition}"], "partition": "build"}' >site.json
expect 0 "$KILN" build -f "$matrix" --state there
nothing_left there
digests here >here.digests
digests there >there.digests
equals "$(wc -l <there.digests)" 7
diff here.digests there.digests || fail 'the nodes make other bits'
equals "$(hosts there)" 'site1 site2'
expect 0 "$KILN" test -f "$matrix" --state there --again --partition zen4 version=2.1
expect 0 "$KILN" test -f "$matrix" --state there --format json version=2.1
equals "$(json '{row["machine"].split()[0] for row in it}')" "{'site2'}"
expect 0 "$KILN" doctor --node --partition zen4
holds "$out" 'starts each step'
holds "$(grep '^locks ' <<<"$out")" 'of all machines'
holds "$(scontrol show job --oneliner | grep 'JobName=kiln' | tail -n 1)" 'NodeList=site2'

# 2. What happens to a job: each time the step waits at the gate.
gated tiny/recipes/framework/hello/distro.sh
cell=(version=2.1 library=none)
verdict() { json 'it["images"][0]["verdict"], it["images"][0].get("reason", "")'; }
sruns() { pgrep --full "^srun .* --state $work/"; } # those of our build, oldest first
green() { # green STATE: the next run, while the gate is open
  open_gate
  expect 0 timeout 60 "$KILN" build -f "$matrix" --state "$1" "${cell[@]}"
  nothing_left "$1"
}

start cancelled
scancel --name kiln
ended 1
holds "$(verdict)" "failed hello 2.1 (distro): its process ended without a record: srun: error: site"
holds "$(verdict)" '(infrastructure)'
nothing_left cancelled
green cancelled
digests cancelled >first.digests

# srun has a second process, which ends the job of one that is killed.
start srun
kill -KILL "$(sruns | head -n 1)"
ended 1
holds "$(verdict)" '(infrastructure)'
green srun
# Without both the job goes on: the next run waits for it and does not run it again. The job's allocation is nobody's then.
start alone
sruns | tac | xargs kill -KILL
ended 1
holds "$(verdict)" '(infrastructure)'
before=$(starts)
"$KILN" build -f "$matrix" --state alone "${cell[@]}" --progress plain >again.out 2>again.err &
build=$!
slurm_wait 20 'the next run does not wait' grep ' runs it' again.err
open_gate
wait "$build" || fail "the next run: $(cat again.out again.err)"
equals "$(starts)" "$before"
scancel --name kiln
nothing_left alone
digests alone | diff first.digests - || fail 'other bits'

# A node that goes down takes its steps along; the other goes on.
start lost
node=$(squeue --noheader --format %N)
slurm_lose_node "$node"
ended 1
holds "$(verdict)" "failed hello 2.1 (distro): killed: process "
holds "$(verdict)" " on $node since "
holds "$(verdict)" 'is gone (infrastructure)'
green lost
digests lost | diff first.digests - || fail 'other bits'
slurm_start_node "$node"

# kiln is told to end: it takes its job along. It is killed: srun and the job live on, and the next run waits for them.
start told
kill -INT "$build"
ended 130
slurm_wait 20 'its job stays' has_no_jobs
green told
start killed
kill -KILL "$build"
ended 137
before=$(starts)
green killed
equals "$(starts)" "$before"
digests killed | diff first.digests - || fail 'other bits'

# The controller is away for a while: what runs ends well, what follows waits.
start away
slurm_stop_controller TERM
open_gate
sleep 1
slurm_start_controller
ended 0
scancel --name kiln # an allocation that its srun could not give back stays
nothing_left away
digests away | diff first.digests - || fail 'other bits'
echo 'slurm launcher: ok'
