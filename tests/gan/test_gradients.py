"""Gradients of single examples: as a loop over them has it, bounded, and nobody's but their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.promised import need
from support.torches import need_torch
from understudy.gan.backend import random_from
from understudy.gan.gradients import CHUNK, ScoreGradients, TensorExamples, add_whole
from understudy.gan.perceptrons import Critic, RowCritic
from understudy.privacy.mechanisms.sampled import UNIT

WIDTH, ROWS = 12, 37


def _rows(torch: Any) -> TensorExamples:
    examples = torch.rand(ROWS, WIDTH, generator=random_from(1))
    return TensorExamples(examples, torch.zeros(ROWS, dtype=torch.int64))


def _gradients(torch: Any, clip: float = 1.0) -> ScoreGradients:
    critic: Critic = RowCritic(WIDTH, (9, 5))
    return ScoreGradients(
        critic=critic,
        parameters=critic.initial(random_from(2)),
        masks=(),
        examples=_rows(torch),
        clip=clip,
    )


def _looped(torch: Any, gradients: ScoreGradients) -> Any:
    """The gradient of one example after the other, by plain differentiation."""
    lines = []
    for place in range(gradients.rows):
        leaves = {k: v.clone().requires_grad_() for k, v in gradients.parameters.items()}
        examples, labels = gradients.examples.batch(np.array([place]))
        gradients.critic.score(leaves, examples, labels, gradients.masks).sum().backward()
        lines.append(torch.cat([leaf.grad.flatten() for leaf in leaves.values()]))
    return torch.stack(lines)


def test_gradients_are_those_of_a_loop_over_single_rows() -> None:
    """To a hundred-thousandth, for every row and parameter."""
    torch = need_torch()
    gradients = _gradients(torch)
    expected = _looped(torch, gradients)
    assert float((expected - gradients.each(np.arange(ROWS))).abs().max()) < 1e-5


def test_gradients_are_those_of_opacus() -> None:
    """The referee's gradients of single samples are the same."""
    torch = need_torch()
    opacus = need("opacus")
    gradients = _gradients(torch)
    layers = torch.nn.Sequential(
        *(torch.nn.Linear(WIDTH, 9), torch.nn.LeakyReLU(0.2)),
        *(torch.nn.Linear(9, 5), torch.nn.LeakyReLU(0.2), torch.nn.Linear(5, 1)),
    )
    with torch.no_grad():
        for i, layer in enumerate(layer for layer in layers if hasattr(layer, "weight")):
            layer.weight.copy_(gradients.parameters[f"w{i}"].T)
            layer.bias.copy_(gradients.parameters[f"b{i}"])
    watched = opacus.GradSampleModule(layers, loss_reduction="sum")
    examples, _ = gradients.examples.batch(np.arange(ROWS))
    # Its hooks warn where nothing before the network is differentiated.
    watched(examples.requires_grad_()).sum().backward()
    samples = [p.grad_sample for p in watched.parameters()]
    turned = [s.transpose(1, 2) if s.dim() == 3 else s for s in samples]
    expected = torch.cat([sample.flatten(1) for sample in turned], dim=1)
    assert float((expected - gradients.each(np.arange(ROWS))).abs().max()) < 1e-5


def _whole(gradients: ScoreGradients, lines: Any) -> Any:
    """Clipped lines in whole units, one by one."""
    factors = gradients.factors([lines])
    sums = [np.zeros(lines.shape[1], np.int64) for _ in lines]
    for i, summed in enumerate(sums):
        add_whole(lines[i : i + 1].contiguous().numpy(), factors[i : i + 1], summed)
    return np.stack(sums)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4, float("inf"), float("nan")])
def test_no_contribution_is_longer_than_a_unit(scale: float) -> None:
    """In exact integers, and also for gradients that are not numbers."""
    gradients = _gradients(need_torch())
    lines = _whole(gradients, gradients.each(np.arange(ROWS)) * scale)
    assert max(sum(int(cell) ** 2 for cell in line) for line in lines) <= UNIT**2
    assert np.isfinite(scale) == bool(lines.any())


@pytest.mark.parametrize(
    ("cells", "value"), [(10**6, 0.7), (4 * 10**6 + 1, 1 / 3), (10**6, 3e-20), (10**6, 1e30)]
)
def test_long_gradients_of_many_cells_are_cut_to_a_unit(cells: int, value: float) -> None:
    """However many cells there are: equal ones are where rounded sums fall short the most."""
    torch = need_torch()
    gradients = _gradients(torch, clip=1e-20)
    [line] = _whole(gradients, torch.full((1, cells), value))
    length = int(np.dot(line, line))
    assert 0.99 * UNIT**2 < length <= UNIT**2


def test_short_gradients_keep_their_length() -> None:
    """Clipping shortens what is too long, and nothing else."""
    gradients = _gradients(need_torch(), clip=100.0)
    plain = gradients.each(np.arange(ROWS))
    kept = _whole(gradients, plain) * (100.0 / UNIT)
    assert np.abs(plain.numpy() - kept).max() < 1e-2
    assert np.linalg.norm(kept) > 0.999 * np.linalg.norm(plain.numpy())


def test_a_sum_is_the_sum_of_its_rows() -> None:
    """Whatever the chunks; exactly, since contributions are whole numbers."""
    gradients = _gradients(need_torch())
    whole = gradients.total(np.arange(ROWS))
    alone = sum(gradients.total(np.array([place])) for place in range(ROWS))
    assert np.abs(whole - alone).max() <= ROWS
    assert CHUNK < ROWS
    assert not gradients.total(np.arange(0)).any()


def test_a_contribution_is_nobody_elses_business() -> None:
    """Beside other rows, and in another place, a row adds the same within a thousandth."""
    gradients = _gradients(need_torch())
    for others in (np.arange(1, 16), np.arange(20, 35), np.array([5] * 15)):
        batch = np.concatenate([others[:7], [0], others[7:]])
        beside = gradients.total(batch) - gradients.total(others)
        alone = gradients.total(np.array([0]))
        assert np.linalg.norm(beside - alone) <= UNIT / 1000


def test_sums_without_a_row_differ_by_its_contribution() -> None:
    """What a replay compares: within the sensitivity for one row, beyond it without clipping."""
    torch = need_torch()
    gradients = _gradients(torch, clip=1e-3)
    held = gradients.examples
    assert isinstance(held, TensorExamples)
    without = replace(gradients, examples=TensorExamples(held.examples[1:], held.labels[1:]))
    assert 0.9 * UNIT < np.linalg.norm(gradients - without) <= 1.001 * UNIT


def test_private_gradients_do_not_show_themselves() -> None:
    """Nothing that holds rows prints them."""
    assert "ScoreGradients(private)" == repr(_gradients(need_torch()))
