"""One block of a transformer's encoder: sequences of 128 vectors of 512 numbers, 8 heads, 2,048 hidden units, norms before each part; then the mean
over the sequence and ten classes.
"""
from layers import attention, dense, layer_norm, mean, relu, residual

INPUT = (128, 512)  # length, width
CLASSES = 10
BATCH = {"cpu": 16, "gpu": 64}
STEPS = 30
RATE = 0.05
PARAMETERS = 3157514
LOSSES = {16: (2.312854, 5, 2.095256), 64: (2.292700, 5, 2.234157)}  # by batch: the first, and the one after so many steps
LAYERS = [
    residual([layer_norm(), attention(8)]),
    residual([layer_norm(), dense(2048), relu(), dense(512)]),
    mean(),
    dense(10),
]
