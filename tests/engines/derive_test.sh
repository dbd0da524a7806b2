#!/usr/bin/env bash
# kiln derive with the real buildah: an application upon a built image, its second call, a changed file, a rebuilt parent, and what it refuses.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
cell=hello-2.10-distro-plain-busybox_1.35
parent=hello:2.10-distro-x86_64-busybox1.35
mkdir -p src/lib src/.git src/__pycache__
# shellcheck disable=SC2016 # for the container
echo 'echo "train says $(cat "$(dirname "$0")/lib/words")"' >src/train
chmod 755 src/train
echo one >src/lib/words
echo junk >src/.git/index
echo junk >src/__pycache__/train.pyc
# shellcheck disable=SC2016 # for the container
echo 'sh "$KILN_FACT_PATH/train" >/opt/trained' >run.sh
echo 'grep "^train says" /opt/trained' >test.sh
# shellcheck disable=SC2120 # called with none as well
derive() {
  "$KILN" derive -f "$matrix" "$parent" --name train --copy src --run run.sh --test test.sh --format json "$@"
}
steps() { # steps PATTERN: how many steps with this title the last call started
  grep -c "^start .*$1" <<<"$err" || true
}

# 1. Nothing is built that is not there: the parent must be.
expect 4 derive
holds "$err" "there is no image '$parent'"
expect 0 "$KILN" build -f "$matrix" "$cell"

# 2. Two steps and the tests of parent and application upon what is there; nothing below them.
expect 0 derive
equals "$(json '(it["built"], it["steps_run"])')" '(1, 5)' # two steps, two tests, and the image
equals "$(json 'it["images"][0]["name"]')" train:2.10-distro-x86_64-busybox1.35
equals "$(steps hello)" 1 # its test
equals "$(steps "busybox 1")" 0
expect 0 derive
equals "$(json '(it["up_to_date"], it["steps_run"])')" '(1, 0)'

# 3. The image says what it is upon; its SBOM, evidence and SIF are those of other images.
expect 0 "$KILN" inspect "$parent" --format json
digest=$(json 'it["digest"]')
expect 0 "$KILN" inspect train:2.10-distro-x86_64-busybox1.35 --format json
printf '%s' "$out" >inspected.json
holds "$out" "$digest"
"$KILN_PYTHON" - inspected.json "$digest" "$parent" <<'PY'
import glob, json, sys
built = [json.load(open(name)) for name in glob.glob(".kiln/built/*.json")]
derived = [one for one in built if one["repository"] == "train"]
assert len(derived) == 1, built
derived = derived[0]
parents = [one for one in built if one["manifest"] == sys.argv[2]]
labels = derived["labels"]
assert labels["org.opencontainers.image.base.digest"] == sys.argv[2], labels
assert labels["org.opencontainers.image.base.name"] == sys.argv[3], labels
assert labels["io.kiln.parent.key"] == parents[0]["key"], labels
assert labels["io.kiln.application"] == "train" and labels["io.kiln.framework"] == "hello", labels
assert derived["application"] == "train" and derived["version"] == "2.10", derived
kinds = {one["kind"] for one in derived["attachments"]}
assert kinds >= {"sif"} and kinds == {one["kind"] for one in parents[0]["attachments"]}, kinds
assert derived["evidence"]["verdict"] == parents[0]["evidence"]["verdict"], derived["evidence"]
assert derived["size"] > parents[0]["size"]
PY
layout=$(echo .kiln/images/train/*):2.10-distro-x86_64-busybox1.35
skopeo inspect --config "oci:$layout" >config.json
skopeo copy --quiet "oci:$layout" dir:unpacked
for layer in $(skopeo inspect --raw "oci:$layout" | "$KILN_PYTHON" -c 'import json, sys; print(*[one["digest"][7:] for one in json.load(sys.stdin)["layers"]])'); do
  zstd -dc <"unpacked/$layer" 2>/dev/null | tar -tvf - 2>/dev/null || gzip -dc <"unpacked/$layer" | tar -tvf - 2>/dev/null
done >listed
holds "$(cat listed)" opt/train/lib/words
holds "$(cat listed)" '-rwxr-xr-x 0/0'
lacks "$(cat listed)" .git
lacks "$(cat listed)" __pycache__

# 4. A changed script runs its own step only; a changed file of the folder that of the files, and what is upon it.
echo 'echo more >>/opt/trained' >>run.sh
expect 0 derive
equals "$(json '(it["built"], it["steps_run"])')" '(1, 4)'
equals "$(steps train.files)" 0
echo two >src/lib/words
expect 0 derive
equals "$(json '(it["built"], it["steps_run"])')" '(1, 5)'
equals "$(find .kiln/derived/recipes -mindepth 1 -maxdepth 1 | wc -l)" 1 # those of earlier calls are gone
echo other >src/.git/index
expect 0 derive
equals "$(json 'it["steps_run"]')" 0

# 5. It is in the index under its own name, and answers questions that name it, and no others.
expect 0 "$KILN" publish -f "$matrix" "$cell" "train-$cell"
expect 0 "$KILN" index list --format json
equals "$(json 'sorted(one["name"] for one in it)')" "['$parent', 'train:2.10-distro-x86_64-busybox1.35']"
ask() { # ask APPLICATION
  printf '{"optimisation": {"enable_opt_build": false, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"}, "app_type-ai_training": {"config": {"ai_framework": "%s"}, "ai_framework-%s": {}}}}' "$1" "$1" | "$KILN" select --dsl -
}
equals "$(ask hello)" "$parent"
equals "$(ask train)" train:2.10-distro-x86_64-busybox1.35
expect 0 "$KILN" select train
equals "$out" train:2.10-distro-x86_64-busybox1.35

# 6. The night rebuilds it when its parent is rebuilt; a build of the matrix has it, too.
echo 'echo newer >>/opt/kiln/hello/news' >>tiny/recipes/framework/hello/distro.sh
expect 4 derive
holds "$err" 'is not built by the recipes of today, or fails a test'
holds "$err" "kiln build -f $matrix $cell"
expect 0 "$KILN" nightly -f "$matrix" --local --format json
equals "$(json 'sorted(one["verdict"] for one in it["images"] if one["name"].startswith("train:"))')" "['built']"
expect 0 "$KILN" index show train:2.10-distro-x86_64-busybox1.35
newer=$(json 'it["labels"]["org.opencontainers.image.base.digest"]')
[ "$newer" != "$digest" ] || fail 'the night left it upon the old parent'
expect 0 "$KILN" index show "$parent"
equals "$(json 'it["manifest"]')" "$newer"

# 7. What fails is not recorded, and what was recorded stays.
cp .kiln/derived/train.json before.json
echo 'echo about to break; exit 3' >>run.sh
expect 1 derive
holds "$err" 'train is not recorded'
holds "$(json 'it["images"][0]["reason"]')" 'exit status 3'
logs=$(sed -n 's/^its logs: //p' <<<"$err")
grep -q 'about to break' "$logs"/*.log
cmp before.json .kiln/derived/train.json
equals "$(find .kiln/derived/recipes -mindepth 1 -maxdepth 1 | wc -l)" 1
echo 'exit 1' >test.sh
edit "\$d" run.sh
expect 1 derive
cmp before.json .kiln/derived/train.json
echo 'grep "^train says" /opt/trained' >test.sh
# The image has no Python.
echo 'numpy==2.1.0' >requirements.txt
expect 1 "$KILN" derive -f "$matrix" "$parent" --name other --requirements requirements.txt
holds "$err" 'the image has no python3'
[ ! -e .kiln/derived/other.json ] || fail 'it was recorded'

# 8. Refused with a reason, and nothing is left behind.
refused() { # refused STATUS WORDS ARGUMENTS…
  local status=$1 words=$2
  shift 2
  expect "$status" "$KILN" derive -f "$matrix" "$@"
  holds "$err" "$words"
  cmp before.json .kiln/derived/train.json
}
refused 2 'nothing to add to the image' "$parent" --name x
refused 2 "'Train'" "$parent" --name Train --run run.sh
refused 2 'is the name of the component framework/hello' "$parent" --name hello --run run.sh
refused 2 'means something else in a matrix' "$parent" --name library --run run.sh
refused 2 'is itself a derived image' train:2.10-distro-x86_64-busybox1.35 --name x --run run.sh
refused 3 'missing.sh' "$parent" --name x --run missing.sh
refused 3 'there is no such folder' "$parent" --name x --copy missing
mkdir empty
refused 3 'the folder is empty' "$parent" --name x --copy empty
mkfifo src/pipe
refused 3 'src/pipe: error: is neither a file nor a folder nor a symbolic link' "$parent" --name x --copy src
rm src/pipe
refused 2 "is no path of a folder in an image" "$parent" --name x --copy src:/opt/../x
: >nothing.sh
refused 3 'nothing.sh: error: the file is empty' "$parent" --name x --run nothing.sh
refused 4 'the index has no image' hello:9 --name x --run run.sh
printf 'echo one\r\necho two\r\n' >dos.sh
refused 3 'dos.sh:1:9: error: the line ends in CR LF' "$parent" --name x --run dos.sh
refused 2 'is not UTF-8 at its byte 10' "$parent" --name x --copy $'src:/opt/\xff'
refused 2 "kiln empties '/run/x' in every image" "$parent" --name x --copy src:/run/x

# 9. A damaged record is passed over, and named.
echo '{"schema": 1' >.kiln/derived/train.json
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'any("train" in cell["id"] for cell in it["cells"])')" False
holds "$err" '.kiln/derived/train.json:2:1: warning'
expect 8 "$KILN" derive --list
expect 8 "$KILN" publish -f "$matrix" --prune --yes # what the matrix lacks is not known
holds "$err" 'while looking for the missing parts of tiny'
expect 0 "$KILN" derive --remove train
cp before.json .kiln/derived/train.json
expect 3 "$KILN" derive -f "$matrix" "$parent" --name x --run dos.sh # its recipes went with the record
expect 0 derive --jobs 1 # the recipes are made anew
cmp before.json .kiln/derived/train.json
# So are recipes with a flipped bit.
edit 's/./#/5' .kiln/derived/recipes/*/application/train/run.sh
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'any("train" in cell["id"] for cell in it["cells"])')" False
holds "$err" 'are damaged; derive the application again'
expect 8 "$KILN" index fsck
holds "$out" 'are damaged; derive the application again'
expect 0 derive --jobs 1 # damaged recipes as well
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'any("train" in cell["id"] for cell in it["cells"])')" True

# 10. A kill at any moment leaves nothing wrong: the next call does the rest.
echo 'echo slow >/opt/slow' >slow.sh
gated slow.sh
"$KILN" derive -f "$matrix" "$parent" --name slow --run slow.sh >killed.out 2>killed.err &
killed=$!
until_true $killed killed.err [ -s gate/starts ]
kill -9 $killed
wait $killed || true
[ ! -e .kiln/derived/slow.json ] || fail 'a killed call is recorded'
open_gate
expect 0 "$KILN" derive -f "$matrix" "$parent" --name slow --run slow.sh --wait
equals "$(find .kiln/derived/recipes -mindepth 1 -maxdepth 1 | wc -l)" 2
expect 0 "$KILN" gc -n
lacks "$out" derived

# 11. A job brings its application: the image is derived from the chosen one, published, and the script runs it; again, nothing is built.
expect 0 "$KILN" publish -f "$matrix" "$cell"
"$KILN_PYTHON" - <<'P'
import json
optimisation = {"enable_opt_build": False, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "hello"}}}
application = {"app_type": "python", "executable": "/opt/jobbed/train", "derive": {"name": "jobbed", "copy": "src", "test": "job_test.sh"}}
for name, more in (("job", {}), ("outside", {"derive": {"name": "jobbed", "copy": "../src"}})):
    json.dump({"job": {"job_options": {"job_name": "j"}, "application": {**application, **more}, "optimisation": optimisation}}, open(name + ".json", "w"))
P
echo 'sh /opt/jobbed/train | grep "^train says"' >job_test.sh
job() { "$KILN" job --dsl "$@" --host x86_64; }
expect 2 job job.json
holds "$err" 'application.derive of the document goes with one -f'
expect 3 job outside.json -f "$matrix"
holds "$err" 'is not below the folder of the document (at /job/application/derive/copy)'
sed 's/"name": "jobbed"/"name": "..\/x"/' job.json >named.json
expect 3 job named.json -f "$matrix"
holds "$err" "the name '../x': a name has 1 to 63 characters"
holds "$err" '(at /job/application/derive)'
sed 's|"copy": "src"|"copy": "src:/run/x"|' job.json >wrong.json
expect 3 job wrong.json -f "$matrix"
holds "$err" "wrong.json:1:"
holds "$err" "error: copy: kiln empties '/run/x' in every image (at /job/application/derive)"
sed 's/"name": "jobbed"/"name": "hello"/' job.json >wrong.json
expect 3 job wrong.json -f "$matrix"
holds "$err" "error: name 'hello' is the name of the component framework/hello (at /job/application/derive); choose another name"
ln -s /etc linked
sed 's/"copy": "src"/"copy": "linked"/' job.json >linked.json
expect 3 job linked.json -f "$matrix"
holds "$err" 'linked: error: is a symbolic link out of the folder of the document'
# Names that read as FOLDER:/PATH lead nowhere else.
mkdir 'd:' 'r:'
ln -s /etc 'd:/sub' && ln -s /etc/hostname 'r:/x'
sed 's|"copy": "src"|"copy": "d:/sub:/opt/x"|' job.json >linked.json
expect 3 job linked.json -f "$matrix"
holds "$err" 'is a symbolic link out of the folder of the document'
sed 's|"copy": "src"|"run": "r:/x"|' job.json >linked.json
expect 3 job linked.json -f "$matrix"
holds "$err" 'is a symbolic link out of the folder of the document'
rm -r linked 'd:' 'r:'
# Nor does a folder of the document whose name ends in a colon.
mkdir -p 'evil:/src' secret/src
echo here >'evil:/src/good' && echo outside >secret/src/topsecret && ln -s secret evil
echo 'test -e /opt/jobbed/good && ! test -e /opt/jobbed/topsecret' >'evil:/job_test.sh'
cp job.json 'evil:/job.json'
expect 0 "$KILN" job --dsl 'evil:/job.json' --host x86_64 -f "$matrix" --json
rm -r 'evil:' evil secret
# What is wrong with its files is said before anything is built.
sed 's/"copy": "src"/"copy": "scr"/' job.json >typo.json
expect 3 job typo.json -f "$matrix" --build-if-missing
holds "$err" 'scr: error: there is no such folder'
jobbed=jobbed:2.10-distro-x86_64-busybox1.35
expect 0 job job.json -f "$matrix" --json
equals "$(json 'it["answer"]')" "$jobbed"
holds "$(json 'it["job_script"]')" "$jobbed"
holds "$err" "published $jobbed as snapshot"
"$KILN" job --dsl - --host x86_64 -f "$matrix" <job.json >stdin.sh 2>stdin.err || fail "$(cat stdin.err)"
expect 0 job job.json -f "$matrix"
equals "$out" "$(cat stdin.sh)"
lacks "$err" 'start '
lacks "$err" published
sed 's/"optimisation": {/&"format": "oci", /' job.json >oci.json
expect 0 job oci.json -f "$matrix" --json
holds "$(json 'it["answer"]')" "oci:$PWD/.kiln/images/jobbed/"
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'any("jobbed" in cell["id"] for cell in it["cells"])')" True # so that a night rebuilds it
# The script names the bits: the next job of this name may bring other files.
sif=$(sed -n "s/^image='\(.*\)'$/\1/p" stdin.sh)
holds "$sif" "$PWD/.kiln/store/sha256/"
# Nothing to build: it waits for no lock.
(exec 9<>.kiln/lock && flock 9 && exec sleep 60) &
locker=$!
until ! flock -n .kiln/lock true; do sleep 0.05; done
timeout 30 "$KILN" job --dsl job.json -f "$matrix" --host x86_64 >unlocked.sh || fail 'it waits for a build'
kill $locker
wait $locker || true
cmp unlocked.sh stdin.sh
# kiln writes to a pipe, and keeps a symbolic link.
mkfifo pipe
cat pipe >piped.sh &
expect 0 job job.json -f "$matrix" -o pipe
wait $!
cmp piped.sh stdin.sh
ln -s target.sh link.sh
expect 0 job job.json -f "$matrix" -o link.sh
if [ ! -L link.sh ] || [ ! -p pipe ]; then fail 'they were replaced'; fi
cmp target.sh stdin.sh
expect 2 "$KILN" sif "$jobbed" -o pipe
holds "$err" 'pipe is not a regular file'
rm pipe link.sh target.sh
# A retired application is no answer.
expect 0 "$KILN" index retire "$jobbed" --reason 'wrong results'
expect 4 job job.json -f "$matrix"
holds "$err" "$jobbed is retired: wrong results"
# Nor does it replace another application of its name.
cp -r src retired_src
echo '# newer' >>src/train
expect 0 job job.json -f "$matrix"
holds "$err" "published $jobbed as snapshot"
mv src newer_src && mv retired_src src
expect 4 job job.json -f "$matrix"
holds "$err" "$jobbed of these files is retired: wrong results"
lacks "$err" published
rm -r src && mv newer_src src
expect 0 job job.json -f "$matrix"
lacks "$err" published
expect 0 "$KILN" index retire "$parent" --reason 'old'
expect 4 "$KILN" derive -f "$matrix" "$parent" --name other --run run.sh
holds "$err" "$parent is retired: old"
expect 0 "$KILN" index retire "$parent" --undo
# A test that fails: no script, and nothing is published.
echo 'exit 7' >job_test.sh
expect 1 job job.json -f "$matrix"
equals "$out" ''
holds "$err" "error: $jobbed is not built: "

# 12. What was added is listed, and removed: its cells go, its published images stay.
expect 0 "$KILN" derive --list
holds "$out" jobbed
holds "$out" framework=hello
expect 0 "$KILN" derive --list --format json
equals "$(json 'sorted(one["name"] for one in it)')" "['jobbed', 'slow', 'train']"
expect 2 "$KILN" derive --list --name x
expect 2 "$KILN" derive --name x --copy src "$parent"
holds "$err" 'kiln derive needs -f MATRIX'
expect 4 "$KILN" derive --remove nothing
holds "$err" "there is no application 'nothing'"
expect 0 "$KILN" derive --remove jobbed
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'any("jobbed" in cell["id"] for cell in it["cells"])')" False
expect 0 "$KILN" index list --format json
holds "$out" jobbed
expect 4 "$KILN" derive --remove jobbed
