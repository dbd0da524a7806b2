#!/usr/bin/env bash
# A site file is looked at by who is asked whether all is well: kiln doctor and kiln lint.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
unset XDG_CONFIG_HOME
export HOME=$work/home
mkdir -p "$HOME" catalogue && cd catalogue
cp -r "$tiny/recipes" .

# One with a mistake: its place, from both.
printf '{\n  "engine": "buildha"\n}\n' >site.json
said="site.json:2:13: error: expected an engine, found 'buildha' (at /engine); did you mean 'buildah'?"
expect 3 "$KILN" doctor
equals "$err" "$said"
expect 3 "$KILN" lint --severity error
equals "$(head -n 1 <<<"$err")" "$said"
expect 3 "$KILN" lint site.json
equals "$(head -n 1 <<<"$err")" "$said"
expect 3 "$KILN" lint .
equals "$(head -n 1 <<<"$err")" "$said"
mkdir -p ../home/.config/kiln && mv site.json ../home/.config/kiln/
expect 3 "$KILN" lint --severity error
holds "$err" "/home/.config/kiln/$said"
expect 3 "$KILN" --site ../home/.config/kiln/site.json doctor
holds "$err" "$said"
rm -r ../home/.config

# A good one: doctor says which it is, and whether its launcher is there.
echo '{"jobs": 2}' >site.json
expect 0 "$KILN" lint site.json
holds "$err" '1 file: 0 errors'
status=0
"$KILN" doctor >../out 2>../err || status=$? # whatever else this machine lacks
grep -q '^site file  *site.json  *ok' ../out || fail "$(cat ../out)"
[ "$status" != 3 ] || fail "$(cat ../err)"
echo '{"launcher": ["srnu", "-n1"]}' >site.json
expect 5 "$KILN" doctor
[ "$(grep -c '^launcher  *-  *srnu  *MISSING' <<<"$out")" = 1 ] || fail "$out"
rm site.json
"$KILN" doctor >../out 2>../err || true
grep -q '^site file  *-  *defaults' ../out || fail "$(cat ../out)"
