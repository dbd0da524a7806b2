#!/bin/sh -eu
# Prints deb822 sources for the Debian suite $1, made of this machine's own apt sources (one-line or deb822): where the machine
# fetches its Debian from, the suite is expected too. Sources that name the suite itself win: a site whose mirror keeps
# each release elsewhere lists it there. $2 is an empty folder to work in.
suite=$1
work=$2

# URI, suite and file of each source whose archive calls itself Debian (Origin), so a vendor's repository is never taken for it.
# Needs the archives' signed lists and no package index. The URI has the password that it may have. The $(…) are apt's.
# shellcheck disable=SC2016
targets() {
  apt-get "$@" indextargets --no-release-info --format '$(FILENAME)	$(METAKEY)	$(REPO_URI)	$(RELEASE)	$(SOURCESENTRY)' \
    'Created-By: Packages' | while IFS='	' read -r index name uri release entry; do
    archive=${index%"$(echo "$name" | tr / _)"}
    [ -e "${archive}InRelease" ] || [ -e "${archive}Release" ] || echo "$release" >>"$work/missing"
    for list in "${archive}InRelease" "${archive}Release"; do
      if [ -e "$list" ] && grep -qx 'Origin: *Debian' "$list"; then
        printf '%s\t%s\t%s\n' "${uri%/}" "$release" "${entry%:*}"
      fi
    done
  done | sort -u
}

# Where the machine keeps no lists, they are fetched into a private folder.
targets >"$work/targets"
if ! [ -s "$work/targets" ]; then
  mkdir -p "$work/lists/partial"
  set -- -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=root
  apt-get -qq "$@" update >&2 -o Acquire::IndexTargets::deb::Packages::DefaultEnabled=false \
    -o Acquire::IndexTargets::deb::Translations::DefaultEnabled=false -o APT::Update::Error-Mode=any
  rm -f "$work/missing"
  targets "$@" >"$work/targets"
  # apt passes over an archive that is trusted as it is.
  if [ -e "$work/missing" ]; then
    echo "package-sources.sh: no list of $(sort -u "$work/missing" | paste -s -d ' ') is where apt's sources say" >&2
    exit 1
  fi
fi
if ! [ -s "$work/targets" ]; then
  echo "package-sources.sh: none of this machine's apt sources is a Debian archive; add one (man sources.list)" >&2
  exit 6
fi

# The options Signed-By and Trusted of the entry of file $3 that has URI $1 and suite $2, as deb822 fields.
options_of() {
  case $3 in
    *.sources)
      grep -v '^#' "$3" | awk -v RS= -v uri="$1" -v suite="$2" '
        {
          split("", fields); name = ""
          count = split($0, lines, "\n")
          for (i = 1; i <= count; i++) {
            if (match(lines[i], /^[A-Za-z-]+:/)) {
              name = tolower(substr(lines[i], 1, RLENGTH - 1))
              fields[name] = substr(lines[i], RLENGTH + 1)
            } else fields[name] = fields[name] "\n" lines[i]
          }
          gsub(/[\/ \t\n]+( |$)/, " ", fields["uris"])
          if (index(" " fields["uris"] " ", " " uri " ") == 0) next
          gsub(/[ \t\n]+/, " ", fields["suites"])
          if (index(" " fields["suites"] " ", " " suite " ") == 0) next
          if ("signed-by" in fields) print "Signed-By:" fields["signed-by"]
          if ("trusted" in fields) print "Trusted:" fields["trusted"]
          exit
        }'
      ;;
    *)
      awk -v uri="$1" -v suite="$2" '
        $1 != "deb" {next}
        {
          options = ""
          if (match($0, /\[[^]]*\]/)) {
            options = substr($0, RSTART + 1, RLENGTH - 2)
            $0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
          }
          sub(/\/$/, "", $2)
          if ($2 != uri || $3 != suite) next
          count = split(options, words, /[ \t]+/)
          for (i = 1; i <= count; i++) {
            if (sub(/^signed-by=/, "", words[i])) print "Signed-By: " words[i]
            if (sub(/^trusted=/, "", words[i])) print "Trusted: " words[i]
          }
          exit
        }' "$3"
      ;;
  esac
}

awk -F'\t' -v suite="$suite" 'index($2, suite) == 1' "$work/targets" >"$work/exact"
[ -s "$work/exact" ] || cp "$work/targets" "$work/exact"

while IFS='	' read -r uri release file; do
  case $release in
    *-security) pocket=-security ;;
    *-updates) pocket=-updates ;;
    *-*) continue ;;  # backports and the like
    *) pocket= ;;
  esac
  options=$(options_of "$uri" "$release" "$file")
  case $options in
    *Signed-By:* | *Trusted:*) ;;
    *) options="Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" ;;
  esac
  printf 'Types: deb\nURIs: %s\nSuites: %s%s\nComponents: main\n%s\n\n' "$uri" "$suite" "$pocket" "$options"
done <"$work/exact"
