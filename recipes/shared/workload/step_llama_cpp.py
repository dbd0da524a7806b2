"""A language model in llama.cpp, by llama-cpp-python: the model as a GGUF file in a folder of its own, tokens in, logits out."""
import os
import tempfile

import llama_cpp
import llama_file
import numpy as np

from harness import Wrong

VERSION = llama_cpp.__version__
FORMAT = "Q4_0 in GGUF"


def device():
    return "cpu"


class Generation:
    def __init__(self, model, settings):
        if settings.compilers or settings.ranks > 1:
            raise Wrong("llama.cpp has no graph compiler and runs as one process")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.gguf")
            llama_file.write(model, path)
            # Without mmap: the file is gone when the model is read.
            self.llama = llama_cpp.Llama(path, n_ctx=model.context, n_batch=model.context, n_ubatch=model.context, use_mmap=False,
                                         n_threads=settings.threads, n_threads_batch=settings.threads, verbose=False)
        self.vocabulary = model.vocabulary
        self.parameters = llama_cpp.llama_model_n_params(self.llama.model)
        self.variant = features()

    def start(self):
        """Forgets what was read."""
        self.llama.reset()
        self.llama._ctx.kv_cache_clear()

    def read(self, tokens):
        """The logits for the token after the last of `tokens`."""
        self.llama.eval(tokens)
        found = llama_cpp.llama_get_logits_ith(self.llama.ctx, -1)
        return np.ctypeslib.as_array(found, shape=(self.vocabulary,)).copy()


def features():
    """What llama.cpp was compiled for, in its own words: AVX2 and so on."""
    said = llama_cpp.llama_print_system_info().decode()
    cpu = said.partition("CPU :")[2]
    return " ".join(word.split("=")[0].strip() for word in cpu.split("|") if word.strip().endswith("= 1"))
