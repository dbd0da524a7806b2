"""Reads job scripts again: directives as sbatch(1) and qsub(1) read them, the rest as words of a shell. It has no code of kiln."""
import shlex


class Malformed(Exception):
    """A directive that the scheduler would not take."""


def sbatch_words(line):
    """The words of a #SBATCH line: in quotes and outside them, a backslash takes the next character."""
    words, word, quote, escaped, inside = [], "", "", False, False
    for character in line:
        if escaped:
            word, escaped = word + character, False
        elif character == "\\":
            inside = escaped = True
        elif quote:
            if character == quote:
                quote = ""
            else:
                word += character
        elif character in "'\"":
            quote, inside = character, True
        elif character == "#":
            break
        elif character.isspace():
            if inside:
                words.append(word)
            word, inside = "", False
        else:
            word, inside = word + character, True
    if quote or escaped:
        raise Malformed(line)
    return words + ([word] if inside else [])


def qsub_words(line):
    """The words of a #PBS line: no escapes within quotes."""
    words, word, quote, inside = [], "", "", False
    for character in line:
        if quote:
            if character == quote:
                quote = ""
            else:
                word += character
        elif character in "'\"":
            quote, inside = character, True
        elif character in " \t":
            if inside:
                words.append(word)
            word, inside = "", False
        else:
            word, inside = word + character, True
    if quote:
        raise Malformed(line)
    return words + ([word] if inside else [])


def directives(script):
    """(option, value) in order, as far as a scheduler reads: to the first command."""
    found = []
    lines = script.split("\n")
    if lines[0] != "#!/bin/bash":
        raise Malformed(lines[0])
    for line in lines[1:]:
        if line.strip() and not line.startswith("#"):
            break
        if line.startswith("#SBATCH"):
            words = sbatch_words(line[len("#SBATCH"):])
            if len(words) != 1 or not words[0].startswith("--"):
                raise Malformed(line)
            option, _, value = words[0][2:].partition("=")
            found.append((option, value))
        elif line.startswith("#PBS"):
            words = qsub_words(line[len("#PBS"):])
            if len(words) not in (1, 2):
                raise Malformed(line)
            option, value = (words + [""])[:2]
            if option == "-l":
                option, _, value = value.partition("=")
            found.append((option.lstrip("-"), value))
        elif line.upper().startswith(("#BSUB", "# BSUB", "#SBATCH", "#PBS")):
            raise Malformed(line)
    return found


def commands(script):
    """All words behind the directives, as one list."""
    lines = script.split("\n")
    for line in lines[1:]:  # sbatch reads those of PBS and LSF behind commands, too
        if line.startswith(("#PBS", "#BSUB", "# BSUB", "#SBATCH")) and script.index("set -euo") < script.index("\n" + line):
            raise Malformed(line)
    first = next((i for i, line in enumerate(lines) if line and not line.startswith("#")), len(lines))
    # $'\n' is bash's word for an end of line, which shlex does not know.
    text = "\n".join(lines[first:]).replace("$'\\n'", "'\n'")
    return shlex.split(text, comments=True, posix=True)
