"""What the pipelines of ci/ run at night, each read by a reader of its language.

usage: nightly_pipelines.py SOURCE

Prints a JSON array of {"file", "environment", "script"}: the shell text that calls ci/nightly, whole, and the variables that the
pipeline sets for it. Exit code 1 and a line for each fault: a pipeline that can run twice at once, that keeps no state, or whose
report is not kept when the night is red. Runs in .cache/validators (ruamel.yaml, groovy-parser).
"""
import json
import pathlib
import re
import sys

from groovy_parser.parser import parse_and_digest_groovy_content
from ruamel.yaml import YAML

faults = []


def demand(file, holds, what):
    if not holds:
        faults.append(f"{file}: {what}")


def read_yaml(file):
    return YAML(typ="safe").load(file.read_text())


def of_github(file):
    document = read_yaml(file)
    (job,) = document["jobs"].values()
    demand(file, document["permissions"] == {}, "permissions beyond what its job asks for")
    demand(file, job["permissions"] == {"contents": "read"}, "permissions that a night does not need")
    demand(file, document["concurrency"] == {"group": "kiln-nightly", "cancel-in-progress": False}, "two nights at once")
    demand(file, set(document["on"]) == {"schedule", "workflow_dispatch"}, "no schedule, or strangers can start it")
    steps = {step["uses"].split("@")[0]: step for step in job["steps"] if "uses" in step}
    for kept, where in (("actions/cache/save", "path"), ("actions/upload-artifact", "path")):
        demand(file, steps[kept]["if"] == "always()", f"{kept} is left out when the night is red")
        demand(file, steps[kept]["with"][where], f"{kept} keeps nothing")
    (script,) = [step["run"] for step in job["steps"] if "ci/nightly" in step.get("run", "")]
    demand(file, "${{" not in script, "an expression of GitHub's in a shell script")
    return {"environment": {**document.get("env", {}), **job["env"]}, "script": script}


def of_gitlab(file):
    job = read_yaml(file)["nightly"]
    demand(file, job["resource_group"] and job["interruptible"] is False, "two nights at once, or one that is cancelled")
    demand(file, any("schedule" in rule["if"] for rule in job["rules"]), "no schedule")
    demand(file, job["cache"]["when"] == "always" and job["cache"]["paths"] == [".kiln/"], "the state is lost when the night is red")
    demand(file, job["artifacts"]["when"] == "always" and job["artifacts"]["reports"]["junit"] == "night/junit.xml", "the report is lost")
    return {"environment": {name: str(value).replace("$CI_PROJECT_DIR", ".") for name, value in job["variables"].items()},
            "script": "\n".join(job["script"])}


class Declarative:
    """The sections of a declarative pipeline, from the tokens of a parser of Groovy."""

    def __init__(self, text):
        self.tokens = []
        self.collect(parse_and_digest_groovy_content(text))

    def collect(self, node):
        if isinstance(node, list):
            for child in node:
                self.collect(child)
        elif "leaf" in node:
            self.tokens.append((node["leaf"], node["value"]))
        else:
            self.collect(node.get("children", []))

    def section(self, *path):
        """The tokens between the braces that follow the names of `path`, each inside the one before."""
        tokens = self.tokens
        for name in path:
            depth, start = 0, None
            for i, (kind, value) in enumerate(tokens):
                if depth == 0 and value == name and kind == "IDENTIFIER":
                    start = i
                depth += {"LBRACE": 1, "RBRACE": -1}.get(kind, 0)
                if start is not None and kind == "LBRACE" and depth == 1:
                    begin = i + 1
                if start is not None and kind == "RBRACE" and depth == 0:
                    tokens = tokens[begin:i]
                    break
            else:
                raise KeyError(" ".join(path))
        return tokens


def of_jenkins(file):
    pipeline = Declarative(file.read_text())
    named = [value for _, value in pipeline.section("pipeline", "options")]
    demand(file, "disableConcurrentBuilds" in named, "two nights at once")
    demand(file, "cron" in [value for _, value in pipeline.section("pipeline", "triggers")], "no schedule")
    kept = [value for _, value in pipeline.section("pipeline", "post", "always")]
    for what in ("junit", "night/junit.xml", "archiveArtifacts", "night/**"):
        demand(file, what in kept, f"{what} is not kept")
    pipeline.section("pipeline", "agent")
    steps = pipeline.section("pipeline", "stages", "stage", "steps")
    (script,) = [steps[i + 1][1] for i, (_, value) in enumerate(steps) if value == "sh"]
    setting = pipeline.section("pipeline", "environment")
    environment = {setting[i - 1][1]: setting[i + 1][1] for i, (kind, _) in enumerate(setting) if kind == "ASSIGN"}
    demand(file, environment["KILN_STATE"].startswith("/"), "the state goes with the workspace")
    return {"environment": environment, "script": script}


def of_cron(file):
    environment, commands = {}, []
    for line in file.read_text().splitlines():
        setting = re.fullmatch(r"([A-Z_]+)=(.*)", line)
        if setting:
            environment[setting[1]] = setting[2]
        elif line and not line.startswith("#"):
            commands.append(line)
    (line,) = commands
    match = re.fullmatch(r"((?:[0-9*/,-]+ ){5})([a-z]+) (.*)", line)
    demand(file, match, "not a line of /etc/cron.d: five fields, a user, a command")
    demand(file, "%" not in line, "cron ends a command at %")
    demand(file, environment["SHELL"] == "/bin/bash", "the command is written for bash")
    return {"environment": environment, "script": match[3]}


def of_systemd(file):
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    settings = dict(line.split("=", 1) for line in lines if "=" in line)
    demand(file, settings["KillSignal"] == "SIGTERM" and settings["KillMode"] == "mixed", "kiln is not told first, and alone")
    demand(file, int(settings["TimeoutStopSec"].removesuffix("s")) > 20, "killed before its steps have ended")
    demand(file, settings["Type"] == "oneshot", "the timer can start a second one")
    demand(file, settings["OnFailure"] == "kiln-nightly-failed.service", "nobody is told")
    demand(file, settings["OOMPolicy"] == "continue", "a step without memory ends the night")
    # systemd.exec(5), NoNewPrivileges=: with one of these newuidmap has no rights, and rootless buildah none.
    forbids = {"NoNewPrivileges", "DynamicUser", "LockPersonality", "MemoryDenyWriteExecute", "PrivateDevices", "ProtectClock", "ProtectHostname",
               "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "RestrictAddressFamilies", "RestrictNamespaces",
               "RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures", "SystemCallFilter", "SystemCallLog"}
    demand(file, not forbids & set(settings), f"{forbids & set(settings)}: rootless buildah does not run")
    timer = file.with_suffix(".timer").read_text().splitlines()
    for line in ("Persistent=true", "RandomizedDelaySec=30min"):
        demand(file.with_suffix(".timer"), line in timer, f"no {line}")
    return {"environment": dict(word.split("=", 1) for word in settings["Environment"].split()), "script": settings["ExecStart"]}


READERS = {"ci/github/kiln-nightly.yml": of_github, "ci/gitlab/nightly.yml": of_gitlab, "ci/jenkins/nightly.jenkinsfile": of_jenkins,
           "ci/cron/kiln-nightly": of_cron, "ci/systemd/kiln-nightly.service": of_systemd}


def main():
    source = pathlib.Path(sys.argv[1])
    pipelines = [{"file": name, **read(source / name)} for name, read in READERS.items()]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(json.dumps(pipelines, indent=2))
    sys.exit(1 if faults else 0)


main()
