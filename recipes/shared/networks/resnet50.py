"""ResNet-50 with 25,557,032 parameters, images of 224 by 224, 1,000 classes: the paper's network for GPUs, single precision, batch 96.

Strides of 2 are in the 3 by 3 convolutions, as in most frameworks' own models of that name. On CPUs the batch is 8: a step with 96 needs some
20 GB and minutes.
"""
from layers import batch_norm, convolution, dense, max_pool, mean, relu, residual

INPUT = (224, 224, 3)  # height, width, channels
CLASSES = 1000
BATCH = {"cpu": 8, "gpu": 96}
STEPS = 10
RATE = 0.01
PARAMETERS = 25557032
DATA = "arrays"
LOSSES = {8: (6.912880, 1, 4.214098), 96: (7.136801, 0, 7.136801)}  # by batch: the first, and the one after so many steps
SCORES = {8: 468.6689, 96: 469.6372}  # by batch: their mean size, in inference


def normed(filters, size, stride=1):
    """A convolution without biases, of which batch norm has its own."""
    return [convolution(filters, size, stride, size // 2, bias=False), batch_norm()]


def block(filters, stride, widens):
    main = normed(filters, 1) + [relu()] + normed(filters, 3, stride) + [relu()] + normed(4 * filters, 1)
    return [residual(main, normed(4 * filters, 1, stride) if widens else []), relu()]


LAYERS = normed(64, 7, 2) + [relu(), max_pool(3, 2, 1)]
for stage, blocks in enumerate((3, 4, 6, 3)):
    for number in range(blocks):
        LAYERS += block(64 << stage, 2 if stage > 0 and number == 0 else 1, number == 0)
LAYERS += [mean(), dense(CLASSES)]
