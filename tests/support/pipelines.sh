# shellcheck shell=bash disable=SC2034,SC2154 # work is from script.sh, pipelines for who sources this
# The pipelines of ci/ as a script test runs them. Sourced after script.sh; needs .cache/validators (ci/setup --validators).
validators=$KILN_SOURCE/.cache/validators/bin
if ! "$validators/python3" -c 'import check_jsonschema, groovy_parser' 2>/dev/null || [ ! -x "$validators/zizmor" ] || ! command -v systemd-analyze >/dev/null; then
  echo 'skipped: ci/setup --validators was not run'
  exit 77
fi
"$validators/python3" -B "$KILN_SOURCE/tests/cli/nightly_pipelines.py" "$KILN_SOURCE" >"$work/pipelines.json" || fail 'a pipeline is not what it should be'

# of_pipeline FILE EXPRESSION: a Python expression over the entry of ci/FILE, named `it`.
of_pipeline() {
  "$validators/python3" -c 'import json, sys; it = next(it for it in json.load(open(sys.argv[1])) if it["file"] == sys.argv[2]); print(eval(sys.argv[3]))' \
    "$work/pipelines.json" "$1" "$2"
}

# lay_out FOLDER: what a pipeline finds, with the paths of its text moved to FOLDER: the checkout in FOLDER/srv/kiln.
lay_out() {
  mkdir -p "$1/srv/kiln" "$1/var/lib/kiln" "$1/run"
  cp -r "$KILN_SOURCE/ci" "$1/srv/kiln/"
}

# run_pipeline FILE FOLDER NAME=VALUE…: runs the shell text of the pipeline where it would be run, with its own environment and then ours.
run_pipeline() {
  local file=$1 folder=$2 script
  shift 2
  local -a environment
  script=$(of_pipeline "$file" 'it["script"]' | sed -E "s#/(srv|var/lib)/kiln#$folder/\\1/kiln#g")
  mapfile -t environment < <(of_pipeline "$file" '"\n".join(f"{name}={value}" for name, value in it["environment"].items())' |
    sed -E "s#=/(srv|var/lib|run)/kiln#=$folder/\\1/kiln#" | grep -v '^PATH=')
  (cd "$folder/srv/kiln" && env "${environment[@]}" RUNNER_TEMP="$folder/run" "$@" bash -eo pipefail -c "$script")
}
pipelines=(ci/github/kiln-nightly.yml ci/gitlab/nightly.yml ci/jenkins/nightly.jenkinsfile ci/cron/kiln-nightly ci/systemd/kiln-nightly.service)
