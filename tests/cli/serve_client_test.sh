#!/usr/bin/env bash
# /openapi.json: a validator takes it, and a client that is made of it works.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/serve.sh
. "$KILN_SOURCE/tests/support/serve.sh"
tools=$KILN_SOURCE/.cache/validators/bin
if ! [ -x "$tools/openapi-python-client" ]; then
  echo 'skipped: ci/setup --validators was not run'
  exit 77
fi

one_mapping
expect 0 "$KILN" serve token --tokens tokens --name client
token=$out
start_server --tokens tokens

curl -sSf -o openapi.json "http://127.0.0.1:$port/openapi.json"
expect 0 "$tools/openapi-spec-validator" openapi.json
# Without its formatter: whoever reads the client is a test.
printf 'post_hooks: []\n' >config.yml
expect 0 "$tools/openapi-python-client" generate --path openapi.json --config config.yml --meta none --output-path kiln_client
lacks "$out$err" WARNING
lacks "$out$err" Warning
expect 0 "$tools/python3" -B "$KILN_SOURCE/tests/cli/serve_client.py" "$work" "$port" "$token"
