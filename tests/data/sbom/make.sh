#!/usr/bin/env bash
# Makes rpmdb.sqlite with the real rpmbuild and rpm (Debian: rpm 4.18, whose database is SQLite):
#
#   tests/data/sbom/make.sh FOLDER     FOLDER: where the database goes
#
# Three packages: two of one source package, one of which has an epoch and brings a Python package.
# apk-installed and conda-meta.json are not made by their tools, which Debian does not have: they are short examples by the
# formats' documentation (wiki.alpinelinux.org/wiki/Apk_spec, docs.conda.io/projects/conda/en/latest/dev-guide).
# dpkg-status and the copyright files are from a Debian 12 installation, cut to a few packages.
set -euo pipefail
folder=$(realpath "${1:?usage: tests/data/sbom/make.sh FOLDER}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >solver.spec <<'SPEC'
Name: solver
Version: 1.2
Release: 3.el9
Summary: Solves
License: BSD-3-Clause AND (GPL-2.0-or-later OR Artistic-2.0)
URL: https://solver.example/
Vendor: Example Linux
%description
Solves.
%package -n python3-solver
Epoch: 1
Summary: Solves in Python
License: GPLv2+ and Redistributable
%description -n python3-solver
Solves in Python.
%install
mkdir -p %{buildroot}/usr/lib/python3.9/site-packages/solver-1.2.dist-info %{buildroot}/usr/bin
printf 'Metadata-Version: 2.1\nName: solver\nVersion: 1.2\n' >%{buildroot}/usr/lib/python3.9/site-packages/solver-1.2.dist-info/METADATA
echo '#!/bin/sh' >%{buildroot}/usr/bin/solve
%files
/usr/bin/solve
%files -n python3-solver
/usr/lib/python3.9/site-packages/solver-1.2.dist-info
SPEC
cat >tiny.spec <<'SPEC'
Name: tiny
Version: 2.10
Release: 1
Summary: Tiny
License: Public Domain
%description
Tiny.
%files
SPEC
export SOURCE_DATE_EPOCH=1700000000
for spec in solver tiny; do
  rpmbuild -bb --quiet --define "_topdir $work/build" --define '_buildhost kiln' --target x86_64 $spec.spec
done
mkdir -p root/db
rpm --root "$work/root" --dbpath /db --install --nodeps --noscripts build/RPMS/x86_64/*.rpm
cp root/db/rpmdb.sqlite "$folder/rpmdb.sqlite"
