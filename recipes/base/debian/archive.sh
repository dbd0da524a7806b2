#!/bin/sh -eu
# Prints on one line what the Debian archives hold that rootfs.sh would read now: each suite with its point release, if
# it has one, and 12 hex digits that change when its package index does (its date changes several times a day).
#   trixie 13.7 4f2c68d67001, trixie-security 13 14d70c73524a, trixie-updates 13-updates 7f1dd99bbd1a
# KILN_ARCHITECTURE is OCI's word for the architecture, by default this machine's. apt checks the archives' signatures.
case ${KILN_ARCHITECTURE:=$(dpkg --print-architecture)} in
  ppc64le) architecture=ppc64el ;;
  *) architecture=$KILN_ARCHITECTURE ;;
esac
folder=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$work/sources" "$work/parts" "$work/lists/partial" "$work/cache/archives/partial"
/bin/sh -eu "$folder/package-sources.sh" "$KILN_FACT_SUITE" "$work/sources" >"$work/parts/kiln.sources"

# Only the signed lists of what there is; not the package indexes themselves.
apt-get -qq update >&2 \
  -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" \
  -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \
  -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o APT::Update::Error-Mode=any \
  -o Acquire::IndexTargets::deb::Packages::DefaultEnabled=false \
  -o Acquire::IndexTargets::deb::Translations::DefaultEnabled=false

for release in "$work"/lists/*Release; do
  index=$(grep -oE "[0-9a-f]{64} +[0-9]+ main/binary-$architecture/Packages\$" "$release" | cut -c 1-12) || true
  [ -n "$index" ] || { echo "archive.sh: no index of packages for $architecture in ${release##*/}" >&2; exit 1; }
  field() { sed -n "s/^$1: *//p" "$release" | head -n 1; }
  suite=$(field Codename)
  version=$(field Version)
  echo "$suite${version:+ $version} $index"
done >"$work/state"
sort -u "$work/state" | paste -s -d , | sed 's/,/, /g'
