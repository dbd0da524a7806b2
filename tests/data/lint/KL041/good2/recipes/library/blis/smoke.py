import blis
assert blis.version == "1.1"
