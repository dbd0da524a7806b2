"""Transformers is the version asked for, and a tiny Llama of known weights has the known logits after a prompt and after tokens that follow one
by one, which read its cache of keys and values."""
import os
import sys

import language_model
import step_transformers
import transformers


class Settings:
    compilers, ranks, threads = [], 1, min(4, os.cpu_count())


if transformers.__version__ != os.environ["KILN_VERSION"]:
    sys.exit(f"transformers is {transformers.__version__}, not {os.environ['KILN_VERSION']}")
model = language_model.TINY
prompt, end = 16, 24
text = language_model.tokens(model, end)
generation = step_transformers.Generation(model, Settings)
generation.start()
distances = [language_model.distance(model, prompt, generation.read(text[:prompt]))]
for token in text[prompt:]:
    logits = generation.read([token])
distances.append(language_model.distance(model, end, logits))
if max(distances) > 0.001:
    sys.exit(f"the logits are {max(distances):.4f} from the known ones")
print(f"transformers {transformers.__version__} on {generation.variant}, logits within {max(distances):.1e}")
