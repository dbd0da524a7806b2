#!/bin/sh -eu
# scikit-learn is the version asked for and learns a set that it can learn.
exec python3 - <<'PYTHON'
import os
import sys

import sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

if sklearn.__version__ != os.environ["KILN_VERSION"]:
    sys.exit(f"sklearn is {sklearn.__version__}")
samples, labels = load_iris(return_X_y=True)
score = LogisticRegression(max_iter=500).fit(samples, labels).score(samples, labels)
if score < 0.95:
    sys.exit(f"logistic regression scores {score}")
print(f"scikit-learn {sklearn.__version__}, {score:.2f} on iris")
PYTHON
