"""generate.py: times how fast the image's framework reads a prompt (prefill) and the tokens after it, one by one (decode)."""
import importlib
import os

import harness
import language_model
from harness import Wrong

STEPS = {"llama-cpp-python": "step_llama_cpp", "pytorch": "step_transformers", "vllm": "step_vllm"}
# Of the logits, from the known ones: weights are exact, but activations are rounded to a byte (llama.cpp).
TOLERANCE = 0.05


def check(model, count, logits):
    distance = language_model.distance(model, count, logits)
    if not distance < TOLERANCE:
        raise Wrong("after %d tokens the logits are %.3g from the known ones: this is another computation" % (count, distance))
    return distance


def measure(settings, model, prompt, answer):
    name = STEPS.get(settings.framework)
    if name is None:
        raise Wrong("no language model with the framework %r; there are: %s" % (settings.framework, ", ".join(sorted(STEPS))))
    if settings.data:
        raise Wrong("this workload has synthetic input only: leave KILN_BENCH_DATA unset")
    if settings.batch or settings.workers:
        raise Wrong("this workload reads one text, without a data loader: leave KILN_BENCH_BATCH and KILN_BENCH_WORKERS unset")
    try:
        module = importlib.import_module(name)
    except ImportError as missing:
        raise Wrong("the image has no %s, which this workload needs" % (missing.name or missing))
    generation = module.Generation(model, settings)
    harness.check_parameters(generation.parameters, language_model.parameters(model))
    text = language_model.tokens(model, prompt + answer)

    def read_prompt(number):
        del number
        generation.start()
        return generation.read(text[:prompt])

    first, prefill, logits = harness.timed(read_prompt, settings.steps)
    distances = [check(model, prompt, logits[0]), check(model, prompt, logits[-1])]
    # The model has read the prompt; each step reads one token more.
    one, decode, logits = harness.timed(lambda number: generation.read(text[prompt + number:prompt + number + 1]), answer - 1)
    distances.append(check(model, prompt + answer, logits[-1]))

    def rates(times, tokens):
        return [round(tokens * 1000 / time, 4) for time in times]

    return {
        "network": "language_model", "parameters": generation.parameters, "batch": 1, "threads": settings.threads,
        "framework": "%s %s" % (settings.framework, module.VERSION), "variant": generation.variant, "device": module.device(),
        "compiled": getattr(module, "COMPILED", False), "ranks": settings.ranks,
        "metrics": {
            "prefill": {"unit": "tokens/s", "samples": rates(prefill, prompt), "first": rates([first], prompt)[0]},
            "decode": {"unit": "tokens/s", "samples": rates(decode, 1), "first": rates([one], 1)[0]},
        },
        "result": {"what": "distance of the logits from the known ones", "ok": True, "value": max(distances), "expected": 0},
        "input": {"kind": "synthetic", "format": module.FORMAT, "bytes": 4 * len(text), "bytes_per_second": None},
    }


def main():
    settings = harness.Settings(os.environ, language_model.STEPS)
    harness.report(measure(settings, language_model.MEASURED, language_model.PROMPT, language_model.ANSWER))


if __name__ == "__main__":
    harness.run(main)
