"""A tiny random Transformer on disk, so that the Ditto family is tested in seconds; and threads for all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.matchers.people import FIRST, LAST

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "col",
    "val",
    "name",
    "city",
    *FIRST,
    *LAST,
    "oslo",
    "lima",
    "rome",
    ".",
]
WORDS += [f"{mark}{letter}" for mark in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz0123456789"]


@pytest.fixture(scope="session")
def tiny_transformer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Hugging Face folder: three layers of 32, with a WordPiece tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = Tokenizer(
        models.WordPiece({word: place for place, word in enumerate(dict.fromkeys(WORDS))}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    shape = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=512, **shape)
    torch.manual_seed(0)
    BertModel(config).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == 32
    return folder
