"""Hostile documents by a seed, each with what has to be read from its scripts again."""
import json
import random
import shlex

SPICE = ["'", '"', "\\", "`id`", "$(touch canary)", ";", "&&", "|", "#", " ", "  ", "--", "-", "%j", "{{x}}", "$HOME", "${PATH}", "!", "*",
         "?", "~", "<", ">", "(", ")", "[", "]", "é", "ß", "日本", "a", "b", "0", "=", ",", ":", "@", "\u202e", "#SBATCH --uid=0", "#PBS -q x", "\t"]
LINES = ["\n", "\n#SBATCH --uid=0\n", "\n#PBS -l walltime=1\n", "\nrm -rf /\n", "'\n'"]


def text(rng, more=(), least=1, most=6):
    return "".join(rng.choice(SPICE + list(more)) for _ in range(rng.randint(least, most)))


def line(rng):
    """A line without blanks at its ends."""
    while True:
        found = text(rng).replace("\t", "x").strip()
        if found:
            return found


def word(rng):
    return text(rng, LINES, 0) if rng.random() < 0.5 else line(rng)


def job_name(rng):
    while True:
        name = line(rng).lstrip("-").strip().replace("/", "_")
        if name:
            return name


def plain(rng):
    return rng.choice("abXY") + "".join(rng.choice("abcXYZ019_") for _ in range(rng.randint(0, 8)))


def command(rng, words):
    """A document's form of these words: an array, or what a shell splits so."""
    if rng.random() < 0.6 or any("\x07" in one for one in words):
        return list(words)
    quoted = [shlex.quote(one) if rng.random() < 0.7 or not one or "\n" in one or "\t" in one else double_quoted(one) for one in words]
    return rng.choice([" ", "  ", " \\\n"]).join(quoted)


def double_quoted(one):
    return '"' + "".join("\\" + c if c in '\\"$`' else c for c in one) + '"'


class Document:
    """A job, its image, and `values`: what its script has to hold, by kind."""

    def __init__(self, rng):
        self.rng = rng
        self.options, self.application = {}, {}
        self.scheduler = rng.choice(["slurm", "slurm", "torque", "openpbs", "none"])
        self.runtime = rng.choice(["singularity", "apptainer", "podman", "charliecloud", "sarus", "shifter"])
        self.directives, self.words, self.placeholders = {}, [], {}
        self.fill()

    def fill(self):
        rng = self.rng
        slurm = self.scheduler == "slurm"
        self.option("job_name", job_name(rng) if slurm else plain(rng), "job-name", "N")
        if rng.random() < 0.7:
            file = line(rng) if slurm else line(rng).replace(":", "_")
            self.option("standard_output_file", file, "output", "o")
        if rng.random() < 0.4:
            file = line(rng) if slurm else line(rng).replace(":", "_")
            self.option("standard_error_file", file, "error", "e")
            self.options["combine_stdout_stderr"] = False
        if slurm and rng.random() < 0.4:
            self.option("architecture_constraint", line(rng), "constraint", "")
        for key, option, letter in (("account", "account", "A"), ("queue", "partition", "q")):
            if rng.random() < 0.4:
                self.option(key, plain(rng), option, letter)
        for key, value in (("wall_time_limit", "1:00:00"), ("node_count", 2), ("memory_limit", "4GB"), ("request_gpus", 1),
                           ("copy_environment", True), ("request_event_notification", "abe")):
            if rng.random() < 0.3:
                self.options[key] = value
        self.fill_application()

    def option(self, key, value, slurm, pbs):
        self.options[key] = value
        name = {"slurm": slurm, "torque": pbs, "openpbs": pbs, "none": ""}[self.scheduler]
        if name:
            self.directives[name] = value

    def fill_application(self):
        rng = self.rng
        self.mpi = rng.random() < 0.4
        words = [rng.choice(["./x", "python3", line(rng)])] + [word(rng) for _ in range(rng.randint(0, 5))]
        self.words = words
        self.application["executable"] = command(rng, words[:1])
        self.application["arguments"] = command(rng, words[1:])
        self.before = [word(rng) or "true" for _ in range(rng.choice([0, 0, 1, 2]))]
        self.after = [word(rng) or "true" for _ in range(rng.choice([0, 0, 1]))]
        self.before, self.after = ([one for one in commands if one.strip()] for commands in (self.before, self.after))
        if self.before:
            self.application["pre-execution"] = self.before
        if self.after:
            self.application["post-execution"] = self.after
        self.variables = {plain(rng).upper() + "V": text(rng, (), 0).replace("\t", "") for _ in range(rng.choice([0, 0, 1, 2]))}
        self.variables = {name: value for name, value in self.variables.items() if name[0].isalpha()}
        if self.variables:
            self.options["copy_environment_variable"] = [f"{name}={value}" for name, value in self.variables.items()]
        if self.mpi:
            self.application.update({"app_type": "mpi", "mpi_ranks": 4})
        self.build = ""
        if rng.random() < 0.3:
            self.build = word(rng).replace("{{x}}", "") or "make"
            self.build = self.build if self.build.strip() else "make"
            self.application["build"] = {"build_command": self.build}

    def image(self):
        return {"name": "docker://r.site:5000/ai/x:1", "reference": "docker://r.site:5000/ai/x:1", "mpi": "openmpi"}

    def question(self, benign=False):
        """`benign`: the same job, with words in place of its values."""
        options, application = dict(self.options), dict(self.application)
        if benign:
            for key in ("job_name", "standard_output_file", "standard_error_file", "architecture_constraint", "account", "queue"):
                if key in options:
                    options[key] = "word"
            application["executable"], application["arguments"] = ["word"], ["word"] * (len(self.words) - 1)
            for key in ("pre-execution", "post-execution"):
                if key in application:
                    application[key] = ["word"] * len(application[key])
            if self.variables:
                options["copy_environment_variable"] = [f"{name}=word" for name in self.variables]
            if self.build:
                application["build"] = {"build_command": "word"}
        document = {"job": {"job_options": options, "application": application, "target": {"job_scheduler_type": self.scheduler}}}
        return {"document": json.dumps(document, ensure_ascii=self.rng.random() < 0.5), "image": self.image(), "runtime": self.runtime}

    def values(self):
        """What stands in place of a word, in all of the scripts."""
        return set(self.words + self.before + self.after + [self.build, self.options.get("standard_output_file", ""),
                                                            self.options.get("standard_error_file", "")]
                   + [f"{name}={value}" for name, value in self.variables.items()])


# What a document must not have: key of its part, value, and the pointer that the error has to name.
WRONG = [("job_options", "job_name", "a\n#SBATCH --uid=0"), ("job_options", "job_name", "--wrap=id"), ("job_options", "job_name", "../x"),
         ("job_options", "job_name", "a\x07"), ("job_options", "account", "a;id"), ("job_options", "account", "a b"),
         ("job_options", "queue", "$(id)"), ("job_options", "wall_time_limit", "25:61:00"), ("job_options", "wall_time_limit", "1;id"),
         ("job_options", "memory_limit", "1G --uid=0"), ("job_options", "node_count", "2 --uid=0"), ("job_options", "node_count", 0),
         ("job_options", "job_array", "0-3\n"), ("job_options", "job_array", "0-3 x"), ("job_options", "job_dependency", "afterok:1 --uid=0"),
         ("job_options", "job_dependency", ""), ("job_options", "email_address", "a@b -x"), ("job_options", "standard_output_file", "a\nb"),
         ("job_options", "request_specific_nodes", "n1 n2"), ("job_options", "request_event_notification", "END;id"),
         ("job_options", "defer_job", "now+1hour;id"), ("job_options", "copy_environment_variable", ["A-B=1"]),
         ("job_options", "copy_environment_variable", ["A=1\nB=2"]), ("application", "mpi_ranks", 0), ("application", "executable", "a; b"),
         ("application", "arguments", "$(id)"), ("application", "arguments", "a 'b"), ("application", "container_runtime", "x\ny"),
         ("application", "minimal_efficiency", 2)]


def refused(rng):
    """A question whose document is wrong in one place, and that place."""
    document = Document(rng)
    part, key, value = rng.choice(WRONG)
    (document.options if part == "job_options" else document.application)[key] = value
    return document.question(), f"/job/{part}/{key}"


def by_seed(seed):
    return random.Random(f"kiln-deploy-{seed}")
