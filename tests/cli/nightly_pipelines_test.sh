#!/usr/bin/env bash
# ci/nightly and the pipelines that call it: each is valid to the judge of its kind, and runs ci/nightly as it says. A program that
# writes down what it is given stands for kiln; tests/engines/nightly_pipelines_test.sh runs the same with the real one.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/pipelines.sh
. "$KILN_SOURCE/tests/support/pipelines.sh"
cd "$KILN_SOURCE"

# The judges: GitHub's and GitLab's schemas; what attackers use; systemd itself, which warns of what it does not know and goes on.
schema() { "$validators/python3" -m check_jsonschema --builtin-schema "$@"; }
expect 0 schema vendor.github-workflows ci/github/*.yml
expect 0 schema vendor.gitlab-ci ci/gitlab/.gitlab-ci.yml ci/gitlab/*.yml
sed 's/resource_group: .*/resource_group: []/' ci/gitlab/nightly.yml >"$work/wrong.yml"
expect 1 schema vendor.gitlab-ci "$work/wrong.yml"
expect 0 "$validators/zizmor" --offline --no-progress --min-severity medium ci/github/*.yml
sed -E 's/@[0-9a-f]{40} /@v4 /' ci/github/kiln-nightly.yml >"$work/loose.yml"
expect 14 "$validators/zizmor" --offline --no-progress --min-severity medium "$work/loose.yml"
holds "$out" unpinned-uses

mkdir "$work/units"
verify() { # verify STATUS SED-EXPRESSION: the units with the change
  local unit
  rm -f "$work/units/"*
  for unit in ci/systemd/*; do
    sed -e "s#/srv/kiln/#$KILN_SOURCE/#; s#^ExecStart=/etc/kiln/nightly-failed#ExecStart=/bin/true#" \
      -e "s#^ExecStart=/usr/local/bin/kiln#ExecStart=$KILN#" -e "$2" "$unit" >"$work/units/$(basename "$unit")"
  done
  expect "$1" systemd-analyze verify --man=no --recursive-errors=yes "$work"/units/*
  err=$(grep -F "$work/units" <<<"$err" || true)
}
verify 0 ''
equals "$err" ''
verify 1 's/^KillMode=.*/KillMode=mixd/'
holds "$err" 'Failed to parse kill mode'
verify 1 's/^OnCalendar=.*/OnCalendar=every night/'
holds "$err" 'Failed to parse calendar'

# Shell text in other files, as shellcheck reads it.
for file in "${pipelines[@]}"; do
  expect 0 shellcheck --shell=bash - < <(of_pipeline "$file" 'it["script"]')
done

# What stands for kiln: its words and the variables that count, and the exit status that the test asks for.
cat >"$work/kiln" <<'KILN'
#!/bin/sh
printf '%s\n' "$*" "file $KILN_FILE" "state $KILN_STATE" "auth ${REGISTRY_AUTH_FILE-none}" >"$SAID"
echo "the night of $*"
exit "${STATUS-0}"
KILN
chmod +x "$work/kiln"
export SAID=$work/said KILN_REAL=$KILN
said() { sed -n "$1p" "$SAID"; }

lay_out "$work/site"
for file in "${pipelines[@]}"; do
  expect 0 run_pipeline "$file" "$work/site" KILN="$work/kiln"
  case $file in
    ci/github/*) equals "$(said 1)" 'nightly --budget 5h --report night' ;;
    ci/gitlab/* | ci/jenkins/*) equals "$(said 1)" 'nightly --report night' ;;
    *) equals "$(said 1)" "nightly --report $work/site/var/lib/kiln/report" ;;
  esac
  case $(said 2) in
    'file matrix/demo.json' | "file $work/site/srv/kiln/matrix/demo.json") ;;
    *) fail "$file: $(said 2)" ;;
  esac
  # A red night makes a red job, or a mail.
  case $file in
    ci/cron/*)
      equals "$out$err" ''
      expect 0 run_pipeline "$file" "$work/site" KILN="$work/kiln" STATUS=1
      equals "$out" "the night of nightly --report $work/site/var/lib/kiln/report
kiln nightly ended with 1"
      ;;
    *) expect 7 run_pipeline "$file" "$work/site" KILN="$work/kiln" STATUS=7 ;;
  esac
done
# GitHub's secret is handed on as a file.
echo '{}' >"$work/site/run/auth.json"
expect 0 run_pipeline ci/github/kiln-nightly.yml "$work/site" KILN="$work/kiln"
equals "$(said 4)" "auth $work/site/run/auth.json"

# Variables stand for options; an option that is given wins, and an empty variable is none.
nightly() { env KILN="$work/kiln" "$work/site/srv/kiln/ci/nightly" "$@"; }
export KILN_BUDGET=6h KILN_REGISTRY=registry.example/ai KILN_REPORT='a report'
expect 0 nightly -f 'a matrix.json'
equals "$(said 1)" 'nightly --budget 6h --to registry.example/ai --report a report -f a matrix.json'
options=$(grep -oE -- '--[a-z]+' "$SAID" | sort -u)
expect 0 nightly --budget=1h --local --report here
equals "$(said 1)" 'nightly --budget=1h --local --report here'
export KILN_BUDGET='' KILN_REGISTRY='' KILN_REPORT=''
expect 0 nightly
equals "$(said 1)" nightly
unset KILN_BUDGET KILN_REGISTRY KILN_REPORT
expect 0 nightly --help
holds "$out" KILN_REGISTRY

# A signal is kiln's: the script is no longer there to die of it.
cat >"$work/sleeping" <<'KILN'
#!/bin/bash
trap 'exit 130' TERM
echo ready >"$SAID"
while :; do sleep 0.05; done
KILN
chmod +x "$work/sleeping"
rm -f "$SAID"
env KILN="$work/sleeping" ci/nightly &
job=$!
until [ -s "$SAID" ]; do sleep 0.05; done
kill -TERM "$job"
status=0
wait "$job" || status=$?
equals "$status" 130

# Without KILN: the tools, then kiln, then the night; each failure has its own exit status.
checkout=$work/site/srv/kiln
mkdir "$work/bin"
cat >"$work/bin/cmake" <<CMAKE
#!/bin/sh
mkdir -p build/release
cp "$work/kiln" build/release/kiln
CMAKE
cat >"$checkout/ci/setup" <<'SETUP'
#!/bin/sh
exit "${SETUP-0}"
SETUP
chmod +x "$work/bin/cmake"
bare() { env -u KILN PATH="$work/bin:$PATH" "$@" "$checkout/ci/nightly" --report r; }
expect 0 bare
equals "$out" 'the night of nightly --report r'
for status in 5 6; do expect "$status" bare SETUP="$status"; done

# Every option that is used here is one of kiln's.
if "$KILN_REAL" nightly --help >"$work/help" 2>/dev/null; then
  for option in $options --local; do
    grep -E -- "$option\b" "$work/help" >/dev/null || fail "kiln nightly has no $option"
  done
fi
