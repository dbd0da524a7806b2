"""Exits with 0 when this Python has the module that the argument names, without loading it. Works under Python 2.7 and 3."""
import sys

try:
    from importlib.util import find_spec
except ImportError:
    from pkgutil import find_loader as find_spec  # Python 2

try:
    found = find_spec(sys.argv[1]) is not None
except ImportError:  # of a package above it
    found = False
sys.exit(0 if found else 1)
