#!/usr/bin/env bash
# ci/share-steps: the site file that a pipeline's jobs share steps by.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
share() { env -u STEPS_USER STEPS_KEY="${1:-}" STEPS_TRUST="${2:-}" "$KILN_SOURCE/ci/share-steps" HTTPS://Registry.site:5000/Group/steps; }
cp -r "$tiny" tiny

# Without a key nothing is shared, and the job goes on.
expect 0 share
[ ! -e site.json ] || fail 'a site file of nothing'
expect 2 "$KILN_SOURCE/ci/share-steps"

openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out site.pem 2>/dev/null
openssl pkey -in site.pem -pubout -out site.pub
expect 0 share "$(cat site.pem)" "$work/site.pub" # the one by its text, the other by its file
equals "$(stat -c %a .steps-key site.json)" $'600\n600'
cmp site.pem .steps-key
out=$(cat site.json)
equals "$(json 'it["steps"]')" "{'registry': 'https://registry.site:5000/group/steps', 'key': '$work/.steps-key', 'trust': ['$work/site.pub']}"
expect 0 "$KILN" plan -f tiny/tiny.json

# Who has a site file says it there.
expect 2 share "$(cat site.pem)"
holds "$err" 'there is a site file already'
rm site.json
KILN_SITE=other.json expect 2 share "$(cat site.pem)"
expect 0 share '' "$(cat site.pub)"
out=$(cat site.json)
equals "$(json 'sorted(it["steps"])')" "['registry', 'trust']"
expect 0 "$KILN" plan -f tiny/tiny.json

# Examples hand on what it needs.
for example in ci/gitlab/cells.yml ci/github/kiln-cells.yml; do
  holds "$(cat "$KILN_SOURCE/$example")" 'ci/share-steps "'
done
