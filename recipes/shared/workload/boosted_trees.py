"""What gradient boosting learns: rows of numbers by chance and a function of some of them with steps, a product and noise."""
import numpy as np

ROWS = 100000
COLUMNS = 32
HELD_OUT = 20000
DEPTH = 6
BINS = 255
RATE = 0.1
STEPS = 100
NOISE = 0.5


def data():
    """(rows, targets) to learn from, and those that are held out; the same everywhere."""
    random = np.random.RandomState(4)
    x = random.standard_normal((ROWS + HELD_OUT, COLUMNS)).astype(np.float32)
    y = np.sin(2 * x[:, 0]) + (x[:, 1] > 0.5) * 1.5 + x[:, 2] * x[:, 3] + 0.5 * np.abs(x[:, 4]) + NOISE * random.standard_normal(len(x))
    y = y.astype(np.float32)
    return (x[:ROWS], y[:ROWS]), (x[ROWS:], y[ROWS:])


def error(found, right):
    """Root of the mean square."""
    return float(np.sqrt(((found.astype(np.float64) - right) ** 2).mean()))
