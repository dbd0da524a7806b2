"""CNTK is the version asked for, and a matrix product and a gradient are right."""
from __future__ import print_function

import os
import sys

import cntk
import numpy as np

wanted = os.environ["KILN_VERSION"]
if cntk.__version__ != wanted and not cntk.__version__.startswith(wanted + "."):
    sys.exit("cntk is %s, not %s" % (cntk.__version__, wanted))
x = cntk.input_variable(3, needs_gradient=True)
total = cntk.reduce_sum(cntk.times(x, np.ones((3, 4), dtype=np.float32)))
value = np.arange(3, dtype=np.float32)
if float(total.eval({x: [value]})) != 12.0 or not (total.grad({x: [value]}) == 4.0).all():
    sys.exit("a product or its gradient is wrong")
print("cntk %s" % cntk.__version__)
