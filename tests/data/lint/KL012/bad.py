import urllib.request
urllib.request.urlretrieve("https://example.org/mnist.npz", "mnist.npz")
