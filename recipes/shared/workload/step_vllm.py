"""A language model in vLLM on CPUs, in its engine as it is unless told otherwise: the model as Transformers' folder, tokens in, logits out.

The engine chooses its next token itself. Where the text is given, a processor of logits keeps them and leaves the engine one choice.
"""
import math
import os
import tempfile

# In one process, where these logits can be seen. vLLM reads both when it is imported.
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

import language_model
import torch
import vllm
from safetensors import safe_open
from vllm.v1.sample.logits_processor import LogitsProcessor

import step_transformers
from harness import Wrong

VERSION = vllm.__version__.split("+")[0]
FORMAT = step_transformers.FORMAT
COMPILED = True  # by TorchInductor, as vLLM does unless told otherwise
MEMORY = 64 << 20  # of keys and values


def device():
    return "cpu"


class Given(LogitsProcessor):
    """Keeps the logits of a step, and makes the engine choose `token` where that is not None."""

    token = None
    logits = None

    def __init__(self, vllm_config, device, is_pin_memory):
        del vllm_config, device, is_pin_memory

    def is_argmax_invariant(self):
        return False

    def update_state(self, batch_update):
        del batch_update

    def apply(self, logits):
        Given.logits = logits[0].float().numpy().copy()
        if Given.token is not None:
            logits[:, Given.token] = torch.finfo(logits.dtype).max
        return logits


class Generation:
    def __init__(self, model, settings):
        if settings.compilers or settings.ranks > 1:
            raise Wrong("this workload runs vLLM's engine in one process, which compiles by itself")
        torch.set_num_threads(settings.threads)
        with tempfile.TemporaryDirectory() as folder:
            step_transformers.write(model, folder)
            # Of the file: vLLM packs the matrices of linear layers in another form, and keeps the packed ones only.
            with safe_open(os.path.join(folder, "model.safetensors"), "np") as file:
                self.parameters = sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())
            # Without its cache of prompts, so that each prompt is read.
            self.llm = vllm.LLM(folder, skip_tokenizer_init=True, dtype="float32", max_model_len=model.context, kv_cache_memory_bytes=MEMORY,
                                enable_prefix_caching=False, logits_processors=[Given])
        self.engine = self.llm.llm_engine
        self.text = language_model.tokens(model, model.context)
        self.variant = "torch " + torch.__version__
        self.requests = self.count = 0

    def start(self):
        """Forgets what was read."""
        self.engine.abort_request([str(self.requests)])
        self.requests += 1
        self.count = 0

    def read(self, tokens):
        """The logits for the token after the last of `tokens`, which go on in the text."""
        if self.count == 0:
            params = vllm.SamplingParams(temperature=0, max_tokens=len(self.text) - len(tokens), ignore_eos=True, detokenize=False)
            self.engine.add_request(str(self.requests), {"prompt_token_ids": tokens}, params)
        self.count += len(tokens)
        Given.token = self.text[self.count]
        self.engine.step()
        return Given.logits

    def answer(self, prompts, count):
        """For each prompt the likeliest `count` tokens; all prompts at once."""
        self.start()
        Given.token = None
        params = vllm.SamplingParams(temperature=0, max_tokens=count, ignore_eos=True, detokenize=False)
        said = self.llm.generate([{"prompt_token_ids": prompt} for prompt in prompts], params, use_tqdm=False)
        return [list(one.outputs[0].token_ids) for one in said]
