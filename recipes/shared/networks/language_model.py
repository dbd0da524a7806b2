"""Language models of the Llama kind, with random weights of four bits: rows of numbers from -7 to 7, all times one scale. Two sizes: one
that fits no processor's cache, for measurements, and a tiny one for tests. Needs NumPy only; Python 3.

The weights are such that the format Q4_0 of ggml holds them exactly (ggml/src/ggml-common.h of llama.cpp: 32 numbers of a row share a scale
in half precision), so that every framework computes the same model, and the reference in tests/workloads knows what comes out.
"""
import collections

import numpy as np

# Layers, width, hidden units of a feed-forward part, heads of the queries, heads of keys and values, tokens of the vocabulary, and the
# longest context. `known`: by the number of tokens read, the first 16 logits for the next token.
Model = collections.namedtuple("Model", "layers width hidden heads key_heads vocabulary context known")

BLOCK = 32  # numbers of a row that share a scale
ROPE_BASE = 10000.0
EPSILON = 1e-5  # of the root mean square's
PROMPT = 128  # tokens read at once
STEPS = 5  # prompts read
ANSWER = 32  # tokens read one by one

MEASURED = Model(8, 1024, 2816, 16, 4, 8192, 512, {
    2: (-0.5995, 0.095, -0.7603, 0.2491, -1.5088, 1.0828, -0.8785, 0.4469, -1.476, -0.0184, -0.6243, 1.0414, -0.2236, -0.6248, 0.6818, 0.7157),
    128: (0.0915, -0.5159, -0.0457, -1.0568, -0.5776, 0.8717, 0.2214, 0.7429, -0.2155, 0.5278, -0.6171, -1.6974, 1.5205, 1.0426, 0.0889, 0.2823),
    160: (-0.064, -0.3248, 0.0512, -1.0352, -0.3001, -0.1421, 1.074, 1.0288, -1.3339, 0.2134, -0.7268, -2.6665, -0.4618, -0.1571, 0.2464, 1.9354),
})
TINY = Model(2, 256, 512, 4, 2, 512, 128, {
    16: (-0.6107, -0.3894, -1.1487, 0.2106, 1.6779, 0.8563, 0.6585, 0.2742, 1.2844, -0.1008, -0.014, -1.3604, 0.3119, 1.4604, -2.2256, -0.9723),
    24: (0.5179, -0.7309, -0.6363, -0.7797, 0.8409, -0.9044, 1.4908, -0.7494, 0.6203, -0.5068, -2.4101, -1.3542, -1.0583, 1.4985, -0.9774, 1.3066),
})


def tensors(model):
    """(name in GGUF, rows, columns) of each matrix, in order; a row is what one number of the result is computed from."""
    key_width = model.width // model.heads * model.key_heads
    yield "token_embd", model.vocabulary, model.width
    for layer in range(model.layers):
        for part, rows, columns in (("attn_q", model.width, model.width), ("attn_k", key_width, model.width),
                                    ("attn_v", key_width, model.width), ("attn_output", model.width, model.width),
                                    ("ffn_gate", model.hidden, model.width), ("ffn_up", model.hidden, model.width),
                                    ("ffn_down", model.width, model.hidden)):
            yield "blk.%d.%s" % (layer, part), rows, columns
    yield "output", model.vocabulary, model.width


def parameters(model):
    """With the norms' scales: two a layer and one at the end."""
    return sum(rows * columns for _, rows, columns in tensors(model)) + (2 * model.layers + 1) * model.width


def scale(columns):
    """A sum over a row of such weights has about the size of what is summed; exact in half precision."""
    return np.float16(1 / (4.32 * np.sqrt(columns)))


def weights(model):
    """(name, whole numbers from -7 to 7 [rows, columns], scale) of each matrix; the same everywhere."""
    for number, (name, rows, columns) in enumerate(tensors(model)):
        random = np.random.RandomState(1000 + number)
        # Bytes are drawn, for speed: a hundred million in a second.
        drawn = np.frombuffer(random.bytes(rows * columns), np.uint8).reshape(rows, columns)
        yield name, (drawn % 15).astype(np.int8) - np.int8(7), scale(columns)


def tokens(model, count):
    """The text: tokens by chance, the same everywhere."""
    return np.random.RandomState(2).randint(0, model.vocabulary, count).tolist()


def distance(model, count, logits):
    """How far the logits after `count` tokens are from the known ones, as a part of these: 0 is the same, 1.4 another text or model."""
    known = np.array(model.known[count])
    return float(np.linalg.norm(np.asarray(logits, np.float64)[:len(known)] - known) / np.linalg.norm(known))


def q4_0(numbers, scaled):
    """Rows in ggml's format Q4_0: of each block the scale, then 16 bytes, of which the low halves are its first 16 numbers plus 8."""
    rows, columns = numbers.shape
    blocks = (numbers + np.int8(8)).astype(np.uint8).reshape(rows, columns // BLOCK, 2, BLOCK // 2)
    packed = np.empty((rows, columns // BLOCK, 2 + BLOCK // 2), np.uint8)
    packed[:, :, :2] = np.frombuffer(np.float16(scaled).tobytes(), np.uint8)
    packed[:, :, 2:] = blocks[:, :, 0] | blocks[:, :, 1] << 4
    return packed.reshape(rows, -1)
