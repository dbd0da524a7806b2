"""tuning_search.py JOURNAL COUNT: the settings of the next COUNT trials, as Optuna proposes them after the trials of a journal of `kiln tune`.

The journal has the space and the seed in its first line, then a line for each trial; the answer is one line, {"sets": [{variable: value}]}.
A variable that is not in it stays as the image has it. Nothing is kept between two calls: the journal is the only state, and so the same
journal gives the same answer, also after a kill.
"""
import json
import sys

import optuna

STARTUP = 10  # trials that are drawn at random before the sampler learns from them
UNSET = ""  # stands for a variable that is not set: no value of a space is empty


def distributions(space):
    found = {}
    for variable in space["variables"]:
        if "values" in variable:
            found[variable["name"]] = optuna.distributions.CategoricalDistribution([UNSET] + variable["values"])
        elif "low" in variable:
            found[variable["name"]] = optuna.distributions.FloatDistribution(variable["low"], variable["high"], log=variable.get("log", False))
        else:
            found[variable["name"]] = optuna.distributions.IntDistribution(
                variable["from"], variable["to"], step=variable["step"], log=variable.get("log", False)
            )
    return found


def parameters(setting, space):
    """The values that a trial had, as the sampler had proposed them. None: it was the default, whose ranges are unset."""
    found = {}
    for name, distribution in space.items():
        if isinstance(distribution, optuna.distributions.CategoricalDistribution):
            found[name] = setting.get(name, UNSET)
        elif name in setting:
            number = float if isinstance(distribution, optuna.distributions.FloatDistribution) else int
            found[name] = number(setting[name])
        else:
            return None
    return found


def text_of(value, distribution):
    """As people write it: six digits of a real number, unless they lead out of its range."""
    if not isinstance(distribution, optuna.distributions.FloatDistribution):
        return str(value)
    text = f"{value:.6g}"
    return text if distribution.low <= float(text) <= distribution.high else repr(value)


def trial_of(entry, space):
    values = parameters(entry["set"], space)
    if values is None:
        return None
    if "cost" in entry:
        return optuna.trial.create_trial(value=entry["cost"], params=values, distributions=space)
    # Crashed or too slow: the worst there is, so that the sampler keeps away from it.
    return optuna.trial.create_trial(state=optuna.trial.TrialState.PRUNED, params=values, distributions=space)


def main():
    with open(sys.argv[1], encoding="utf-8") as journal:
        # What a kill left behind has no newline.
        lines = [json.loads(line) for line in journal if line.endswith("\n") and line.strip()]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # kiln's own launcher variable marks the rival, which is no point of the space.
    head, entries = lines[0], [line for line in lines[1:] if "trial" in line and "KILN_BENCH_LAUNCHER" not in line["set"]]
    space = distributions(head["space"])
    study = optuna.create_study()
    study.add_trials([trial for trial in (trial_of(entry, space) for entry in entries) if trial])
    sets = []
    for number in range(len(entries), len(entries) + int(sys.argv[2])):
        # A sampler for each trial, so that its draw depends on the journal only and not on who drew before. Those that were
        # proposed a moment ago count as bad ones, so that the next one is elsewhere.
        seed = (head["seed"] * 1_000_003 + number) % 2**32
        study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP, multivariate=True, constant_liar=True)
        proposed = study.ask(space).params
        sets.append({name: text_of(value, space[name]) for name, value in proposed.items() if value != UNSET})
    print(json.dumps({"sets": sets}, sort_keys=True))


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # the multivariate sampler is marked as experimental
    main()
