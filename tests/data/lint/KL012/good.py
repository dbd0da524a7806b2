import hashlib
import urllib.request
urllib.request.urlretrieve("https://example.org/mnist.npz", "mnist.npz")
assert hashlib.sha256(open("mnist.npz", "rb").read()).hexdigest() == "0"
