#!/usr/bin/env bash
# kiln index fsck on a damaged index: whichever page is noise, it is found and said, and --repair makes the index again from its sidecars.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

"$KILN_PYTHON" "$KILN_SOURCE/benchmarks/index_mappings.py" 200 >all.json
expect 0 "$KILN" index import all.json
expect 0 "$KILN" index list
listed=$out
expect 0 "$KILN" index fsck
holds "$out" 'index.db: no damage'
expect 0 "$KILN" index fsck --format json
equals "$(json 'it["index_damage"]')" ''

cp .kiln/index.db whole.db
pages=$(($(stat -c %s whole.db) / 4096))
[ "$pages" -gt 10 ] || fail "the index has $pages pages"
for page in 1 3 $((pages / 2)) $((pages - 1)); do
  cp whole.db .kiln/index.db
  "$KILN_PYTHON" -c 'import random, sys; sys.stdout.buffer.write(random.Random(int(sys.argv[1])).randbytes(4096))' "$page" |
    dd of=.kiln/index.db bs=4096 seek="$page" conv=notrunc status=none
  expect 8 "$KILN" index fsck
  holds "$out" 'index fsck --repair'
  lacks "$out" 'index.db: no damage'
  expect 8 "$KILN" index fsck --format json
  [ -n "$(json 'it["index_damage"]')" ] || fail 'no damage in JSON'
  expect 0 "$KILN" index fsck --repair
  holds "$out" 'made again from its sidecars'
  expect 0 "$KILN" index fsck
  expect 0 "$KILN" index list
  equals "$out" "$listed"
done

# What is kept beside the store and the index: a plan, a result of a tuning, a table.
mkdir -p .kiln/plans .kiln/bench/tuned .kiln/bench/tables
expect 0 "$KILN" index fsck --format json
equals "$(json 'it["kept"]')" '[]'
for file in plans/demo.json bench/tuned/0123.json bench/tables/0123.json; do
  printf '{"half' >.kiln/$file
  expect 8 "$KILN" index fsck
  holds "$out" "$file"
  expect 8 "$KILN" index fsck --format json
  equals "$(json 'len(it["kept"])')" 1
  rm .kiln/$file
done
expect 0 "$KILN" index fsck
