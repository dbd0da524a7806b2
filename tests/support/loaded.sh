# shellcheck shell=bash
# A machine that is busy all the time: sourced after script.sh. kiln leaves out disturbed rounds of a bench if some are not
# disturbed, so on a machine that is busy now and then nobody knows how many rounds count. While load_machine() lasts, all do.
load_processes=()
load_machine() {
  for _ in $(seq $(($(nproc) / 8 + 2))); do
    setpriv --pdeathsig KILL sh -c 'while :; do :; done' &
    load_processes+=($!)
  done
}
relieve_machine() {
  [ ${#load_processes[@]} -eq 0 ] || kill "${load_processes[@]}" 2>/dev/null || true
  load_processes=()
}
at_exit relieve_machine
