#!/usr/bin/env bash
# A test that needs an instruction of another machine is untested here, neither failed nor passed; `kiln test` runs it where it can.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
case $(uname -m) in x86_64) ;; *) echo 'test places: x86_64 only' && exit 77 ;; esac
cp -r "$tiny" tiny
matrix=tiny/tiny.json
cat >"$matrix" <<'J'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["plain", "beyond"]}}
J
# A machine of nobody: it has all that this one has, and more.
"$KILN_PYTHON" - >tables.json <<'PY'
import archspec, json, pathlib, sys
[tables] = pathlib.Path(archspec.__file__).parent.rglob("cpu/microarchitectures.json")
book = json.loads(tables.read_text())
cpu = dict(book["microarchitectures"]["x86_64_v3"], features=book["microarchitectures"]["x86_64_v3"]["features"] + ["warp9"])
book["microarchitectures"]["beyond"] = dict(cpu, **{"from": ["x86_64_v3"]})
json.dump(book, sys.stdout)
PY
export KILN_ARCHSPEC=$work/tables.json
echo '{"cpu": "beyond", "description": "what no machine has"}' >tiny/targets/beyond.json
smoke=tiny/recipes/framework/hello/smoke.sh
dies="case \$KILN_CPU_TARGET in beyond) kill -ILL \$\$ ;; esac"
printf '%s\n%s\n' "$dies" "$(tail -n +2 "$smoke")" | sed '1i #!/bin/sh -eu' >smoke.sh
cp "$smoke" smoke.good
cp smoke.sh "$smoke"
results() { json 'sorted((row["image"].split("-")[2], row["result"].split(" (")[0], row["machine"] != "", row["run_now"]) for row in it)'; }

# 1. Both images are built; of one it is said that its test was not run, and why.
expect 0 "$KILN" build -f "$matrix"
expect 0 "$KILN" test -f "$matrix" --format json target=plain
equals "$(results)" "[('x86_64', 'passed', True, False)]"
expect 0 "$KILN" test -f "$matrix" --format json
equals "$(results)" "[('beyond', 'not run: this machine', True, True), ('x86_64', 'passed', True, False)]"
holds "$out" ' lacks warp9 of beyond'
grep -qs 'kiln: not run: this machine (' .kiln/logs/*.log || fail 'the log does not say so'
expect 0 "$KILN" publish -f "$matrix"
expect 0 "$KILN" index list --format json
equals "$(json 'sorted((row["cpu"], "lacks warp9" in row.get("untested", "")) for row in it)')" "[('beyond', True), ('x86_64', False)]"

# 2. On a machine that has it the same test runs, and passes: here the tables say that nothing is lacking any more.
sed 's/, "warp9"//' tables.json >own.json
export KILN_ARCHSPEC=$work/own.json
cp smoke.good "$smoke"
expect 0 "$KILN" build -f "$matrix"
expect 0 "$KILN" test -f "$matrix" --format json
equals "$(results)" "[('beyond', 'passed', True, False), ('x86_64', 'passed', True, False)]"

# 3. What was not run before runs now, and dies: where nothing is lacking that is a failure. So is another death where something is.
cp smoke.sh "$smoke"
expect 0 "$KILN" build -f "$matrix" # of the first run here
expect 1 "$KILN" test -f "$matrix" --format json
equals "$(results)" "[('beyond', 'failed: exit status 132: a program was killed by signal 4: Illegal instruction', False, True), ('x86_64', 'passed', True, False)]"
export KILN_ARCHSPEC=$work/tables.json
sed 's/-ILL/-SEGV/' smoke.sh >"$smoke"
expect 1 "$KILN" build -f "$matrix"
holds "$out" 'exit status 139: a program was killed by signal 11'

# By the site's launcher, on the partition that was asked for: here the launcher is what makes the machine another.
cp smoke.good "$smoke"
export KILN_ARCHSPEC=$work/own.json
cat >launch.sh <<'SH'
#!/bin/sh -eu
# launch.sh PARTITION COMMAND…: as srun would
echo "$1" >>"$PLACES"
shift
exec "$@"
SH
chmod +x launch.sh
export PLACES=$work/places
echo "{\"launcher\": [\"$work/launch.sh\", \"{partition}\"], \"partition\": \"build\"}" >site.json
expect 0 "$KILN" test -f "$matrix" --again --partition beyond --format json
equals "$(results)" "[('beyond', 'passed', True, True), ('x86_64', 'passed', True, True)]"
equals "$(sort -u places)" beyond
expect 0 "$KILN" test -f "$matrix" --again --format json
equals "$(tail -n 1 places)" build
expect 0 "$KILN" doctor --node --partition other
equals "$(tail -n 1 places)" other
holds "$out" 'runs the steps'
expect 0 "$KILN" publish -f "$matrix"
expect 0 "$KILN" index list --format json
equals "$(json 'sorted((run["host"] != "", run["cpu"] != "", run["kernel"] != "", "at" in run) for row in it for run in row["tests"]["ran"].values())[0]')" '(True, True, True, True)'
echo '{}' >site.json
expect 2 "$KILN" test -f "$matrix" --partition beyond
holds "$err" 'the site file has no launcher, so there are no partitions'
expect 2 "$KILN" doctor --node
holds "$err" 'the site file has no launcher, so there is no node to ask'
rm site.json

# So it is of a death that is another program's, by whatever words: a child's, a shell's exit status, Python's.
export KILN_ARCHSPEC=$work/tables.json
# shellcheck disable=SC2016 # for the test
for way in 'sh -c "kill -ILL \$\$"' 'exit 132' 'echo "subprocess.CalledProcessError: died with <Signals.SIGILL: 4>." && exit 1'; do
  { echo '#!/bin/sh -eu'; printf 'case $KILN_CPU_TARGET in beyond) %s ;; esac\n' "$way"; tail -n +2 smoke.good; } >"$smoke"
  expect 0 "$KILN" build -f "$matrix" target=beyond
  expect 0 "$KILN" test -f "$matrix" --format json target=beyond
  equals "$(results)" "[('beyond', 'not run: this machine', True, True)]"
done

# A GPU that the machine lacks is no fault of the image, either: its own words say so, and those of CUDA.
echo '{"cpu": "x86_64", "accelerators": ["nvidia:sm_90"], "description": "a GPU that is not here"}' >tiny/targets/gpu.json
sed 's/"plain", "beyond"/"gpu"/' "$matrix" >tiny/gpu.json
gpu_result() { json 'it[0]["result"]'; }
if [ ! -e /dev/nvidiactl ]; then
  { echo '#!/bin/sh -eu'; echo 'echo "RuntimeError: CUDA error: no kernel image is available for execution on the device" && exit 1'; } >"$smoke"
  expect 0 "$KILN" build -f tiny/gpu.json
  expect 0 "$KILN" test -f tiny/gpu.json --format json
  equals "$(gpu_result)" 'not run: this machine has no GPU'
  { echo '#!/bin/sh -eu'; echo 'echo "code for sm_90, not run: there is no GPU here"'; } >"$smoke"
  expect 0 "$KILN" build -f tiny/gpu.json
  expect 0 "$KILN" test -f tiny/gpu.json --format json
  equals "$(gpu_result)" 'not run: there is no GPU here'
fi

# 4. Words: nothing built, and a table for people.
cp smoke.good "$smoke"
expect 0 "$KILN" build -f "$matrix"
expect 0 "$KILN" test -f "$matrix" --again
holds "$out" 'IMAGE '
equals "$(grep -c ' passed ' <<<"$out")" 2
expect 4 "$KILN" --state empty test -f "$matrix"
holds "$err" 'none of the images is built'
echo 'test places: untested, tested, failed'
