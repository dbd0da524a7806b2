"""CTranslate2 is the version asked for, and a tiny language model, written by its own specification classes, has the known logits.

In float32: its products of eight bits saturate on processors without VNNI, and this model's weights are as large as eight bits allow.
"""
import os
import sys
import tempfile

import ctranslate2
import language_model
import numpy as np
from ctranslate2.specs import Activation, TransformerDecoderModelSpec


def ones(width):
    return np.ones(width, np.float32)


def specification(model):
    """The matrices as CTranslate2 has them: queries, keys and values in one, the gate beside the rest. Rows as in Llama's own files,
    where neighbours are turned by a position."""
    spec = TransformerDecoderModelSpec.from_config(
        model.layers, model.heads, activation=Activation.SWISH, ffn_glu=True, rms_norm=True, rotary_dim=0, rotary_interleave=True,
        rotary_base=language_model.ROPE_BASE, num_heads_kv=model.key_heads)
    matrices = {name: numbers * np.float32(scale) for name, numbers, scale in language_model.weights(model)}
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = matrices["token_embd"]
    decoder.projection.weight = matrices["output"]
    decoder.layer_norm.gamma = ones(model.width)
    for number, layer in enumerate(decoder.layer):
        part = {name.split(".")[2]: matrix for name, matrix in matrices.items() if name.startswith("blk.%d." % number)}
        layer.self_attention.layer_norm.gamma = ones(model.width)
        layer.self_attention.linear[0].weight = np.concatenate([part["attn_q"], part["attn_k"], part["attn_v"]])
        layer.self_attention.linear[1].weight = part["attn_output"]
        layer.ffn.layer_norm.gamma = ones(model.width)
        layer.ffn.linear_0.weight = part["ffn_gate"]
        layer.ffn.linear_0_noact.weight = part["ffn_up"]
        layer.ffn.linear_1.weight = part["ffn_down"]
    words = ["<unk>", "<s>", "</s>"]
    spec.register_vocabulary(words + ["token%d" % number for number in range(len(words), model.vocabulary)])
    spec.config.layer_norm_epsilon = language_model.EPSILON
    spec.validate()
    return spec


def furthest(folder, model):
    """How far the logits are from the known ones, at most."""
    generator = ctranslate2.Generator(folder, device="cpu", compute_type="float32", intra_threads=min(4, os.cpu_count()))
    if generator.compute_type != "float32":
        sys.exit(f"CTranslate2 computes in {generator.compute_type}, not in float32")
    text = language_model.tokens(model, max(model.known))
    logits = np.array(generator.forward_batch([text]))[0]
    return max(language_model.distance(model, count, logits[count - 1]) for count in model.known)


if ctranslate2.__version__ != os.environ["KILN_VERSION"]:
    sys.exit(f"ctranslate2 is {ctranslate2.__version__}, not {os.environ['KILN_VERSION']}")
model = language_model.TINY
with tempfile.TemporaryDirectory() as folder:
    spec = specification(model)
    spec.optimize()
    spec.save(folder)
    distance = furthest(folder, model)
if distance > 0.001:
    sys.exit(f"the logits are {distance:.5f} from the known ones")
print(f"ctranslate2 {ctranslate2.__version__}, logits within {distance:.1e} in float32")
