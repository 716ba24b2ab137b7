"""A bidirectional GRU over values of unequal length, both directions in one loop and without padding.

Torch's own GRU runs each direction separately and records every small operation for the gradient; on a CPU that costs
more than the arithmetic. Here values are read from both ends at once (`Reading.mirror` says where a token stands when
its value is read backwards), and the gradient is written out. Same formulas, same numbers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from riskcore.matchers.layout import Batch


class Reader(nn.Module):
    """Gives each token of a batch a vector that knows the words around it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        half = self.direction = width // 2  # numbers per direction
        self.enter = nn.Linear(width, 6 * half)  # reset, update and candidate, of either direction
        self.weight = nn.Parameter(torch.empty(2, half, 3 * half))
        self.bias = nn.Parameter(torch.empty(2, 1, 3 * half))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(half**-0.5), half**-0.5)

    def forward(self, batch: Batch, vectors: Tensor) -> Tensor:
        reading = batch.reading
        assert reading is not None
        if not len(reading.words):
            return vectors.new_zeros(0, vectors.shape[1])
        words = functional.embedding(reading.words, vectors)
        ahead, back = self.enter(words).split(3 * self.direction, dim=1)
        inputs = torch.stack([ahead, back.index_select(0, reading.mirror)])
        states = _Walk.apply(inputs, self.weight, self.bias, reading.batch_sizes.tolist())
        read = torch.cat([states[0], states[1].index_select(0, reading.mirror)], dim=1)
        return functional.embedding(reading.tokens, words + read)  # the word itself stays visible


class _Walk(torch.autograd.Function):
    """States after each token. With inputs a, recurrent part b = state W + bias, both cut in three:

    reset = sigmoid(a1 + b1), update = sigmoid(a2 + b2), candidate = tanh(a3 + reset * b3),
    state' = candidate + update * (state - candidate).
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor, sizes: list[int]) -> Tensor:
        width = weight.shape[1]
        states, before = inputs.new_empty(2, inputs.shape[1], width), inputs.new_empty(2, inputs.shape[1], width)
        gates, candidates, pulls = inputs[..., : 2 * width].clone(), inputs[..., 2 * width :].clone(), before.clone()
        state, start = inputs.new_zeros(2, sizes[0], width), 0
        for size in sizes:  # values are sorted by length: those that go on are the first ones
            here, state = slice(start, start + size), state[:, :size]
            before[:, here] = state
            recurrent = torch.baddbmm(bias, state, weight)
            gate = gates[:, here].add_(recurrent[..., : 2 * width]).sigmoid_()
            reset, update = gate.split(width, dim=2)
            pulls[:, here] = recurrent[..., 2 * width :]
            candidate = candidates[:, here].addcmul_(reset, recurrent[..., 2 * width :]).tanh_()
            state = torch.lerp(candidate, state, update)
            states[:, here] = state
            start += size
        ctx.save_for_backward(weight, before, gates, candidates, pulls)
        ctx.sizes = sizes
        return states

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        weight, before, gates, candidates, pulls = ctx.saved_tensors
        (gradient,), width, sizes = outer, weight.shape[1], ctx.sizes
        reset, update = gates.split(width, dim=2)
        to_candidate = (1 - update) * (1 - candidates**2)
        to_update = (before - candidates) * update * (1 - update)
        to_reset = to_candidate * pulls * reset * (1 - reset)
        slopes = torch.cat([to_reset, to_update, to_candidate * reset], dim=2)  # of the recurrent part
        carried, stop = gradient.new_zeros(2, 0, width), gradient.shape[1]
        felt, turned = torch.empty_like(gradient), weight.transpose(1, 2)
        for size in reversed(sizes):
            here = slice(stop - size, stop)
            now = gradient[:, here].clone()
            now[:, : carried.shape[1]] += carried
            felt[:, here] = now
            recurrent = slopes[:, here].mul_(now.repeat(1, 1, 3))
            carried = torch.baddbmm(now * update[:, here], recurrent, turned)
            stop -= size
        inputs = torch.cat([slopes[..., : 2 * width], to_candidate * felt], dim=2)
        return inputs, before.transpose(1, 2) @ slopes, slopes.sum(dim=1, keepdim=True), None
