"""Each cell has the requirements files that its scripts read, and no other: requirements_read.py KILN RECIPES FOLDER MATRIX…

A script that has requirements files, or speaks of them, is run as each cell has it: with the files and the parameters of its
step, by a shell that finds a `python3` and a `python2.7` which note what `-r` names, a few programs on files, and for every other command one
that does nothing. Paths of the image lead below FOLDER. What the steps of one component have in a cell is then compared with
what they read.
"""
import concurrent.futures, functools, json, pathlib, re, shutil, subprocess, sys

kiln, recipes, folder, *matrices = sys.argv[1:]
recipes, folder = pathlib.Path(recipes), pathlib.Path(folder).absolute()
BASH = shutil.which("bash")
REQUIREMENTS = re.compile(r"requirements[^/]*\.txt")
FLAGS = {"CFLAGS", "CXXFLAGS", "FFLAGS", "LDFLAGS", "KILN_BAZEL_COPTS", "KILN_BAZEL_LINKOPTS"}  # decide on no file
# Of the shell that runs the scripts: what an archive or a download would have brought is there.
SHELL = "command_not_found_handle() { :; }\ncd() { mkdir -p \"$1\"; builtin cd \"$1\"; }\n"
PYTHON = f"#!{BASH}" + """
case "$1 $2" in
  "-c import sys; print("*) [ -n "$IMAGE_PYTHON" ] || exit 9; echo "$IMAGE_PYTHON"; exit ;;
  "-m venv") mkdir -p "$3/bin"; ln -sf "$0" "$3/bin/python3"; ln -sf "$0" "$3/bin/pip"; exit ;;
  "-m virtualenv") mkdir -p "${!#}/bin"; ln -sf "$0" "${!#}/bin/python2.7"; exit ;;
esac
while [ $# -gt 0 ]; do
  case $1 in
    -r) echo "$2" >>"$NOTES"; [ -r "$2" ] || exit 9 ;;
    --wheel-dir) mkdir -p "$2"; : >"$2/one.whl" ;;
  esac
  shift
done
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def moved(text, root):
    """A script, or a value, with the paths of the image below `root`; programs that a build makes are left out."""
    text = re.sub(r"(?<![\w.$}/*%#-])/(?=(?:bin|etc|opt|root|run|srv|tmp|usr|var)\b)", f"{root}/", text)
    return re.sub(r"^ *bazel-bin/", ": ", text, flags=re.M)


@functools.cache
def text_of(component, name):
    own = recipes / component / name
    return (own if own.is_file() else next((recipes / "shared").rglob(name))).read_text()


def names_read(number, component, script, files, parameters, python):
    """The requirements files that the script names as it runs; an error's text where it comes to no end."""
    root = folder / str(number)
    here, notes = root / "files", root / "notes"
    program(root / "usr/bin/python3", PYTHON)
    program(root / "usr/bin/python2.7", PYTHON)
    program(root / "bin/sh", f'#!{BASH}\nexec {BASH} "$@"\n')
    for name in ("awk", "cat", "grep", "ln", "mkdir", "mktemp"):
        (root / "bin" / name).symlink_to(shutil.which(name))
    (root / "bin/python3").symlink_to(root / "usr/bin/python3")
    for framework in (recipes / "framework").iterdir():
        program(root / "opt/kiln" / framework.name / "bin/python3", PYTHON)
        (root / "opt/kiln/wheels" / framework.name).mkdir(parents=True)
        (root / "opt/kiln/wheels" / framework.name / "one.whl").touch()
    (root / "tmp").mkdir()
    (root / "shell").write_text(SHELL)
    notes.touch()
    for name in files:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        text = text_of(component, name)
        (here / name).write_text(moved(text, root) if name.endswith(".sh") else text)
    environment = {name: moved(value, root) for name, value in parameters}
    environment |= {"PATH": f"{root}/bin", "TMPDIR": f"{root}/tmp", "BASH_ENV": f"{root}/shell", "NOTES": str(notes), "IMAGE_PYTHON": python,
                    "KILN_JOBS": "1", "SOURCE_DATE_EPOCH": "0"}
    done = subprocess.run([BASH, "-eu", here / script], env=environment, cwd=here, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    names = {name for name in notes.read_text().split() if "/" not in name}
    shutil.rmtree(root)
    absent = names - set(files)
    if absent:
        return f"{component}/{script} reads {', '.join(sorted(absent))}, which is not there"
    return f"{component}/{script} ends with {done.returncode}: {done.stderr}" if done.returncode else names


def steps_of(plan, cell):
    """Of each step that may read requirements files, all that decides which."""
    stages = [*cell["stages"], {"steps": cell["tests"]}]
    for stage in stages:
        steps = [plan["steps"][key] for key in stage["steps"]]
        python = next((step["version"] for step in steps if step["component"] == "toolchain/python"), "")
        for step in steps:
            if any(REQUIREMENTS.fullmatch(name) or "requirements" in text_of(step["component"], name) for name in step["files"]):
                parameters = sorted((name, "" if name in FLAGS else value) for name, value in step["parameters"].items())
                yield step["component"], step["script"], tuple(step["files"]), tuple(parameters), python


def main():
    show = [kiln, "--recipes", recipes, "show", "--stage", "plan", "-f"]
    plans = [json.loads(subprocess.run([*show, matrix], check=True, stdout=subprocess.PIPE).stdout) for matrix in matrices]
    cells = [(cell["id"], [*steps_of(plan, cell)]) for plan in plans for cell in plan["cells"]]
    runs = list(dict.fromkeys(step for _, steps in cells for step in steps))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        read = dict(zip(runs, pool.map(lambda one: names_read(one[0], *one[1]), enumerate(runs))))
    wrong = {}  # what → an example of a cell
    for cell, steps in cells:
        unread = {}
        for step in steps:
            component, script, files, *_ = step
            if isinstance(read[step], str):
                wrong.setdefault(read[step], cell)
                continue
            had, named = unread.setdefault(component, (set(), set()))
            had.update(name for name in files if REQUIREMENTS.fullmatch(name))
            named.update(read[step])
        for component, (had, named) in unread.items():
            for name in sorted(had - named):
                wrong.setdefault(f"{component}: no script reads {name}", cell)
    files = sum(len(names) for names in read.values() if not isinstance(names, str))
    print(f"{len(cells)} cells, {len(runs)} scripts run, {files} files read")
    sys.exit("\n".join(f"{what} (as in {cell})" for what, cell in sorted(wrong.items())) or 0)


main()
