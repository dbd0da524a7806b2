#!/usr/bin/env bash
# --locked builds what was reviewed: recipes and scripts, too.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
expect 0 "$KILN" lock -f "$matrix"
expect 0 "$KILN" plan -f "$matrix" --locked

edited() { # edited FILE: with a line more, refused with the recipe's name, and locked anew without a question
  echo '# a line more' >>"tiny/recipes/$1"
  expect 0 "$KILN" plan -f "$matrix"
  lacks "$err" warning
  expect 7 "$KILN" plan -f "$matrix" --locked
  holds "$err" "tiny/recipes/$2/recipe.json: error: this recipe, or a file that it names, is not as it was locked: digest "
  holds "$err" 'look at them, then kiln lock -f tiny/tiny.json'
  equals "$out" ''
  expect 7 "$KILN" build -f "$matrix" --locked --state never
  [ ! -e never ] || fail '--locked wrote something'
  expect 0 "$KILN" lock -f "$matrix"
  holds "$out" "$2@"
  expect 0 "$KILN" plan -f "$matrix" --locked
}
edited framework/hello/distro.sh framework/hello
equals "$(grep -c error: <<<"$err")" 0
edited base/busybox/rootfs.sh base/busybox
edit 's/"description": "/&now /' tiny/recipes/library/fast/recipe.json
expect 7 "$KILN" generate -f "$matrix" --locked -o never
equals "$(grep -c 'not as it was locked' <<<"$err")" 1
