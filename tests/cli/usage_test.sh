#!/usr/bin/env bash
# The command line: help that reads well, errors in kiln's own words, and no option that is passed over in silence.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
matrix=$tiny/tiny.json

# Every command has one sentence, a usage line and an example, in 110 columns; from its own manual page comes its name.
commands() { # commands NAME…: the commands below it, from its help
  "$KILN" "$@" --help | sed -n '/^Commands.*:$/,/^$/s/^  \([a-z]*\) .*/\1/p'
}
look_at() {
  expect 0 "$KILN" "$@" --help
  equals "$(head -n 1 <<<"$out" | grep -c '^[A-Z].*[^.]\.$')" 1
  holds "$out" "Usage: kiln $*"
  holds "$out" 'Examples:'
  holds "$(grep -A 1 '^Examples:' <<<"$out" | tail -n 1)" "kiln $*"
  [ "$(wc -L <<<"$out")" -le 110 ] || fail "lines of over 110 columns in: kiln $* --help"
  expect 0 "$KILN" man "$@"
  expect 2 "$KILN" "$@" --state s --no-such-option # what every command takes is taken behind it, too
  holds "$err" "kiln $* has no option '--no-such-option'"
}
for command in $(commands); do
  look_at "$command"
  for sub in $(commands "$command"); do look_at "$command" "$sub"; done
done
expect 0 "$KILN" --help
equals "$(grep -c '^Commands for ' <<<"$out")" 10
holds "$(grep -A 2 '^Commands for builds:' <<<"$out")" '  build '
holds "$out" 'KILN_STATE'
holds "$out" '130  interrupted'
lacks "$out" __complete

# What was not written is not an answer; a reader who has seen enough is no failure.
full() { "$KILN" "$@" >/dev/full; }
head_of() { "$KILN" "$@" | true; }
for words in --help --version 'plan --help' 'man plan' 'completion bash' '__complete kiln pl' 'schema site'; do
  # shellcheck disable=SC2086  # words
  expect 8 full $words
  holds "$err" 'error: '
  # shellcheck disable=SC2086
  expect 0 head_of $words
done

# Wrong words, options and values.
says() { # says MESSAGE ARGUMENTS…: exit status 2, and exactly this one line
  local message=$1
  shift
  expect 2 "$KILN" "$@"
  equals "$err" "error: $message"
  equals "$out" ''
}
says "kiln has no command 'bulid'; did you mean 'build'?" bulid
says "kiln index has no command 'lst'; did you mean 'list'?" index lst
# The options of a misspelt command are unknown because it is.
says "kiln has no command 'buld'; did you mean 'build'?" buld -f x
says "kiln has no command 'buld'; did you mean 'build'?" buld --file=x -j 2
says "kiln has no command 'nonsense'; see \`kiln --help\`" nonsense -f x
says "kiln has no command 'buld'; did you mean 'build'?" -f x buld
says "kiln index has no command 'lst'; did you mean 'list'?" index lst --json
says "kiln has no option '--fromat'; see \`kiln --help\`" --fromat json
says "'-f' is before 'build', and is an option of it; write it after the command: kiln build -f ..." -f x build
says "'--format' is before 'list', and is an option of it; write it after the command: kiln index list --format ..." index --format json list
# Help for a word that is no command would say that there is one.
says "kiln has no command 'nonsense'; see \`kiln --help\`" nonsense --help
says "kiln index has no command 'lst'; did you mean 'list'?" index lst --help
says "kiln index needs a command; see \`kiln index --help\`" index
says "kiln doctor takes no argument 'all'; see \`kiln doctor --help\`" doctor all
says "kiln plan has no option '--formt'; did you mean '--format'?" plan -f "$matrix" --formt json
says "kiln plan has no option '--stat'; did you mean '--state'?" --stat x plan
says "--format: expected table, json, github, gitlab, found 'jsn'; did you mean 'json'?" plan -f "$matrix" --format jsn
says "--graph needs a value: GRAPH; dot, mermaid" plan -f "$matrix" --graph
says "--jobs: expected a number from 1 to 1024, found '0'" build -f "$matrix" -j 0
says "SHELL: expected bash, zsh, fish, found 'zish'; did you mean 'zsh'?" completion zish
says '--file is required; usage: kiln plan -f FILE [OPTIONS] [CELL...]' plan

# Options that would be passed over.
says '--format and --output do not go together; --output writes both files of each cell' \
  generate -f "$matrix" --format dockerfile -o out
says "--dry-run and --format do not go together; \`kiln plan --format json\` has the states of all cells and steps" \
  build -f "$matrix" -n --format json
says '--keep-going and --fail-fast do not go together' build -f "$matrix" -k --fail-fast
says '--json and --explain do not go together; the JSON answer holds the reasons' select --dsl x --json --explain
says '--stage and --flags do not go together; --flags prints a separate table' show -f "$matrix" --stage expand --flags
says '--graph and --format do not go together; a graph has a separate format' \
  plan -f "$matrix" --graph dot --format json
says "--explain and --format json do not go together; --format json holds every reason under 'why'" \
  plan -f "$matrix" --explain --format json
says '--chunk goes with --format github' plan -f "$matrix" --chunk 1
says '--output - does not work: a SIF file is written out of order; name a file, and read that' sif oci:x -o -
says "-o, --output and 'list' do not go together; it is an option of \`kiln sif\` itself" sif -o x list y
says "--rounds and 'import' do not go together; it is an option of \`kiln bench\` itself" bench import x --rounds 3
says "kiln bench import takes no argument 'y'; see \`kiln bench import --help\`" bench import x y
says 'COMMAND and --output do not go together; --output writes all pages' man plan -o out
[ ! -e out ] || fail 'something was written'

# One wording and one exit code for what is not there.
missing() { # missing MESSAGE ARGUMENTS…
  local message=$1
  shift
  expect 3 "$KILN" "$@"
  equals "$err" "error: $message"
}
echo '{}' >demo.json
missing "there is no file 'dem.json'; did you mean 'demo.json'?" plan -f dem.json
missing "there is no file 'dem.json'; did you mean 'demo.json'?" select --dsl dem.json
missing "there is no file 'dem.json'; did you mean 'demo.json'?" index import dem.json
missing "there is no file 'dem.json'; did you mean 'demo.json'?" --site dem.json plan -f "$matrix"
missing "there is no file 'dem.json'; did you mean 'demo.json'?" sif list dem.json
missing "there is no file 'dem.json'; did you mean 'demo.json'?" sif oci-archive:dem.json -o x.sif
missing "there is no folder 'nowhere'" sif oci:nowhere -o x.sif
missing "there is no folder 'nowhere'" --recipes nowhere plan -f "$matrix"
missing "there is no folder 'nowhere'" -C nowhere plan -f "$matrix"
missing "'$tiny' is a folder" plan -f "$tiny"

# A comma that was forgotten is named where it is missing.
printf '{\n  "name": "x"\n  "axes": {}\n}\n' >comma.json
expect 3 "$KILN" plan -f comma.json --recipes "$tiny/recipes"
equals "$err" "comma.json:2:14: error: not valid JSON: expected ',' or '}' after this value; found a string literal at 3:3"

# The environment stands for options that are not given.
expect 0 env KILN_FILE="$matrix" KILN_STATE=elsewhere "$KILN" plan --format json
equals "$(json 'it["name"]')" tiny
expect 2 env KILN_COLOR=purple "$KILN" doctor
holds "$err" "--color: expected auto, always, never, found 'purple'"
expect 2 env KILN_JOBS=many "$KILN" build -f "$matrix"
equals "$err" "error: KILN_JOBS: expected a number from 1 to 1024, found 'many'"
expect 0 env KILN_JOBS=many "$KILN" plan -f "$matrix"

# Manual pages: groff has nothing to say about any of them.
expect 0 "$KILN" man -o pages
for page in kiln kiln-plan kiln-index-list; do [ -s "pages/$page.1" ] || fail "no page $page"; done
expect 2 "$KILN" man plam
holds "$err" "did you mean 'plan'?"
command -v groff >/dev/null || { echo 'no groff: manual pages not read'; exit 0; }
for page in pages/*.1; do
  expect 0 groff -ww -z -man -Tutf8 "$page"
  equals "$err" ''
done
groff -man -Tascii -P-cbou pages/kiln-plan.1 >plan.txt
holds "$(cat plan.txt)" "'compiler=*xla*'"
holds "$(cat plan.txt)" '--exclude'
echo "usage: all in kiln's own words"
