#!/usr/bin/env bash
# kiln serve while it is crowded (benchmarks/serve.sh, in short): nobody fails, memory stays, and a request costs at most twice what a
# bare server's does. The figures themselves are in docs/performance.md.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
if ! command -v wrk >/dev/null; then
  echo 'skipped: wrk is not installed'
  exit 77
fi

"$KILN_SOURCE/benchmarks/serve.sh" "$KILN_BUILD" 2 2 >samples.json
"$KILN_PYTHON" - samples.json <<'PY'
import json, sys
all_samples = [json.loads(line) for line in open(sys.argv[1])]
of = lambda series: [one for one in all_samples if one["series"] == series]
cost = lambda series: sum(one["cpu"] for one in of(series)) / sum(one["requests"] for one in of(series))
for one in of("select") + of("select_short"):
    assert one["failed"] == 0 and one["requests"] > 1000, one
    assert one["rss"] < 200e6, one
assert cost("select_short") < 2 * cost("hello"), (cost("select_short"), cost("hello"))
crowd, = of("crowd")
assert crowd["least"] == 5000 and crowd["wrong"] > 100, crowd
PY
