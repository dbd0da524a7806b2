#!/usr/bin/env bash
# /openapi.json: a validator takes it, and a client that is made of it works.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
tools=$KILN_SOURCE/.cache/validators/bin
if ! [ -x "$tools/openapi-python-client" ]; then
  echo 'skipped: ci/setup --validators was not run'
  exit 77
fi

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
expect 0 "$KILN" serve token --tokens tokens --name client
token=$out
"$KILN" --state state serve --listen 127.0.0.1:0 --tokens tokens 2>serve.err &
at_exit "kill $! 2>/dev/null || true"
for _ in $(seq 100); do
  grep -q '^serving on' serve.err && break
  sleep 0.1
done
port=$(sed -n 's/^serving on 127.0.0.1://p' serve.err)

curl -sSf -o openapi.json "http://127.0.0.1:$port/openapi.json"
expect 0 "$tools/openapi-spec-validator" openapi.json
# Without its formatter: whoever reads the client is a test.
printf 'post_hooks: []\n' >config.yml
expect 0 "$tools/openapi-python-client" generate --path openapi.json --config config.yml --meta none --output-path kiln_client
lacks "$out$err" WARNING
lacks "$out$err" Warning
expect 0 "$tools/python3" -B "$KILN_SOURCE/tests/cli/serve_client.py" "$work" "$port" "$token"
