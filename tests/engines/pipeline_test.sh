#!/usr/bin/env bash
# The jobs of `kiln plan --format gitlab`, run as GitLab would: each in a checkout of its own, only artifacts handed on.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
mkdir bin && ln -s "$KILN" bin/kiln
export PATH=$work/bin:$PATH
chosen=(version=2.10 'compiler=*' library=none)

expect 0 kiln plan -f "$tiny/tiny.json" --format gitlab "${chosen[@]}"
printf '%s' "$out" >cells.yml
mkdir artifacts
run_job() { # run_job NAME FOLDER: its script there, then its artifacts into artifacts/
  mkdir -p "$2"
  "$KILN_PYTHON" - "$1" <<'PYTHON' >job.sh
import json, sys
pipeline = json.load(open("cells.yml"))
job = pipeline[sys.argv[1]]
base = pipeline.get(job.get("extends"), {})
print("\n".join(job["script"]))
print("paths='" + " ".join({**base, **job}["artifacts"]["paths"]) + "'")
print("for path in $paths; do [ ! -e $path ] || tar -c $path | tar -x -C ../artifacts; done")
PYTHON
  (cd "$2" && sh -e ../job.sh) >"$2.log" 2>&1 || fail "$1: $(cat "$2.log")"
}
count=0
while read -r name; do
  count=$((count + 1))
  run_job "$name" "job$count"
done < <("$KILN_PYTHON" -c 'import json; print("\n".join(name for name in json.load(open("cells.yml")) if name.startswith("cell ")))')
equals "$count" 3

# The last job starts from all artifacts.
cp -a artifacts publish
run_job publish publish
cd publish
expect 0 kiln index list --format json
equals "$(json 'len(it)')" 3
# What is built is not planned again, unless --all.
expect 0 kiln plan -f "$tiny/tiny.json" --format github "${chosen[@]}"
equals "$out" '{"include":[]}'
expect 0 kiln plan -f "$tiny/tiny.json" --format gitlab "${chosen[@]}"
equals "$(json 'list(it)')" "['nothing to build']"
expect 0 kiln plan -f "$tiny/tiny.json" --format github --all "${chosen[@]}"
equals "$(json 'len(it["include"])')" 3
expect 0 kiln plan -f "$tiny/tiny.json" --format github
equals "$(json 'len(it["include"])')" 4

# Where steps were measured, the plan says what sharing saves; where some were not, how many.
cd ../job1
expect 0 kiln build -f "$tiny/tiny.json" "${chosen[@]}"
expect 0 kiln plan -f "$tiny/tiny.json" --format json "${chosen[@]}"
equals "$(json 'it["sharing"]["runs_timed"] == it["sharing"]["runs_saved"] > 0 and it["sharing"]["seconds_saved"] > 0')" True
equals "$(json 'it["sharing"]["bytes_saved"] > 0')" True
expect 0 kiln plan -f "$tiny/tiny.json" "${chosen[@]}"
holds "$out" '3 images: 3 built, 0 to build'
lacks "$out" 'not measured'
expect 0 kiln plan -f "$tiny/tiny.json" --graph dot "${chosen[@]}"
lacks "$(grep -v label=.tiny <<<"$out")" to_run
expect 0 kiln build -n -f "$tiny/tiny.json" "${chosen[@]}"
equals "$out" 'nothing to do'
# New labels: nothing to build, and the summary says so.
cp -r "$tiny" relabelled
edit 's/"licenses": *"[^"]*"/"licenses": "0BSD"/' relabelled/recipes/*/*/recipe.json
expect 0 kiln plan -f relabelled/tiny.json "${chosen[@]}"
holds "$out" '0 built, 0 to build, 3 to re-tag'
echo "pipeline: every job from its artifacts alone"
