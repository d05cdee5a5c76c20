"""The reference of Python names: every public name, described by its docstring."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping

from understudy.errors import UnderstudyError
from understudy.methods.base import Synthesizer

_EDGES = ("federated", "stream", "testing")
_INTRODUCTION = """\
# Names of Python

Every public name, described by its docstring.
The names of `understudy` and of the three packages below are the contract.
Other modules may move between versions.
"""


def api_pages() -> dict[str, str]:
    """Return the pages of the reference by their path on the site."""
    pages = {f"reference/api/{name}.md": text for name, text in _front_door().items()}
    for edge in _EDGES:
        module = f"understudy.{edge}"
        pages[f"reference/api/{edge}.md"] = _page(f"`{module}`", {module: public_names(module)})
    listed = [path.removeprefix("reference/").removesuffix(".md") for path in pages]
    links = [f"- [{path.removeprefix('api/')}]({path}.md)" for path in listed]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *listed, "```", ""])
    return {"reference/api.md": "\n".join([_INTRODUCTION, *links, "", toctree]), **pages}


def public_names(module: str) -> list[str]:
    """Return the public names of a module, in their order."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None)
    return [*names] if names else [n for n, value in vars(found).items() if _ours(value, module)]


def _ours(value: object, module: str) -> bool:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return False
    return value.__module__ == module and not value.__name__.startswith("_")


def _front_door() -> Mapping[str, str]:
    """Return the names of `understudy` itself, by what they are."""
    package = importlib.import_module("understudy")
    values = {name: getattr(package, name) for name in public_names("understudy")}
    values.pop("__version__")
    errors = {n for n, v in values.items() if inspect.isclass(v) and issubclass(v, UnderstudyError)}
    methods = {n for n, v in values.items() if inspect.isclass(v) and issubclass(v, Synthesizer)}
    methods |= {"ImageGAN"} & {*values}
    verbs = {n for n, v in values.items() if not inspect.isclass(v)}
    kinds = {
        "methods": ("Methods", methods),
        "functions": ("Functions", verbs),
        "classes": ("Schema, model, budget and statement", {*values} - methods - verbs - errors),
        "errors": ("Errors", errors),
    }
    return {n: _page(title, {"understudy": sorted(m)}) for n, (title, m) in kinds.items()}


def _page(title: str, names: Mapping[str, Iterable[str]]) -> str:
    lines = [f"# {title}", ""]
    for module, every in names.items():
        for name in every:
            lines += [f"## {name}", "", _directive(module, name), ""]
    return "\n".join(lines)


def _directive(module: str, name: str) -> str:
    """Return the directive for a name, under which users import it."""
    value = getattr(importlib.import_module(module), name)
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    if not callable(value):
        kind = "autodata"
    options = [":members:", ":show-inheritance:"] if kind == "autoclass" else []
    head = f".. {kind}:: {module}.{name}"
    return "\n".join(["```{eval-rst}", head, *(f"   {o}" for o in options), "```"])
