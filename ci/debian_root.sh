# shellcheck shell=bash
# Programs that Debian 12 lacks, in root folders of their own made from Debian's packages: sourced by ci/apptainer and ci/skopeo.
# The package source is the one of this machine's apt, with its key ring, proxy and certificates.

# fail WORDS CODE: 2 usage, 5 something is missing, 6 the package source cannot be reached.
fail() {
  echo "ci/$(basename "$0"): $1" >&2
  exit "$2"
}

# Prints `URI<TAB>keyring` of the first Debian source of this machine; keyring is empty when none is named by path.
debian_source() {
  local codename
  codename=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
  {
    # shellcheck disable=SC2016  # awk's own fields
    # deb822: a stanza of "Field: value" lines, ended by an empty line or the end of the file.
    find /etc/apt/sources.list.d -name '*.sources' -print0 2>/dev/null | sort -z |
      xargs -0 -r awk -v codename="$codename" '
        function flush() {
          if (types ~ /(^| )deb( |$)/ && enabled != "no" && (" " suites " ") ~ (" " codename " ") &&
              (" " components " ") ~ / main /) {
            split(uris, uri, " ")
            print uri[1] "\t" (key ~ /^\// ? key : "")
          }
          types = uris = suites = components = key = enabled = ""
        }
        function value(line) { sub(/^[^:]*:[ \t]*/, "", line); sub(/[ \t\r]+$/, "", line); return line }
        FNR == 1 && NR > 1 { flush() }
        /^[ \t\r]*$/ { flush(); next }
        /^Types:/ { types = value($0) }
        /^URIs:/ { uris = value($0) }
        /^Suites:/ { suites = value($0) }
        /^Components:/ { components = value($0) }
        /^Signed-By:/ { key = value($0) }
        /^Enabled:/ { enabled = tolower(value($0)) }
        END { flush() }' || true
    # One line a source: deb [options] URI suite component...
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
      awk -v codename="$codename" '
        $1 == "deb" {
          key = ""
          line = $0
          if (match(line, /\[[^]]*\]/)) {
            options = substr(line, RSTART + 1, RLENGTH - 2)
            sub(/\[[^]]*\]/, "", line)
            if (match(options, /signed-by=[^ ,]*/)) key = substr(options, RSTART + 10, RLENGTH - 10)
          }
          n = split(line, word, " ")
          for (i = 4; i <= n; i++)
            if (word[3] == codename && word[i] == "main") { print word[2] "\t" key; break }
        }' || true
  } | head -n 1
}

# The options of this machine's apt that decide whether a source can be reached, one a line.
apt_options() {
  apt-config dump | grep -E '^Acquire::((http|https)::|Retries|Check-Valid-Until|Check-Date)' | grep -v '""' || true
  if [ -e /etc/apt/auth.conf ]; then echo 'Dir::Etc::netrc "/etc/apt/auth.conf";'; fi
  if [ -d /etc/apt/auth.conf.d ]; then echo 'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";'; fi
}

# make_debian_root SUITE FOLDER OPTION...: FOLDER, made by mmdebstrap with these OPTIONs.
make_debian_root() {
  local suite=$1 folder=$2 uri key option options=()
  shift 2
  IFS=$'\t' read -r uri key < <(debian_source) || fail 'apt names no Debian source with the component "main"' 6
  while IFS= read -r option; do options+=("--aptopt=$option"); done < <(apt_options)
  mmdebstrap "${options[@]}" "$@" "$suite" "$folder" "deb ${key:+[signed-by=$key] }$uri $suite main" >&2 ||
    fail "mmdebstrap failed for $uri" 6
}

# is_complete FOLDER
is_complete() { [ -e "$1/.complete" ]; }

# install_once FOLDER COMMAND: COMMAND makes what is to be FOLDER in the folder that is its argument, which is not there yet.
# One at a time, and made aside and renamed, so that a killed run leaves nothing that looks finished.
install_once() {
  local folder=$1 command=$2
  command -v mmdebstrap >/dev/null || fail 'mmdebstrap is not installed (apt-get install mmdebstrap)' 5
  mkdir -p "$(dirname "$folder")"
  exec 9>"$folder.lock"
  flock 9
  if is_complete "$folder"; then
    echo "ci/$(basename "$0"): $folder is complete" >&2
    return
  fi
  rm -rf --one-file-system "$folder" "$folder.new"
  "$command" "$folder.new"
  : >"$folder.new/.complete"
  mv "$folder.new" "$folder"
}
