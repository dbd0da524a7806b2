# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# A second machine: a network namespace with a cable to this one and to nothing else. Sourced after script.sh and before
# registry.sh, whose registry is then reached by both.
#   $registry_address              of this machine, at its end of the cable
#   second COMMAND…                runs it there, in a folder and with a home of its own ($work/second), as root
# Without the right to make one (iproute2, root) the second machine shares this one's network, and says so.
mkdir -p "$work/second/home"
second_name=kiln-$$
# An address that no other test has at the moment: 198.18.0.0/15 is for tests of networks (RFC 2544).
second_net=198.18.$(($$ / 64 % 256)).$(($$ % 64 * 4))
registry_address=${second_net%.*}.$((${second_net##*.} + 1))
remove_second() {
  ip netns del "$second_name" 2>/dev/null || true
  ip link del "kiln$$" 2>/dev/null || true
}
at_exit remove_second
if ip netns add "$second_name" 2>/dev/null &&
  ip link add "kiln$$" type veth peer name uplink netns "$second_name" &&
  ip addr add "$registry_address/30" dev "kiln$$" && ip link set "kiln$$" up &&
  ip -n "$second_name" addr add "${second_net%.*}.$((${second_net##*.} + 2))/30" dev uplink &&
  ip -n "$second_name" link set uplink up && ip -n "$second_name" link set lo up; then
  second_network=(ip netns exec "$second_name")
else
  echo 'no network namespace here: the second machine has the network of the first' >&2
  registry_address=127.0.0.1
  second_network=()
fi
second() {
  # Nothing of this machine's home, and no place for its state.
  (cd "$work/second" && "${second_network[@]}" env -u KILN_STATE HOME="$work/second/home" XDG_CONFIG_HOME="$work/second/home/.config" \
    XDG_DATA_HOME="$work/second/home/data" XDG_CACHE_HOME="$work/second/home/cache" "$@")
}
