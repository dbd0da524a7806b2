#!/usr/bin/env bash
# ci/prose: each fault of a page's language is found with its line, and none in code, in links or in what a program wrote.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
prose() { "$KILN_PYTHON" -B "$KILN_SOURCE/ci/prose" --root "$work/tree" "$@"; }
mkdir -p tree/docs/formats
cat >tree/README.md <<'MD'
# A clean page

kiln builds images, e.g. for a cluster.
Run `kiln plan`, which writes no file.
A server <a id="beside"></a>behind a reverse proxy works.
Is it fast? What is it for?

- The first item has [a link](docs/page.md "beside") and `whoever at all`.
- The second
  item goes on.

  kiln reads its second paragraph as well.

      nobody reads this code

10. Two words:

    This is the paragraph of an item.

## What is a heading.
    nobody reads this code

```sh
# Whoever tells

# what is had
```

    $ nobody wants this
    whoever stands in for it

> There is none in a quotation, and a step leaves no process behind.

| what | use |
|---|---|
| `a \| beside` | what it does |
| three words here | kiln prints it. kiln also keeps it. |

Medians: <!-- figures:bench plan -->whoever, at all<!-- end --> of this table.

<!-- figures:tables -->
Whoever wants it tells it.
<!-- end -->
<!-- generated: kiln lint --list -->
Whoever wants it tells it.

Nobody.
<!-- end -->
<!-- Somebody wrote
at all. -->
See https://example.org/at/all/beside for the end.
MD
cp tree/README.md tree/docs/formats/clean.md
expect 0 prose
equals "$out$err" ''

# The table counts sentences of prose and full sentences of cells, and no labels.
expect 0 prose --counts tree/README.md
equals "$(tr -s ' ' <"$work/.out")" "$(printf 'sentences median 95 %% most page\n 14 5.5 13 13 README.md')"
expect 0 prose --counts
equals "$(sed 1d "$work/.out" | tr -s ' ')" "$(printf ' %s\n' '14 5.5 13 13 README.md' '14 5.5 13 13 docs/formats/clean.md' '28 5.5 13 13 all pages')"

# Each fault, with its line.
cat >tree/docs/faults.md <<'MD'
# Faults by themselves

Whoever builds an image is had. The step that wants
more ends by
itself.

- "What is built" tells nothing at all;
  the file is not there
  beside what stands in
  for it.
- (And somebody goes by the name of its own.)

| such as these | that which is behind it |
|---|---|
| are none | Who reads this cell? |
| Nobody reads [no one](x.md). | What is not a sentence |

Such as a fragment. What is a question?
MD
expect 1 prose
equals "$err" ''
equals "$out" "docs/faults.md:1: 'by themselves'; write: automatically, alone
docs/faults.md:3: 'Whoever'; write: the user, the administrator, the process
docs/faults.md:3: 'is had'; write: is available, exists, has
docs/faults.md:3: 'wants'; write: needs, requires
docs/faults.md:3: a sentence begins with 'Whoever'; name the actor
docs/faults.md:4: 'by itself'; write: automatically, alone
docs/faults.md:7: 'at all'; write: nothing: leave it out
docs/faults.md:7: 'tells'; write: reports, prints, shows
docs/faults.md:7: a sentence begins with 'What'; name the thing
docs/faults.md:8: 'is not there'; write: is missing
docs/faults.md:9: 'beside'; write: next to, in addition to
docs/faults.md:9: 'stands in'; write: is in, replaces
docs/faults.md:11: 'goes by'; write: depends on, uses
docs/faults.md:11: 'of its own'; write: a separate …, its …
docs/faults.md:11: 'somebody'; write: a user, another process
docs/faults.md:11: a sentence begins with 'somebody'; name the actor
docs/faults.md:13: 'behind'; write: after
docs/faults.md:13: 'that which'; write: the thing by its name
docs/faults.md:15: 'are none'; write: there is no …
docs/faults.md:16: 'Nobody'; write: no user, no process
docs/faults.md:16: 'no one'; write: no user, no process
docs/faults.md:16: a sentence begins with 'Nobody'; name the actor
docs/faults.md:18: a sentence begins with 'Such as'; join it to the sentence before"
rm tree/docs/faults.md

# Sentences that are too long: 17 words are a good median, and one sentence of 30 among 20.
words() { printf 'kiln%*s.\n' "$(($1 * 2 - 2))" '' | sed 's/  / x/g'; } # words N: a sentence of so many
page() { # page LONG COUNT: a page of 20 sentences, of which COUNT have LONG words, the others five
  for ((line = 1; line <= 20; ++line)); do words "$((line > 20 - $2 ? $1 : 5))"; done >tree/docs/long.md
}
page 17 20
expect 0 prose tree/docs/long.md
page 18 20
expect 1 prose tree/docs/long.md
equals "$out" "docs/long.md:1: the median sentence has 18 words, not under 18; one statement a sentence
all pages: a median of 18 words and a 95th percentile of 18, not under 18 and 30; split long sentences"
page 30 1
expect 0 prose tree/docs/long.md
page 29 2
expect 0 prose tree/docs/long.md
page 30 2
expect 1 prose tree/docs/long.md
equals "$out" "docs/long.md:19: a sentence of 30 words, one of 2 with 30 or more among 20; split it
docs/long.md:20: a sentence of 30 words, one of 2 with 30 or more among 20; split it
all pages: a median of 5 words and a 95th percentile of 30, not under 18 and 30; split long sentences"
expect 1 prose # the other pages have short ones, and it is this page that fails
equals "$(wc -l <"$work/.out")" 2
rm tree/docs/long.md

# One change at a time of the clean page: what is no language there is found where it is.
fails() { # fails SCRIPT FINDING…: after sed with the script exactly these findings
  sed "$1" tree/docs/formats/clean.md >tree/README.md
  expect 1 prose tree/README.md
  equals "$out" "$(printf 'README.md:%s\n' "${@:2}")"
}
fails '3s/e[.]g[.]/whoever/' "3: 'whoever'; write: the user, the administrator, the process"
fails '5s/a reverse proxy/the door/' "5: 'behind'; write: after"
fails '5s/<a id="beside">/beside/' "5: 'beside'; write: next to, in addition to"
fails '6s/for?/for./' "6: a sentence begins with 'What'; name the thing"
fails '8s/`//g' "8: 'at all'; write: nothing: leave it out" "8: 'whoever'; write: the user, the administrator, the process"
fails '14s/^ *//' "14: 'nobody'; write: no user, no process" "14: a sentence begins with 'nobody'; name the actor"
fails '18s/This/Who/' "18: a sentence begins with 'Who'; name the actor"
fails '20s/What/Beside/' "20: 'Beside'; write: next to, in addition to"
fails '20s/^#* //' "20: a sentence begins with 'What'; name the thing" "21: 'nobody'; write: no user, no process" \
  "21: a sentence begins with 'nobody'; name the actor"
fails '23d;27d' "23: 'Whoever'; write: the user, the administrator, the process" "23: 'tells'; write: reports, prints, shows" "25: 'is had'; write: is available, exists, has"
fails '32s/There is none/Who is/' "32: a sentence begins with 'Who'; name the actor"
fails '32s/There/Here/;32s/leaves/lets/' "32: 'behind'; write: after" "32: 'is none'; write: there is no …"
fails '36s/`//g' "36: 'beside'; write: next to, in addition to"
fails '36s/it does/it does./' "36: a sentence begins with 'what'; name the thing"
fails '39s/figures:/figure:/' "39: 'at all'; write: nothing: leave it out" "39: 'whoever'; write: the user, the administrator, the process"
fails '/^<!-- figures:tables/d' "41: 'Whoever'; write: the user, the administrator, the process" "41: 'tells'; write: reports, prints, shows" \
  "41: 'wants'; write: needs, requires" "41: a sentence begins with 'Whoever'; name the actor"
fails '/^<!-- Somebody/s/<!-- //;s/^at all[.] -->/at all./' "49: 'Somebody'; write: a user, another process" \
  "49: a sentence begins with 'Somebody'; name the actor" "50: 'at all'; write: nothing: leave it out"
fails '51s|https://example.org/at/all/beside|that at all|' "51: 'at all'; write: nothing: leave it out"

expect 2 prose tree/docs/absent.md
holds "$err" 'error: there is no page '
expect 2 prose --cheese
expect 0 prose --help
echo 'prose: ok'
