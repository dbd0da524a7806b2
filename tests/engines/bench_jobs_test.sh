#!/usr/bin/env bash
# kiln bench and kiln nightly --measure on a real Slurm cluster of two nodes: a round is a job, whose images share a node; after a kill no
# round is measured twice; an interruption leaves no job; an image that fails costs its own runs; other nodes are refused.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
slurm_min_job_age=3600 # jobs are counted
slurm_start site
# shellcheck source=tests/support/stock_and_fast.sh
. "$KILN_SOURCE/tests/support/stock_and_fast.sh"
matrix=tiny/tiny.json
tell 40 20
expect 0 "$KILN" build -f "$matrix" --progress none
expect 0 "$KILN" publish -f "$matrix"
cat >site.json <<'J'
{"launcher": {"slurm": {"default": {"partition": "build", "time": "5m"}, "poll": "1s", "patience": "40s"}}, "formats": ["oci"], "jobs": 2,
 "nightly": {"update": {"proposals": 0}}}
J
export KILN_SITE=$work/site.json
bench() { "$KILN" bench -f "$matrix" --workload say "$@"; }
jobs_named() { squeue --me --noheader --states=all --format='%j' | grep -c '^kiln-' || true; }
runs() { find .kiln/bench/runs -name '*.json' 2>/dev/null | wc -l; }
rounds_left() { find .kiln/bench/rounds -type f 2>/dev/null | wc -l; }

# 1. A question what a node is, and a job for each round, several at a time, each with a whole node and both images.
expect 0 bench --rounds 7 --format json
equals "$(json '[(row["rounds"], round(row["median"]), row.get("against_first", {}).get("ratio")) for row in it]')" '[(7, 40, None), (7, 20, 2.0)]'
holds "$err" 'bench  a job asks a node for its description'
holds "$err" 'bench  round 7 of say: '
equals "$(jobs_named)" 8
equals "$(squeue --me --noheader --states=all --format='%j %N' | sed -n 's/^kiln-.* //p' | sort -u | tr '\n' ' ')" 'site1 site2 '
equals "$(squeue --me --noheader --states=all --format='%j %h' | grep '^kiln-' | awk '{print $2}' | sort -u)" NO # Slurm puts no other job on the node
equals "$(runs) $(rounds_left)" '14 0'
expect 0 "$KILN" bench compare stock=yes stock=no
expect 0 bench --rounds 7 # all is known
equals "$(jobs_named)" 9
expect 0 bench --rounds 3 --again --here
equals "$(jobs_named)" 9
equals "$(runs)" 20

# 2. A kill: the jobs go on, are taken over, and no round is measured twice.
rm -r .kiln/bench
cp tiny/recipes/workload/say/bench.sh kept
edit 's/^cat /sleep 2; cat /' tiny/recipes/workload/say/bench.sh
before=$(jobs_named)
"$KILN" bench -f "$matrix" --workload say --rounds 5 --again -j 2 >"$work/.killed" 2>&1 &
victim=$!
submitted() { [ "$(jobs_named)" -ge $((before + 3)) ]; }
slurm_wait 60 'no jobs' submitted
kill -KILL "$victim"
wait "$victim" 2>/dev/null || true
expect 0 bench --rounds 5 --again -j 2 --format json
equals "$(json '[(row["rounds"], round(row["median"])) for row in it]')" '[(5, 40), (5, 20)]'
equals "$(($(jobs_named) - before))" $((1 + 1 + 5))
equals "$(runs) $(rounds_left)" '10 0'

# 3. Interrupted, its jobs are gone.
"$KILN" bench -f "$matrix" --workload say --rounds 6 --again -j 2 >"$work/.interrupted" 2>&1 &
victim=$!
running() { squeue --me --noheader --states=RUNNING --format=%j | grep -q '^kiln-' && [ "$(rounds_left)" -gt 0 ]; }
slurm_wait 60 'no job runs' running
kill -INT "$victim"
status=0
wait "$victim" || status=$?
equals "$status" 130
gone() { [ -z "$(squeue --me --noheader --states=PENDING,RUNNING,COMPLETING --format=%i)" ]; }
slurm_wait 30 'a job is left' gone
cp kept tiny/recipes/workload/say/bench.sh
rm -r .kiln/bench

# 4. The workload fails in one image, which loses its runs; the other has all of its own.
echo 'no figures' >tiny/recipes/workload/say/fast
expect 1 bench --rounds 3 --format json
holds "$err" "is not a JSON object"
equals "$(json '[(row["rounds"], round(row["median"])) for row in it]')" '[(3, 40)]'
equals "$(runs)" 3
rm -r .kiln/bench

# 5. A night measures in jobs, whatever this machine does meanwhile.
tell 40 20
echo '{"name": "nightly", "workloads": [{"workload": "say"}]}' >suite.json
before=$(jobs_named)
expect 0 "$KILN" nightly -f "$matrix" --no-update --no-gc --report report --progress none --local --measure suite.json
equals "$("$KILN_PYTHON" -c 'import json; it = json.load(open("report/night.json")); print([gain["word"] for image in it["images"] for gain in image.get("gains", {}).values()], it.get("remarks", []))')" "['proven'] []"
equals "$(($(jobs_named) - before))" 8
equals "$(runs)" 14

# 6. What cannot be meant, and nodes that are not there.
expect 2 bench --restrict cores=1
holds "$err" "the site's measurements are jobs"
expect 2 bench --here --jobs 2
echo '{}' >plain.json
KILN_SITE=$work/plain.json expect 2 bench --jobs 2
holds "$err" 'on one machine the starts run one after the other'
expect 1 bench --again --partition missing
holds "$err" 'invalid partition'
scontrol update PartitionName=zen4 MaxTime=1
expect 1 bench --again --rounds 1 --partition zen4 # and not a job that Slurm keeps until somebody changes the limit
holds "$err" 'PENDING (PartitionTimeLimit): it asks for more time than a job may have there'
slurm_wait 30 'a job is left' gone
echo 'bench_jobs: ok'
