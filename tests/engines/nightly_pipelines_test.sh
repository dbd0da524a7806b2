#!/usr/bin/env bash
# What each pipeline of ci/ runs at night, run: ci/nightly, the real kiln, the tiny catalogue. Each finds the report where it publishes
# it from.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
if ! "$KILN" nightly --help >/dev/null 2>&1; then
  echo 'skipped: this kiln has no command nightly'
  exit 77
fi
# shellcheck source=tests/support/pipelines.sh
. "$KILN_SOURCE/tests/support/pipelines.sh"

for file in "${pipelines[@]}"; do
  site=$work/$(basename "$file")
  lay_out "$site"
  cp -r "$tiny" "$site/srv/kiln/matrix"
  # One state for all: the first builds, the others find that nothing is to be done.
  expect 0 run_pipeline "$file" "$site" KILN="$KILN" KILN_FILE="$site/srv/kiln/matrix/tiny.json" KILN_STATE="$work/state"
  case $file in
    ci/cron/* | ci/systemd/*) report=$site/var/lib/kiln/report ;;
    *) report=$site/srv/kiln/night ;;
  esac
  for document in night.json report.html junit.xml; do
    [ -s "$report/$document" ] || fail "$file: no $document in $report ($(ls -R "$site/var" "$site/srv/kiln/night" 2>&1))"
  done
  expect 0 cat "$report/junit.xml"
  equals "$(grep -c '<failure' <<<"$out" || true)" 0
done

# A red night is red in each.
for file in ci/gitlab/nightly.yml ci/cron/kiln-nightly; do
  site=$work/$(basename "$file")
  echo 'exit 3' >>"$site/srv/kiln/matrix/recipes/framework/hello/distro.sh"
  case $file in ci/cron/*) status=0 ;; *) status=1 ;; esac
  expect "$status" run_pipeline "$file" "$site" KILN="$KILN" KILN_FILE="$site/srv/kiln/matrix/tiny.json" KILN_STATE="$work/state"
  [ "$status" = 1 ] || holds "$out" 'kiln nightly ended with 1'
done
