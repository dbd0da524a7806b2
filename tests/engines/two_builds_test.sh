#!/usr/bin/env bash
# Two builds of two matrices with steps and images in common, at once, with the real buildah: two_builds.py says what must be.
# two_builds_test.sh FOLDER [ROUNDS [SEED]]
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
# All of its images are tiny's, too.
cat >tiny/pair.json <<'J'
{
  "name": "pair",
  "axes": {
    "framework": ["hello"], "version": ["2.1", "2.10"], "method": ["distro"], "library": ["fast", "none"],
    "base": ["busybox@1.35"], "target": ["plain"]
  }
}
J
"$KILN_PYTHON" "$KILN_SOURCE/tests/engines/two_builds.py" "$KILN" "$KILN_SOURCE/tests/support/image_bits.py" "${2:-3}" "${3:-1}"

says() { # says NAME PID PATTERN: waits until NAME.err has the pattern, while the process lives
  until grep "$3" "$1.err" >/dev/null; do
    kill -0 "$2" || fail "it ended: $(cat "$1.err")"
    sleep 0.05
  done
}

# The second build of one matrix is told of the first, which a step keeps at work until it is told to end.
mkfifo gate
edit "2i read -r _ <$work/gate" tiny/recipes/base/busybox/rootfs.sh
"$KILN" build -f tiny/pair.json --state gated --progress plain >gated.out 2>gated.err &
gated=$!
says gated "$gated" 'start  '
expect 7 "$KILN" build -f tiny/pair.json --state gated
holds "$err" "'pair' in $work/gated is in use: kiln build of pair by process $gated on "
expect 7 "$KILN" publish -f tiny/pair.json --state gated
holds "$err" "$work/gated is in use: kiln build of pair by process $gated on "
# One of another matrix begins, and waits for the step that both need.
"$KILN" build -f tiny/tiny.json --state gated --progress plain >other.out 2>other.err &
other=$!
says other "$other" 'process [0-9]* on .* for the build of pair runs it'
echo >gate
wait "$gated" || fail "$(cat gated.err)"
wait "$other" || fail "$(cat other.err)"
echo 'two builds: as one after the other'
