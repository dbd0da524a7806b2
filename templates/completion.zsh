#compdef kiln
# zsh completion for kiln: put it as _kiln into a folder of $fpath, or source it after compinit
_kiln() {
  local -a lines described
  local line value kind
  lines=("${(@f)$(${~words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[1]
  for line in "${(@)lines[2,-1]}"; do
    [[ -n $line ]] || continue
    value=${line%%$'\t'*}
    described+=("${value//:/\\:}:${line#*$'\t'}")
  done
  (( $#described )) && _describe -V kiln described -Q
  case $kind in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _kiln ]]; then _kiln "$@"; else compdef _kiln kiln; fi
