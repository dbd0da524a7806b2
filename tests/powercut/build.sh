#!/usr/bin/env bash
# The power is cut while `kiln build` and `kiln publish` of ever new images go on: every acknowledged image is in the index with all its
# blobs by digest, and whatever a record calls built is whole.
# shellcheck source=tests/powercut/cut.sh
. "$(dirname "$0")/cut.sh"
command -v buildah >/dev/null || skip 'no buildah'
cp -r "$KILN_SOURCE/tests/data/tiny" tiny
script=tiny/recipes/framework/hello/distro.sh

number=0
build_anew() {
  number=$((number + 1))
  echo "echo $number >>/run-$number || true" >>"$script"
  "$KILN" --state live/state -q build -f tiny/tiny.json -j 2 && "$KILN" --state live/state -q publish -f tiny/tiny.json &&
    "$KILN" --state live/state index list --format json |
    "$KILN_PYTHON" -c 'import json, sys; print(*sorted(image["manifest"] for image in json.load(sys.stdin)))' >>acknowledged
}

wrong=0
for kind in "${file_systems[@]}"; do
  begin "$kind" 3072
  start build_anew
  wait_for_first
  bad=0 begun=$SECONDS
  for ((i = 1; i <= cuts; i++)); do
    sleep "$((RANDOM % 3)).$(printf %03d $((RANDOM % 1000)))"
    cut
    "$KILN_PYTHON" "$KILN_SOURCE/tests/powercut/judge.py" "$KILN" after/state "$acked" || bad=$((bad + 1))
    uncut
  done
  echo "{\"figure\": \"power cuts of kiln build and publish on $kind\", \"cuts\": $cuts, \"bad\": $bad, \"nights\": $(wc -l <acknowledged), \"seconds\": $((SECONDS - begun))}"
  wrong=$((wrong + bad))
  end
done
[ "$wrong" = 0 ]
