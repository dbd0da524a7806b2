# shellcheck shell=bash disable=SC2034 # for the scripts that source this
# A running `kiln serve`, sourced after script.sh:
#   one_mapping               an index in the folder state with one mapping, and question.json, which it answers
#   start_server OPTION…      serves it on a free port: $port, $url; its process is $server
one_mapping() {
  cat >mappings.json <<'JSON'
[{"opt_dsl_code": "tf-2.1", "app_name": "tensorflow", "version": "2.1", "enable_opt_build": true,
  "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true},
  "container_name": "modakopt/modak:tensorflow-2.1-gpu-src", "container_type": "docker"}]
JSON
  cat >question.json <<'JSON'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"version": "2.1", "xla": true}}}}
JSON
  expect 0 "$KILN" --state state index import mappings.json
}
start_server() {
  : >serve.err
  "$KILN" --state state serve --listen 127.0.0.1:0 "$@" 2>serve.err &
  server=$!
  at_exit "kill -KILL $server 2>/dev/null || true"
  until_true "$server" serve.err grep -q '^serving on' serve.err
  port=$(sed -n 's/^serving on 127.0.0.1://p' serve.err)
  url=http://127.0.0.1:$port
}
