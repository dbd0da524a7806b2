#!/bin/sh -eu
# Writes to the folder $KILN_OUTPUT how this machine reaches the packages of the Debian suite $KILN_FACT_SUITE: apt.conf, the
# sources and the keys that they name. Steps see that folder as /run/kiln/site/base while they run; nothing of it is in an image,
# which has Debian's own sources. So it is no matter to the bits how the packages came here. Runs on the build host.
inside=/run/kiln/site/base
command -v apt-get >/dev/null && command -v apt-config >/dev/null || exit 0

# Proxies, checks, patience. CaInfo names a file of this machine: kiln hands in the site's certificates itself. A program that
# finds the proxy is not in the image.
umask 077
apt-config dump --format '%F "%v";%n' Acquire |
  grep -E '^Acquire::([^ ]*::)?(Proxy|Check-Valid-Until|Check-Date|Verify-Peer|Verify-Host|Retries|Timeout)(::[^ ]*)? ' \
    >"$KILN_OUTPUT/apt.conf" || true

# Passwords that apt keeps apart from its sources.
netrc='' parts=''
eval "$(apt-config shell netrc Dir::Etc::netrc/f parts Dir::Etc::netrcparts/d)"
cat "$netrc" "$parts"/*.conf >"$KILN_OUTPUT/auth.conf" 2>/dev/null || true
echo "Dir::Etc::netrc \"$inside/auth.conf\";" >>"$KILN_OUTPUT/apt.conf"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
status=0
/bin/sh -eu ./package-sources.sh "$KILN_FACT_SUITE" "$work" >"$work/sources" || status=$?
case $status in
  0) ;;
  6) exit 0 ;; # no Debian archive here: the image's own sources count
  *) exit "$status" ;;
esac

# Keys that Debian's own package has not are handed in with the sources.
number=0
cp "$work/sources" "$KILN_OUTPUT/debian.sources"
sed -n 's/^Signed-By: *//p' "$work/sources" | tr -s ', ' '\n' | grep '^/' | grep -v '/debian-archive-' | sort -u >"$work/keys" || true
while IFS= read -r key; do
  number=$((number + 1))
  install -m 644 "$key" "$KILN_OUTPUT/key-$number.${key##*.}" # apt reads it as a user of its own
  sed -i "/^Signed-By:/s|$key\>|$inside/key-$number.${key##*.}|" "$KILN_OUTPUT/debian.sources"
done <"$work/keys"
# /etc/apt/sources.list is what the base has; sources.list.d is for what recipes add.
echo "Dir::Etc::SourceList \"$inside/debian.sources\";" >>"$KILN_OUTPUT/apt.conf"
