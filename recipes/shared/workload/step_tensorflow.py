"""A training step in TensorFlow: in version 1 a graph that a session runs, in version 2 a function. Images are channels last."""
import tensorflow as tf

import tensorflow_layers
from harness import Wrong
from tensorflow_layers import Forward, device, v1  # noqa: F401 (for train.py and infer.py)

CHANNELS_FIRST = False
VERSION = tf.__version__


class GraphTraining(object):
    """TensorFlow 1, by XLA or nGraph where the image has one."""

    variant = "graph"

    def __init__(self, network, plan, batch, settings):
        tensorflow_layers.only(settings.compilers, ("xla", "ngraph"))
        if settings.ranks > 1:
            raise Wrong("no training over ranks with graphs of TensorFlow 1")
        self.rank = 0
        self.compilers = settings.compilers
        if "ngraph" in self.compilers:
            import ngraph_bridge

            if not ngraph_bridge.is_enabled():
                raise Wrong("the nGraph bridge is switched off")
        self.forward = Forward(plan)
        self.parameters = self.forward.parameters
        self.examples = v1.placeholder(tf.float32, (batch,) + tuple(network.INPUT))
        self.labels = v1.placeholder(tf.int32, (batch,))
        self.loss = self.forward.loss(self.examples, self.labels)
        with tf.control_dependencies([self.loss]):
            self.train = tf.group(v1.train.GradientDescentOptimizer(network.RATE).minimize(self.loss), *self.forward.updates)
        options = v1.ConfigProto(intra_op_parallelism_threads=settings.threads)
        if "xla" in self.compilers:
            options.graph_options.optimizer_options.global_jit_level = v1.OptimizerOptions.ON_2
        self.session = v1.Session(config=options)
        self.session.run(v1.global_variables_initializer())
        self.last = None

    def put(self, examples, labels):
        return examples, labels

    def step(self, examples, labels):
        self.last = {self.examples: examples, self.labels: labels}
        return self.session.run([self.loss, self.train], self.last)[0]

    def compiled(self):
        """Once more, asked for the graphs as they were run: a compiler has replaced parts of them by operations of its own."""
        if not self.compilers:
            return False
        run = v1.RunMetadata()
        self.session.run([self.loss, self.train], self.last, options=v1.RunOptions(output_partition_graphs=True), run_metadata=run)
        operations = [node.op for graph in run.partition_graphs for node in graph.node]
        own = {"xla": ("_XlaRun", "XlaLaunch"), "ngraph": ("NGraphEncapsulate",)}
        for name in self.compilers:
            count = sum(operations.count(operation) for operation in own[name])
            if count == 0:
                raise Wrong("%s took no part of the graph of %d operations" % (name, len(operations)))
        return " ".join(self.compilers)


class FunctionTraining(object):
    """TensorFlow 2, by XLA where the image has it, over ranks by Horovod."""

    variant = "function"

    def __init__(self, network, plan, batch, settings):
        del batch
        self.dump = tensorflow_layers.dump_of(settings)
        self.hvd = tensorflow_layers.reduced(settings)
        self.rank = self.hvd.rank() if self.hvd else 0
        self.forward = Forward(plan)
        self.parameters = self.forward.parameters
        self.rate = network.RATE
        self.train = tf.function(self._train)

    def _train(self, examples, labels):
        with tf.GradientTape() as tape:
            loss = self.forward.loss(examples, labels)
        if self.hvd:
            tape = self.hvd.DistributedGradientTape(tape)
        for weight, gradient in zip(self.forward.weights, tape.gradient(loss, self.forward.weights)):
            weight.assign_sub(self.rate * gradient)
        return loss

    def put(self, examples, labels):
        return tf.constant(examples), tf.constant(labels)

    def step(self, examples, labels):
        return self.train(examples, labels).numpy()  # waits until it is computed

    def compiled(self):
        return self.dump.proof()["name"] if self.dump else False


class GraphInference(object):
    variant = "graph"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        tensorflow_layers.only(settings.compilers, ())
        if settings.ranks > 1:
            raise Wrong("no inference over ranks")
        forward = Forward(plan, inference=True)
        self.parameters = forward.parameters
        self.examples = v1.placeholder(tf.float32, (batch,) + tuple(network.INPUT))
        self.scores = forward.scores(self.examples)
        self.session = v1.Session(config=v1.ConfigProto(intra_op_parallelism_threads=settings.threads))
        self.session.run(v1.global_variables_initializer())

    def put(self, examples, labels):
        return examples, labels

    def step(self, examples, labels):
        del labels
        return self.session.run(self.scores, {self.examples: examples})

    def compiled(self):
        return False


def compiled_whole(function):
    """By XLA as a whole. Left to TF_XLA_FLAGS, TensorFlow first fuses convolutions into operations of oneDNN, which XLA passes over."""
    try:
        return tf.function(function, jit_compile=True)
    except TypeError:
        return tf.function(function, experimental_compile=True)  # its name up to 2.4


class FunctionInference(object):
    """By XLA where the image has it."""

    variant = "function"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        del network, batch
        if settings.ranks > 1:
            raise Wrong("no inference over ranks")
        self.dump = tensorflow_layers.dump_of(settings)
        forward = Forward(plan, inference=True)
        self.parameters = forward.parameters
        self.scores = compiled_whole(forward.scores) if self.dump else tf.function(forward.scores)

    def put(self, examples, labels):
        return tf.constant(examples), labels

    def step(self, examples, labels):
        del labels
        return self.scores(examples).numpy()  # waits until it is computed

    def compiled(self):
        return self.dump.proof()["name"] if self.dump else False


Inference = GraphInference if VERSION.startswith("1.") else FunctionInference
Training = GraphTraining if VERSION.startswith("1.") else FunctionTraining
