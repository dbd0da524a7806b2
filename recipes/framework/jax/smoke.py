"""JAX is the version asked for, comes from the recipe's own folder, and finds a CPU device that computes."""
import os
import sys

import jax
import jax.numpy as jnp

wanted = os.environ["KILN_VERSION"]
if jax.__version__ != wanted:
    sys.exit(f"jax is {jax.__version__}, not {wanted}")
if not jax.__file__.startswith("/opt/kiln/jax/"):
    sys.exit(f"jax was loaded from {jax.__file__}")
if jax.devices()[0].platform != "cpu":
    sys.exit(f"devices are {jax.devices()}")
if float(jnp.arange(10.0).sum()) != 45.0:
    sys.exit("a sum is wrong")
print(f"jax {jax.__version__}, {jax.devices()}")
