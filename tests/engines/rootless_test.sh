#!/usr/bin/env bash
# A user without rights builds the tiny catalogue, in a user namespace that kiln enters by itself, and gets the bits that root gets.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

user=kiln-rootless
id "$user" >/dev/null 2>&1 || useradd --create-home "$user" # with subordinate ids, as Debian's login.defs gives them
home=$(getent passwd "$user" | cut -d: -f 6)
at_exit "unmount_all; userdel --remove $user >/dev/null 2>&1 || true"
archspec=$("$KILN_PYTHON" -c 'import archspec, pathlib; print(pathlib.Path(archspec.__file__).parent / "json/cpu/microarchitectures.json")')
cp -r "$tiny" "$home/tiny"
cp "$KILN" "$archspec" "$home"
mkdir -m 700 "$home/runtime"
chown -R "$user:" "$home"

as_user() {
  setpriv --reuid="$user" --regid="$user" --init-groups env -i PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR="$home/runtime" \
    KILN_ARCHSPEC="$home/microarchitectures.json" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$home/kiln" -C "$home" "$@"
}
expect 0 as_user build -f tiny/tiny.json --format json
equals "$(json 'it["built"]')" 7
expect 0 as_user publish -f tiny/tiny.json
expect 0 as_user bench -f tiny/tiny.json version=2.1 library=none --workload count --rounds 1 --repeat 0 --format json
expect 0 as_user index list --format json
theirs=$(json '" ".join(sorted(image["manifest"] for image in it))')

expect 0 "$KILN" build -f "$tiny/tiny.json" --format json
expect 0 "$KILN" publish -f "$tiny/tiny.json"
expect 0 "$KILN" index list --format json
equals "$(json '" ".join(sorted(image["manifest"] for image in it))')" "$theirs"

# As ci/systemd/kiln-nightly.service shuts it in: no capability beyond the unit's, a system that cannot be written, a /tmp of its own.
bounding=$(sed -n 's/^CapabilityBoundingSet=//p' "$KILN_SOURCE/ci/systemd/kiln-nightly.service" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
[ -n "$bounding" ] || fail 'the unit has no CapabilityBoundingSet='
shut_in() {
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --ipc sh -euc 'mount --bind "$1" "$1"; mount -t tmpfs tmpfs /tmp; mount -o remount,bind,ro /; shift; exec "$@"' sh "$home" \
    setpriv --reuid="$user" --regid="$user" --init-groups --bounding-set="-all,$bounding" env -i PATH="$PATH" HOME="$home" \
    XDG_RUNTIME_DIR="$home/runtime" KILN_ARCHSPEC="$home/microarchitectures.json" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$home/kiln" -C "$home" "$@"
}
expect 0 shut_in build -f tiny/tiny.json --state shut-in version=2.1 library=none --format json
equals "$(json 'it["built"]')" 1
expect 0 as_user gc --all --delete --state shut-in

# Without subordinate ids: what is all root's is built in a namespace of a single id, and for the rest it is said what an administrator adds.
cp /etc/subuid /etc/subgid .
at_exit 'cp subuid /etc/subuid; cp subgid /etc/subgid'
edit "/^$user:/d" /etc/subuid /etc/subgid
expect 0 as_user build -f tiny/tiny.json --state single version=2.1 library=none
expect 5 as_user doctor
holds "$out" ">> /etc/subuid\` and \`echo $user:"
cp -r "$home/tiny" "$home/owned"
echo 'chown 33:33 /opt/kiln/hello/version' >>"$home/owned/recipes/framework/hello/distro.sh"
chown -R "$user:" "$home/owned"
expect 5 as_user build -f owned/tiny.json --state single version=2.1 library=none
holds "$out$err" "$user has no subordinate ids, and this image's files belong to several users"
holds "$out$err" ">> /etc/subgid"
cp subuid /etc/subuid
cp subgid /etc/subgid

# Told to stop or killed, a user's kiln leaves nothing at work either, though a namespace lies between.
long=$((300000 + $$))
echo "sleep $long" >>"$home/tiny/recipes/framework/hello/distro.sh"
sleepers() { pgrep -f "sleep $long" || true; }
no_sleepers() { [ -z "$(sleepers)" ]; }
for signal in TERM KILL; do
  as_user build -f tiny/tiny.json --state stopped version=2.1 library=none >/dev/null 2>stopped.err &
  job=$!
  until [ -n "$(sleepers)" ]; do
    kill -0 "$job" 2>/dev/null || fail "the build ended: $(cat stopped.err)"
    sleep 0.1
  done
  build=$(pgrep -P "$job" -f "^$home/kiln" || echo "$job")
  kill "-$signal" "$build"
  status=0
  wait "$job" || status=$?
  case $signal in
    TERM) equals "$status" 130 ;;
    KILL) soon no_sleepers ;;
  esac
  [ -z "$(sleepers)" ] || fail "SIG$signal left at work: $(ps -o args -p "$(sleepers)")"
done

# What an engine made belongs to users that only a namespace has: gc enters it.
expect 0 as_user gc --delete --keep-for 0s --keep-steps-for 0s
expect 0 as_user index fsck
expect 0 as_user gc --all
for state in .kiln stopped; do
  expect 0 as_user gc --all --delete --state "$state"
  equals "$(ls -A "$home/$state")" lock
done
echo "rootless: the same bits, and nothing is left"
