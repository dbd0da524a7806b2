import blis
print(blis.version)
