#!/bin/sh -eu
# Bazel is the version asked for and builds a target.
trial=$(mktemp -d)
cd "$trial"
: >WORKSPACE
printf 'genrule(name = "one", outs = ["one.txt"], cmd = "echo built > $@")\n' >BUILD
bazel=/opt/kiln/bazel/bin/bazel
version=$("$bazel" --output_user_root="$trial/cache" --batch version | sed -n 's/^Build label: //p')
case $version in
  "$KILN_VERSION" | "$KILN_VERSION"-*) ;;
  *) echo "bazel is ${version:-unknown}, not $KILN_VERSION" >&2; exit 1 ;;
esac
"$bazel" --output_user_root="$trial/cache" --batch build --spawn_strategy=local //:one
grep -qx built bazel-bin/one.txt
cd /
chmod -R u+w "$trial"
rm -rf "$trial"
echo "bazel $version builds"
