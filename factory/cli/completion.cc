// kiln completion: what makes bash, zsh and fish ask `kiln __complete` what may stand at the cursor.
#include <fmt/format.h>

#include "factory/cli/invocation.h"
#include "factory/cli/options_text.h"
#include "factory/cli/print.h"

namespace kiln {
namespace {

// bash splits words at = and : too, which patterns, tags and `--name=value` hold: they are put together again
// by the blanks between them, and what bash takes for an earlier word is cut off the answers.
constexpr const char* kBash =
    R"bash(# bash completion for kiln: source it, or put it into /usr/share/bash-completion/completions/kiln
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
)bash";

constexpr const char* kZsh = R"zsh(#compdef kiln
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
)zsh";

constexpr const char* kFish =
    R"fish(# fish completion for kiln: put it as kiln.fish into a folder of $fish_complete_path
function __kiln_complete
    set -l words (commandline -opc)
    set -l lines ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct)
    end
    if test (count $lines) -gt 1
        printf '%s\n' $lines[2..-1]
    end
end
complete -c kiln -f -a '(__kiln_complete)'
)fish";

}  // namespace

CLI::App* add_completion(CLI::App& app, Invocation&) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print the completion of a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "source <(kiln completion bash)\nkiln completion fish > ~/.config/fish/completions/kiln.fish");
  command->callback([shell] { print_bytes(*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish); });
  return command;
}

}  // namespace kiln
