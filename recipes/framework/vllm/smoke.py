"""vLLM is the version asked for; its own kernels for this processor computed a tiny Llama of known weights. After a prompt, and after tokens
that follow one by one, the logits are the known ones, and two requests at once are continued as Transformers continues each alone.

vLLM only warns when the library of its kernels cannot be loaded. So the library is looked for in this process, and its attention among the
operators that PyTorch's profiler saw.
"""
import os
import sys

import language_model
import step_transformers
import step_vllm
import torch
import vllm

PROMPTS = (16, 24)
ANSWER = 8
ATTENTION = "_C::cpu_attention_with_kv_cache"


class Settings:
    compilers, ranks, threads = [], 1, min(4, os.cpu_count())


def library():
    """The one of the wheel's three that suits this processor."""
    if not torch.cpu._is_avx512_supported():
        return "_C_AVX2.abi3.so"
    return "_C.abi3.so" if torch.cpu._is_avx512_bf16_supported() else "_C_AVX512.abi3.so"


def mapped():
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}
    return {os.path.basename(path) for path in paths if os.path.dirname(path) == os.path.dirname(vllm.__file__)}


def by_transformers(model, text):
    """What Transformers says after the text, always the likeliest token."""
    generation = step_transformers.Generation(model, Settings)
    generation.start()
    said, logits = [], generation.read(text)
    for _ in range(ANSWER):
        said.append(int(logits.argmax()))
        logits = generation.read(said[-1:])
    return said


if step_vllm.VERSION != os.environ["KILN_VERSION"]:
    sys.exit(f"vllm is {step_vllm.VERSION}, not {os.environ['KILN_VERSION']}")
model = language_model.TINY
text = language_model.tokens(model, max(PROMPTS))
wanted = [by_transformers(model, text[:count]) for count in PROMPTS]

generation = step_vllm.Generation(model, Settings)
if library() not in mapped():
    sys.exit(f"{library()} is for this processor, and vLLM has loaded {sorted(mapped())}")
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    generation.start()
    distances = [language_model.distance(model, PROMPTS[0], generation.read(text[:PROMPTS[0]]))]
    for token in text[PROMPTS[0]:]:
        logits = generation.read([token])
    distances.append(language_model.distance(model, PROMPTS[1], logits))
if max(distances) > 0.001:
    sys.exit(f"the logits are {max(distances):.4f} from the known ones")
calls = sum(event.count for event in profile.key_averages() if event.key == ATTENTION)
least = model.layers * (1 + PROMPTS[1] - PROMPTS[0])
if calls < least:
    sys.exit(f"the profiler saw {calls} calls of {ATTENTION}, not {least}")

found = generation.answer([text[:count] for count in PROMPTS], ANSWER)
if found != wanted:
    sys.exit(f"vLLM continues by {found}, and Transformers by {wanted}")
print(f"vllm {step_vllm.VERSION}: {calls} calls of {ATTENTION} in {library()}, logits within {max(distances):.1e}, tokens as by Transformers")
