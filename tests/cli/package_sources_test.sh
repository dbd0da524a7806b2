#!/usr/bin/env bash
# recipes/base/debian/package-sources.sh and archive.sh with the real apt on archives made here: which sources become the
# image's, and what kiln lock writes down about them.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
script=$KILN_SOURCE/recipes/base/debian/package-sources.sh

# make_archive PATH ORIGIN SUITE...: an archive with one package, as apt forgets suites that have none.
make_archive() {
  local archive=$work/$1 origin=$2 suite architecture
  architecture=$(dpkg --print-architecture)
  shift 2
  for suite in "$@"; do
    mkdir -p "$archive/dists/$suite/main/binary-$architecture"
    printf 'Package: a\nVersion: 1\nArchitecture: all\nFilename: a.deb\nSize: 1\n' \
      >"$archive/dists/$suite/main/binary-$architecture/Packages"
    (
      cd "$archive/dists/$suite"
      printf 'Origin: %s\nSuite: %s\nCodename: %s\nArchitectures: %s\nComponents: main\nDate: %s\nSHA256:\n' \
        "$origin" "$suite" "$suite" "$architecture" "$(date -Ru)"
      find main -type f -printf '%P %s\n' | while read -r name size; do
        printf ' %s %s main/%s\n' "$(sha256sum "main/$name" | cut -d' ' -f1)" "$size" "$name"
      done
    ) >"$work/Release"
    mv "$work/Release" "$archive/dists/$suite/Release"
  done
}

# A machine: `$machine/etc/apt` is all that its apt reads. use_machine NAME makes it and points apt at it.
use_machine() {
  machine=$work/$1
  mkdir -p "$machine"/etc/apt/{sources.list.d,apt.conf.d,preferences.d,trusted.gpg.d,auth.conf.d} "$machine"/{lists/partial,cache/archives/partial}
  cat >"$machine/apt.conf" <<CONF
Dir::Etc "$machine/etc/apt";
Dir::State::Lists "$machine/lists";
Dir::Cache "$machine/cache";
APT::Sandbox::User "root";
CONF
  export APT_CONFIG=$machine/apt.conf
}

translate() {
  local folder
  folder=$(mktemp -d -p "$work")
  sh -eu "$script" trixie "$folder"
}

expect() {
  diff -u <(printf '%s\n\n' "$1") <(printf '%s\n\n' "$2") >&2 || fail "$3"
}

make_archive debian Debian bookworm bookworm-updates bookworm-backports trixie
make_archive security Debian bookworm-security
make_archive vendor Vendor bookworm

use_machine one-line
cat >"$machine/etc/apt/sources.list" <<LIST
# deb [trusted=yes] file:$work/elsewhere bookworm main
deb [arch=$(dpkg --print-architecture) trusted=yes] file:$work/debian/ bookworm main
deb [trusted=yes] file:$work/debian bookworm-backports main
deb [trusted=yes] file:$work/vendor bookworm main
LIST
expect "Types: deb
URIs: file:$work/debian
Suites: trixie
Components: main
Trusted: yes" "$(translate)" "one-line source"

use_machine deb822
cat >"$machine/etc/apt/sources.list.d/vendor.sources" <<LIST
Types: deb
URIs: file:$work/vendor
Suites: bookworm
Components: main
Trusted: yes
LIST
cat >"$machine/etc/apt/sources.list.d/debian.sources" <<LIST
# A comment on its own.

Types: deb
# A comment inside.
URIs: file:$work/debian/
Suites: bookworm bookworm-updates
Components: main
Trusted: yes

Types: deb
URIs: file:$work/security
Suites: bookworm-security
Components: main
Trusted:  yes
LIST
expect "Types: deb
URIs: file:$work/debian
Suites: trixie
Components: main
Trusted: yes

Types: deb
URIs: file:$work/debian
Suites: trixie-updates
Components: main
Trusted: yes

Types: deb
URIs: file:$work/security
Suites: trixie-security
Components: main
Trusted:  yes" "$(translate)" "deb822 sources with security and updates"

use_machine suite-itself
cat >"$machine/etc/apt/sources.list" <<LIST
deb [trusted=yes] file:$work/security bookworm-security main
deb [trusted=yes] file:$work/debian trixie main
LIST
expect "Types: deb
URIs: file:$work/debian
Suites: trixie
Components: main
Trusted: yes" "$(translate)" "sources that name the suite itself win"

use_machine no-debian
echo "deb [trusted=yes] file:$work/vendor bookworm main" >"$machine/etc/apt/sources.list"
if translate 2>"$work/error"; then fail "a vendor's archive was taken for Debian"; fi
grep -q "none of this machine's apt sources is a Debian archive" "$work/error" || fail "no clear message: $(cat "$work/error")"

# Without package lists and with them, the answer is the same.
use_machine lists
echo "deb [trusted=yes] file:$work/debian bookworm main" >"$machine/etc/apt/sources.list"
without=$(translate)
apt-get update -qq
[[ -n $(ls "$machine/lists"/*Release) ]] || fail "the machine has no lists"
expect "$without" "$(translate)" "with package lists"

# The state of the archives: a suite each, changed by its packages and not by its date.
state() { KILN_FACT_SUITE=trixie sh -eu "$KILN_SOURCE/recipes/base/debian/archive.sh"; }
use_machine state
cat >"$machine/etc/apt/sources.list" <<LIST
deb [trusted=yes] file:$work/debian trixie main
deb [trusted=yes] file:$work/updates trixie-updates main
LIST
make_archive updates Debian trixie-updates
index=$(sha256sum "$work/debian/dists/trixie/main/binary-$(dpkg --print-architecture)/Packages" | cut -c 1-12)
before=$(state)
expect "trixie $index, trixie-updates $index" "$before" "state of two suites"
edit 's/^Date: .*/Date: Thu, 01 Jan 2026 00:00:00 UTC/' "$work/debian/dists/trixie/Release"
expect "$before" "$(state)" "a new date changes nothing"
printf '\nPackage: b\nVersion: 2\nArchitecture: all\nFilename: b.deb\nSize: 1\n' >"$work/more"
architecture=$(dpkg --print-architecture)
cat "$work/more" >>"$work/debian/dists/trixie/main/binary-$architecture/Packages"
(
  cd "$work/debian/dists/trixie"
  edit '/^ /d' Release
  printf ' %s %s main/binary-%s/Packages\n' "$(sha256sum "main/binary-$architecture/Packages" | cut -d' ' -f1)" \
    "$(stat -c %s "main/binary-$architecture/Packages")" "$architecture" >>Release
)
[[ $(state) != "$before" ]] || fail "a new package does not show in the state"
if KILN_ARCHITECTURE=s390x state >/dev/null 2>"$work/error"; then fail "an architecture that the archive lacks"; fi
rm -r "$work/updates"
if state >/dev/null 2>"$work/error"; then fail "an archive that is gone was passed over"; fi

# rootfs.sh refuses archives that moved on since they were locked, before it builds anything.
if KILN_FACT_SUITE=trixie KILN_ARCHIVE='trixie 000000000000' KILN_OUTPUT=$work/rootfs.tar \
  sh -c 'cd "$0" && exec sh -eu rootfs.sh' "$KILN_SOURCE/recipes/base/debian" 2>"$work/error"; then
  fail "rootfs.sh took archives that moved on"
fi
[[ ! -e $work/rootfs.tar ]] || fail "rootfs.sh wrote something"
echo "sources are translated as they should be"
