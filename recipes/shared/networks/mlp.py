"""A multilayer perceptron: vectors of 1,024 numbers, three hidden layers of 2,048, ten classes. Nothing but matrix products."""
from layers import dense, relu

INPUT = (1024,)
CLASSES = 10
BATCH = {"cpu": 256, "gpu": 256}
STEPS = 30
RATE = 0.05
PARAMETERS = 10512394
LOSSES = {256: (2.301347, 5, 2.275110)}  # by batch: the first, and the one after so many steps
LAYERS = [dense(2048), relu(), dense(2048), relu(), dense(2048), relu(), dense(10)]
