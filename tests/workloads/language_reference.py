"""The language models of recipes/shared/networks/language_model.py again, in NumPy and double precision, from the definitions: RMSNorm (Zhang
and Sennrich, 2019), rotary positions (Su and others, 2021), attention with grouped queries (Ainslie and others, 2023), SwiGLU (Shazeer, 2020).
"""
import os

import language_model
import numpy as np


def normed(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + language_model.EPSILON)


def rotated(x, positions):
    """x: [tokens, heads, size]; neighbours are pairs, as in Llama's own files."""
    size = x.shape[-1]
    angles = positions[:, None] * language_model.ROPE_BASE ** (-np.arange(0, size, 2) / size)
    cosine, sine = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2], out[..., 1::2] = even * cosine - odd * sine, even * sine + odd * cosine
    return out


def attention(x, of, model):
    size = model.width // model.heads
    count = len(x)
    positions = np.arange(count)
    query = rotated((x @ of("attn_q").T).reshape(count, model.heads, size), positions)
    key = rotated((x @ of("attn_k").T).reshape(count, model.key_heads, size), positions)
    value = (x @ of("attn_v").T).reshape(count, model.key_heads, size)
    shared = model.heads // model.key_heads
    scores = np.einsum("qhs,khs->hqk", query, np.repeat(key, shared, axis=1)) / np.sqrt(size)
    scores[:, positions[:, None] < positions[None, :]] = -np.inf
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return np.einsum("hqk,khs->qhs", scores, np.repeat(value, shared, axis=1)).reshape(count, model.width) @ of("attn_output").T


def feed_forward(x, of):
    gate = x @ of("ffn_gate").T
    return (gate / (1 + np.exp(-gate)) * (x @ of("ffn_up").T)) @ of("ffn_down").T


def logits(model, tokens):
    """For the token after each of `tokens`: [tokens, vocabulary]."""
    drawn = ((name, numbers * np.float64(scale)) for name, numbers, scale in language_model.weights(model))
    x = next(drawn)[1][tokens]
    for _ in range(model.layers):
        parts = dict((name.split(".")[-1], matrix) for name, matrix in (next(drawn) for _ in range(7)))
        x = x + attention(normed(x), parts.__getitem__, model)
        x = x + feed_forward(normed(x), parts.__getitem__)
    return normed(x) @ next(drawn)[1].T


VERSION = "1.0"
FORMAT = "in memory"


def device():
    return "cpu"


class Generation:
    """What generate.py asks of a framework. KILN_TEST_FAULT makes it compute another text."""

    def __init__(self, model, settings):
        del settings
        self.model, self.text, self.variant = model, [], "NumPy"
        self.parameters = language_model.parameters(model) - (FAULT == "parameters")

    def start(self):
        if FAULT != "remembers":
            self.text = []

    def read(self, tokens):
        self.text = self.text + ([token + 1 for token in tokens] if FAULT == "other text" else tokens)
        return logits(self.model, self.text)[-1]


FAULT = os.environ.get("KILN_TEST_FAULT", "")
