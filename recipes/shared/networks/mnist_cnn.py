"""The MNIST CNN of Mujkanovic et al.: "two convolutional layers, two maxpool layers, two fully connected layers, and a softmax", with
1,199,882 parameters, images of 28 by 28, batch 128.

One maxpool layer less than their text has: two halve the image twice, and no network with these two dense layers then has that number. It is
the number of Keras's example mnist_cnn with one, which this is, but for its dropout: random numbers differ between frameworks, and the loss
could not be compared. The paper names no optimiser; this is plain gradient descent.
"""
from layers import convolution, dense, flatten, max_pool, relu

INPUT = (28, 28, 1)  # height, width, channels
CLASSES = 10
BATCH = {"cpu": 128, "gpu": 128}
STEPS = 30
RATE = 0.01
PARAMETERS = 1199882
DATA = "mnist"
LOSSES = {128: (2.303971, 5, 2.249299)}  # by batch: the first, and the one after so many steps
SCORES = {128: 0.07040081}  # by batch: their mean size, in inference
LAYERS = [convolution(32, 3), relu(), convolution(64, 3), relu(), max_pool(2), flatten(), dense(128), relu(), dense(10)]
