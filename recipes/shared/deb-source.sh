# shellcheck shell=sh
# For scripts that compile a source package of the distribution's (". ./deb-source.sh"), as apt finds and checks it:
#   deb_sources FOLDER                  apt knows source packages, too, wherever it finds packages; by lists in FOLDER; apt-get update comes next
#   deb_source PACKAGE VERSION          unpacks it to ./source, whatever the distribution's revision is; without its patches

deb_sources() {
  list='' parts=''
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  mkdir "$1/lists" # the same lists, in a folder of their own
  for file in "$list" "$parts"/*; do
    name=$1/lists/$(basename "$file")
    case $file in
      *.sources) sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$name" ;;
      *.list) sed -n 's/^deb /deb-src /p; /^deb /p' "$file" >"$name" ;;
    esac
  done
  {
    [ -z "${APT_CONFIG:-}" ] || cat "$APT_CONFIG"
    echo "Dir::Etc::SourceList \"/dev/null\"; Dir::Etc::SourceParts \"$1/lists\";"
  } >"$1/apt.conf"
  export APT_CONFIG="$1/apt.conf"
}

deb_source() {
  found=$(apt-cache showsrc --only-source "$1" | sed -n "s/^Version: \($2[+-].*\)/\1/p" | head -n 1)
  [ -n "$found" ] || { echo "deb-source.sh: this release has no source package $1 of $2" >&2; exit 3; }
  apt-get source -qq --download-only -o APT::Sandbox::User=root "$1=$found"
  dpkg-source --skip-patches -x "$1"_*.dsc source
}
