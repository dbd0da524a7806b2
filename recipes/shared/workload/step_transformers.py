"""A language model in Transformers on PyTorch: the model as a folder with config.json and model.safetensors, tokens in, logits out."""
import os
import tempfile

import language_model
import numpy as np
import torch
import transformers
from safetensors.torch import save_file

from harness import Wrong

VERSION = torch.__version__.split("+")[0]
FORMAT = "float32 in safetensors"
# Names in Transformers' files, by those in GGUF.
NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}


def device():
    return "gpu" if torch.cuda.is_available() else "cpu"


def name_of(name):
    if not name.startswith("blk."):
        return {"token_embd": "model.embed_tokens", "output": "lm_head"}[name] + ".weight"
    _, layer, part = name.split(".")
    return "model.layers.%s.%s.weight" % (layer, NAMES[part])


def halves(matrix, heads):
    """Rows of each head: those of Llama's own files turn neighbours by a position, Transformers turns the halves of a head."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def state(model):
    """The tensors of a file. Norms begin with ones, as a new model has them."""
    found = {}
    for name, numbers, scale in language_model.weights(model):
        matrix = numbers * np.float32(scale)
        if name.endswith(("attn_q", "attn_k")):
            matrix = halves(matrix, model.heads if name.endswith("attn_q") else model.key_heads)
        found[name_of(name)] = torch.from_numpy(np.ascontiguousarray(matrix))
    ones = torch.ones(model.width)
    for layer in range(model.layers):
        for part in ("input_layernorm", "post_attention_layernorm"):
            found["model.layers.%d.%s.weight" % (layer, part)] = ones.clone()
    found["model.norm.weight"] = ones
    return found


def write(model, folder):
    config = transformers.LlamaConfig(
        vocab_size=model.vocabulary, hidden_size=model.width, intermediate_size=model.hidden, num_hidden_layers=model.layers,
        num_attention_heads=model.heads, num_key_value_heads=model.key_heads, max_position_embeddings=model.context,
        rms_norm_eps=language_model.EPSILON, rope_parameters={"rope_type": "default", "rope_theta": language_model.ROPE_BASE},
        tie_word_embeddings=False, architectures=["LlamaForCausalLM"], dtype="float32")
    config.save_pretrained(folder)
    save_file(state(model), os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})


class Generation:
    def __init__(self, model, settings):
        if settings.compilers or settings.ranks > 1:
            raise Wrong("this workload runs a language model of PyTorch eagerly, in one process")
        torch.set_num_threads(settings.threads)
        with tempfile.TemporaryDirectory() as folder:
            write(model, folder)
            self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32)
        self.place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(self.place).eval()
        self.parameters = sum(parameter.numel() for parameter in self.model.parameters())
        self.variant = "transformers " + transformers.__version__
        self.cache = None

    def start(self):
        """Forgets what was read."""
        self.cache = transformers.DynamicCache(config=self.model.config)

    def read(self, tokens):
        """The logits for the token after the last of `tokens`."""
        with torch.inference_mode():
            text = torch.tensor([tokens], device=self.place)
            said = self.model(input_ids=text, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
            return said.logits[0, -1].float().cpu().numpy()
