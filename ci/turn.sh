# shellcheck shell=bash # for the scripts of ci/ that source this, in the root of the tree
# Prints those of the names on stdin whose turn it is: each belongs to one of three groups by its checksum, and ci/turn is a number.
# Three landings in a row, each with a number larger by one, have all names.
whose_turn() {
  local name sum turn
  turn=$(<ci/turn)
  while read -r name; do
    sum=$(cksum <<<"$name")
    if (((${sum%% *} + turn) % 3 == 0)); then echo "$name"; fi
  done
}
