#!/usr/bin/env bash
# The power is cut while `kiln index import` acknowledges mappings one by one: every acknowledged one is there afterwards, and the index
# opens without help.
# shellcheck source=tests/powercut/cut.sh
. "$(dirname "$0")/cut.sh"

number=0
import_one() {
  number=$((number + 1))
  cat >one.json <<JSON
{"opt_dsl_code": "c$number", "app_name": "tensorflow", "version": "2.$number", "enable_opt_build": true,
 "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true}, "container_name": "o/i:$number",
 "container_type": "docker", "container_registry": "docker"}
JSON
  "$KILN" --state live/state index import one.json && echo "$number" >>acknowledged
}

there() { "$KILN" --state after/state index list --format json 2>list.err | grep -o 'o/i:[0-9]*' | sort -u | wc -l || true; }

wrong=0
for kind in "${file_systems[@]}"; do
  number=0
  begin "$kind" 400
  start import_one
  wait_for_first
  bad=0 lost=0 begun=$SECONDS
  for ((i = 1; i <= cuts; i++)); do
    sleep "0.$(printf %03d $((RANDOM % 200 + 20)))"
    cut
    found=$(there)
    if [ "$found" -lt "$acked" ]; then
      bad=$((bad + 1))
      echo "$kind, cut $i: $acked acknowledged, $found there: $(tail -n 1 list.err)"
      "$KILN" --state after/state index recover >recover.log 2>&1 || true
      [ "$(there)" -ge "$acked" ] || lost=$((lost + 1))
    fi
    uncut
  done
  echo "{\"figure\": \"power cuts of kiln index import on $kind\", \"cuts\": $cuts, \"bad\": $bad, \"lost after recover\": $lost, \"acknowledged\": $(tail -n 1 acknowledged), \"seconds\": $((SECONDS - begun))}"
  wrong=$((wrong + bad))
  end
done
[ "$wrong" = 0 ]
