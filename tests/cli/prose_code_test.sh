#!/usr/bin/env bash
# ci/prose reads the program as well: literals of messages, comments of headers, passive sentences, and the ceilings of each.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$KILN_SOURCE/ci/prose" "$KILN_SOURCE/ci/prose.d" .
ceilings() { # ceilings PASSIVE PHRASES SUBJECTS: of the copy, for all kinds
  sed -i -E "/^PASSIVE_UNDER/s/: [0-9.]+/: $1/g; /^MOST_FINDINGS/s/(\"phrase\"\)): [0-9]+/\1: $2/g; /^MOST_FINDINGS/s/(\"subject\"\)): [0-9]+/\1: $3/g" prose
}
prose() { "$KILN_PYTHON" -B ./prose --root "$work/tree" "$@"; }
mkdir -p tree/docs tree/factory/room tree/registry
echo 'kiln reads a page of words.' >tree/README.md
ceilings 1.0 0 0

# No language: short literals, raw strings, SQL, a quote as a character, comments of sources, strings and code of headers.
cat >tree/factory/room/clean.cc <<'CC'
#include "whoever/stands/behind/it.h"
// Nobody reads the comment of a source.
const char* words[] = {"at all", "it tells\n", "a %s", R"(nobody reads what is had in a raw string)"};
const char* sql = "SELECT name FROM images WHERE tells = 1";
const char quote = '"'; const int size = 1'000;
fail("kiln cannot read the file", "run `nobody tells at all` again");
CC
cat >tree/registry/clean.h <<'H'
// Reads a file of `whoever` it names.
//
//     nobody reads this code
#include "factory/room/clean.h"
const char* text = "nobody tells it at all";  // the text
int a;  // a number
        // of things
H
expect 0 prose
equals "$out$err" ''

# Literals that the compiler joins are one text, with the line of each part. A line of the text is a text of its own.
cat >tree/factory/room/faults.cc <<'CC'
fail(fmt::format("the file '{}' of this recipe "
                 "is not there, and "
                 "nobody wrote it",
                 name),
     "what it is worth:\n"
     "whoever needs the file makes one");
CC
cat >tree/registry/faults.h <<'H'
// Reads it. What is read
// stands in memory.
int a;  // the length of all of it, of
        // its own line
/* The form of C: it
 * tells what
 * it is. */
H
expect 1 prose
equals "$out" "factory/room/faults.cc:2: 'is not there'; write: is missing
factory/room/faults.cc:3: 'nobody'; write: no user, no process
factory/room/faults.cc:6: 'whoever'; write: the user, the administrator, the process
all messages: 3 findings of the rule 'phrase', more than 0; write plainly (ci/prose --all)
factory/room/faults.cc:5: a sentence begins with 'what'; name the thing
factory/room/faults.cc:6: a sentence begins with 'whoever'; name the actor
all messages: 2 findings of the rule 'subject', more than 0; write plainly (ci/prose --all)
registry/faults.h:2: 'stands in'; write: is in, replaces
registry/faults.h:3: 'of its own'; write: a separate …, its …
registry/faults.h:6: 'tells'; write: reports, prints, shows
all comments: 3 findings of the rule 'phrase', more than 0; write plainly (ci/prose --all)
registry/faults.h:1: a sentence begins with 'What'; name the thing
all comments: 1 findings of the rule 'subject', more than 0; write plainly (ci/prose --all)"

# A ceiling permits so many and no more; --all shows them. Beyond 20, the findings are shown by --all only.
ceilings 1.0 3 2
expect 0 prose
equals "$out" ''
expect 0 prose --all
equals "$(grep -c '; write: \|a sentence begins' "$work/.out")" 9
ceilings 1.0 2 2
expect 1 prose
equals "$(wc -l <"$work/.out")" 8
ceilings 1.0 22 2
for ((i = 0; i < 20; ++i)); do echo "// It tells the reader number $i."; done >tree/registry/many.h
expect 1 prose
equals "$out" "all comments: 23 findings of the rule 'phrase', more than 22; write plainly (ci/prose --all)"
expect 1 prose --all
holds "$out" "registry/many.h:20: 'tells'"
rm tree/registry/many.h

# Pages are read alone when they are named. Their ceiling is not asked then.
expect 0 prose tree/README.md
rm tree/factory/room/faults.cc tree/registry/faults.h

# The share of passive sentences: two of four.
ceilings 0.51 0 0
cat >tree/README.md <<'MD'
The file is read by kiln. A step was not automatically run again. kiln is unknown here. It had read the file.
MD
expect 0 prose
expect 0 prose --counts
holds "$out" '     0         0   50.00%  pages'
ceilings 0.5 0 0
expect 1 prose
equals "$out" 'all pages: 50.00% of the sentences are passive, not under 50.00%; name the actor (ci/prose --all)'
expect 1 prose --all
holds "$out" "README.md:1: 'is read'; name the actor
README.md:1: 'was not automatically run'; name the actor"
echo 'prose of code: ok'
