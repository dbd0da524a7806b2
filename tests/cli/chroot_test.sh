#!/usr/bin/env bash
# In a bare chroot, whose root is no mount point, no container can be made: kiln says so, and what to do.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: not root'; exit 77; }

# A root of bind mounts; what is above the program and the sources is there by its own name.
mkdir root
cd root
mkdir -p usr etc proc dev tmp srv ".$KILN_SOURCE" ".$KILN_BUILD" ".$(dirname "$KILN")"
for link in bin sbin lib lib64; do ln -s "usr/$link" "$link"; done
cp -r "$tiny" srv/tiny
cp "$("$KILN_PYTHON" -c 'import archspec, pathlib; print(pathlib.Path(archspec.__file__).parent / "json/cpu/microarchitectures.json")')" srv
for folder in /usr /etc /dev "$KILN_SOURCE" "$KILN_BUILD" "$(dirname "$KILN")"; do mount --bind "$folder" ".$folder"; done
mount -t proc proc proc
cd ..
inside() {
  chroot root env -i PATH="$PATH" HOME=/srv TMPDIR=/tmp SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
    KILN_ARCHSPEC=/srv/microarchitectures.json "$KILN" -C /srv "$@"
}

expect 5 inside doctor
# shellcheck disable=SC2016  # as it is printed
remedy='make it one: `mount --bind DIR DIR` before `chroot DIR`'
holds "$(grep '^root folder' <<<"$out")" 'bare chroot'
holds "$(grep '^root folder' <<<"$out")" "$remedy"
expect 5 inside build -f tiny/tiny.json --only 'hello:2.10-distro-x86_64*'
holds "$out$err" '/ is no mount point here, as in a bare chroot: kiln cannot make containers'
lacks "$out$err" remount

# With the remedy it is found to be mounted.
unmount_all
mount --bind root root
cd root
for folder in /usr /etc /dev "$KILN_SOURCE" "$KILN_BUILD" "$(dirname "$KILN")"; do mount --bind "$folder" ".$folder"; done
mount -t proc proc proc
cd ..
inside doctor >doctor.txt || true # other tools may be missing
holds "$(grep '^root folder' doctor.txt)" 'mounted'
