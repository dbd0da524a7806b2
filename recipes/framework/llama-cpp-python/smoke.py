"""llama-cpp-python is the version asked for, llama.cpp was compiled for what the target has, no less and no more, and the logits of a tiny
model of four-bit weights are the known ones after a prompt and after tokens that follow one by one.
"""
import os
import sys

import language_model
import llama_cpp
import step_llama_cpp

# What llama.cpp says of itself, by the level of x86-64 that brings it (x86-64 psABI, table 3.1). ggml asks for no more of AVX-512 than F.
LEVELS = {
    "x86_64": set(), "x86_64_v2": {"SSE3", "SSSE3"}, "x86_64_v3": {"SSE3", "SSSE3", "AVX", "AVX2", "F16C", "FMA", "BMI2"},
    "x86_64_v4": {"SSE3", "SSSE3", "AVX", "AVX2", "F16C", "FMA", "BMI2", "AVX512"},
}
OF_PROCESSORS = set.union(*LEVELS.values()) | {"AVX_VNNI", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16", "AMX_INT8"}


class Settings:
    compilers, ranks, threads = [], 1, min(4, os.cpu_count())


if llama_cpp.__version__ != os.environ["KILN_VERSION"]:
    sys.exit(f"llama-cpp-python is {llama_cpp.__version__}, not {os.environ['KILN_VERSION']}")
if not llama_cpp.__file__.startswith("/opt/kiln/llama-cpp-python/"):
    sys.exit(f"llama-cpp-python was loaded from {llama_cpp.__file__}")

compiled = set(step_llama_cpp.features().split()) & OF_PROCESSORS
wanted = LEVELS.get(os.environ["KILN_CPU_TARGET"])
if wanted is not None and os.environ["KILN_METHOD"] == "source" and compiled != wanted:
    sys.exit(f"llama.cpp was compiled for {' '.join(sorted(compiled)) or 'no extension'}, and the target has {' '.join(sorted(wanted)) or 'none'}")

model = language_model.TINY
prompt, end = sorted(model.known)
text = language_model.tokens(model, end)
generation = step_llama_cpp.Generation(model, Settings)
generation.start()
distances = [language_model.distance(model, prompt, generation.read(text[:prompt]))]
for token in text[prompt:]:
    logits = generation.read([token])
distances.append(language_model.distance(model, end, logits))
if max(distances) > 0.05:
    sys.exit(f"the logits are {max(distances):.3f} from the known ones")
print(f"llama-cpp-python {llama_cpp.__version__}, logits within {max(distances):.4f}, {' '.join(sorted(compiled)) or 'plain ' + os.environ['KILN_CPU_FAMILY']}")
