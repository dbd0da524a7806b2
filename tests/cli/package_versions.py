"""What the recipes' scripts say of the version strings of real distributions: package_versions.py SOURCE FOLDER

Each script is run up to its `apt-get install` with an apt that offers one version string of tests/data/package-versions.json:
there it goes on with the versions that the string is, and refuses the others with exit code 3. A recipe's script that compares
what apt offers and has no strings is a failure, too.
"""
import json, os, pathlib, re, subprocess, sys

source, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
INSTALLS = 42
apt = folder / "bin"
apt.mkdir(parents=True)
(apt / "apt-get").write_text(f'#!/bin/sh\n[ "$1" != install ] || exit {INSTALLS}\n')
(apt / "apt-cache").write_text('#!/bin/sh\n[ -z "$OFFERED" ] || echo "Version: $OFFERED"\n')
for program in apt.iterdir():
    program.chmod(0o755)

text = (source / "tests/data/package-versions.json").read_text()
strings = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
compared = {str(path.relative_to(source)) for path in (source / "recipes").glob("*/*/*.sh") if "apt-cache show --no-all" in path.read_text()}
wrong = [f"{script}: no strings" for script in sorted(compared - set(strings))]
wrong += [f"{script}: compares nothing" for script in sorted(set(strings) - compared)]
runs = 0
for script in sorted(compared & set(strings)):
    for one in strings[script]:
        for version, wanted in [(v, INSTALLS) for v in one["is"]] + [(v, 3) for v in one["not"]]:
            environment = {"PATH": f"{apt}:/usr/bin:/bin", "OFFERED": one["version"], "KILN_VERSION": version, "KILN_FACT_PACKAGE": "a"}
            done = subprocess.run(["/bin/sh", "-eu", source / script], env=environment, cwd=folder, capture_output=True, text=True)
            runs += 1
            if done.returncode != wanted or (wanted == 3 and version not in done.stderr):
                wrong.append(f"{script}: {one['release']} offers '{one['version']}': for {version} exit {done.returncode}, not {wanted}: {done.stderr.strip()}")
print(f"{len(compared)} scripts, {runs} version strings")
sys.exit("\n".join(wrong) or 0)
