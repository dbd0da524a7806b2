"""Writes a model of networks/language_model.py as a GGUF file, by the package gguf (its specification: docs/gguf.md of ggml)."""
import gguf
import language_model
import numpy as np


def write(model, path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(model.context)
    writer.add_embedding_length(model.width)
    writer.add_block_count(model.layers)
    writer.add_feed_forward_length(model.hidden)
    writer.add_head_count(model.heads)
    writer.add_head_count_kv(model.key_heads)
    writer.add_layer_norm_rms_eps(language_model.EPSILON)
    writer.add_rope_dimension_count(model.width // model.heads)
    writer.add_rope_freq_base(language_model.ROPE_BASE)
    writer.add_vocab_size(model.vocabulary)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_tokenizer_model("none")  # its text is tokens
    ones = np.ones(model.width, np.float32)
    norms = ["output_norm"] + ["blk.%d.%s" % (layer, part) for layer in range(model.layers) for part in ("attn_norm", "ffn_norm")]
    for name in norms:
        writer.add_tensor(name + ".weight", ones)
    for name, numbers, scale in language_model.weights(model):
        writer.add_tensor(name + ".weight", language_model.q4_0(numbers, scale), raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
