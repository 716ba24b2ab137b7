"""Where networks are trained, and in which precision: decided here and nowhere else."""

from __future__ import annotations

import contextlib

import torch


def device() -> torch.device:
    """A GPU where there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def halves_well(where: torch.device) -> bool:
    """Whether matrix products in bfloat16 are faster there than in float32, by up to five times. Without instructions
    for them, a processor takes longer."""
    if where.type == "cuda":
        return torch.cuda.is_bf16_supported()
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def mixed_precision(where: torch.device, half: bool) -> contextlib.AbstractContextManager[object]:
    """Matrix products in bfloat16, if so. Weights, moments and what is added up stay in float32."""
    return torch.autocast(where.type, dtype=torch.bfloat16) if half else contextlib.nullcontext()
