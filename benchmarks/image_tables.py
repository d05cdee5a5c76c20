"""The tables of the guide on images, made from the results on record."""

from __future__ import annotations

from typing import Any

import numpy as np

Record = dict[str, Any]

FIT_OF_MNIST = "fit by moments, all of MNIST's training images, CPU"
DRAWING = "60,000 images drawn from a model by moments, CPU"


def other_images_table(found: dict[str, Record]) -> str:
    """Every set of images with what students of real and of generated ones find."""
    record = found["images"]
    lines = ["| images | learned from | real images teach | generated ones teach | fit |"]
    lines.append("|---" * 5 + "|")
    for each in record["details"]:
        teach = [f"{100 * share:.1f} %" for share in (each["real"], np.mean(each["accuracies"]))]
        runs = len(each["accuracies"])
        mean = f" (mean of {runs})" if runs > 1 else ""
        lines.append(
            f"| {each['set']} | {each['images']:,} | {teach[0]} | {teach[1]}{mean} "
            f"| {each['seconds']:.1f} s |"
        )
    return "\n".join([*lines, "", _seconds(record), *_measured(record)])


def _seconds(record: Record) -> str:
    """Say how long all of MNIST takes, where it was there."""
    found = {line["what"]: f"{line['measured']:.1f}" for line in record["lines"]}
    fit, drawing = (found.get(what) for what in (FIT_OF_MNIST, DRAWING))
    if fit is None or drawing is None:
        return "MNIST was not there."
    return (
        f"All of MNIST's training images are learned in {fit} seconds of one core, and as many "
        f"are drawn in {drawing}."
    )


def rows_table(found: dict[str, Record]) -> str:
    """Mean distances of pairs by `adaptive` and by `dpgan`, with a start and without."""
    record = found["gan_rows"]
    methods = list(dict.fromkeys(each["method"] for each in record["details"]))
    lines = [f"| table | {' | '.join(methods)} |", "|---" * (len(methods) + 1) + "|"]
    shapes = {e["table"]: f"{e['rows']:,} × {e['columns']}" for e in record["details"]}
    for name, shape in shapes.items():
        cells = {
            each["method"]: f"{np.mean(each['distances']):.3f}"
            for each in record["details"]
            if each["table"] == name
        }
        lines.append(f"| {name}, {shape} | {' | '.join(cells[m] for m in methods)} |")
    return "\n".join([*lines, "", *_measured(record)])


def numeric_table(found: dict[str, Record]) -> str:
    """Mean distances of pairs by `adaptive` and by Gaussians of normal scores."""
    record = found["numeric_moments"]
    ways = list(dict.fromkeys(each["way"] for each in record["details"]))
    lines = [f"| table | ε | {' | '.join(ways)} |", "|---" * (len(ways) + 2) + "|"]
    places = {(e["table"], e["epsilon"]): e for e in record["details"]}
    for (name, epsilon), about in places.items():
        cells = {
            each["way"]: f"{np.mean(each['distances']):.3f}"
            for each in record["details"]
            if (each["table"], each["epsilon"]) == (name, epsilon)
        }
        shape = f"{name}, {about['rows']:,} × {about['columns']}"
        lines.append(f"| {shape} | {epsilon} | {' | '.join(cells[way] for way in ways)} |")
    return "\n".join([*lines, "", *_measured(record)])


def _measured(record: Record) -> list[str]:
    """Say when and how it was measured."""
    runs = [len(each["distances"]) for each in record["details"] if "distances" in each]
    about = [_about_runs(min(runs), max(runs))] if runs else []
    return [*about, f"Measured on {record['date']} with `{record['command']}`."]


def _about_runs(fewest: int, most: int) -> str:
    if most == 1:
        return "One run each."
    return f"Means of {most} runs." if fewest == most else f"Means of {fewest} to {most} runs."
