# bash completion for kiln: source it, or put it into /usr/share/bash-completion/completions/kiln
_kiln() {
  local rest=$COMP_LINE word current cut line value i
  local -a words=() lines=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $rest == [[:blank:]]* ]]; then words+=("$word"); else words[-1]+=$word; fi
    rest=${rest#"${rest%%[![:blank:]]*}"}
    rest=${rest#"$word"}
  done
  words=("${words[@]#[\'\"]}")
  words=("${words[@]%[\'\"]}")
  current=${words[-1]}
  cut=${current%"${COMP_WORDS[COMP_CWORD]#[\'\"=:]}"}
  COMPREPLY=()
  mapfile -t lines < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
  case ${lines[0]-} in
    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${current#"$cut"}") ;;
    folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${current#"$cut"}") ;;
  esac
  for line in "${lines[@]:1}"; do
    value=${line%%$'\t'*}
    COMPREPLY+=("${value#"$cut"}")
    [[ $value != *= ]] || compopt -o nospace
  done
}
complete -F _kiln kiln
