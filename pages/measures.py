"""The size and the shape of the code, counted the same way every time.

How each number is counted, below `src/` where nothing else is said:

- `lines`, `files`: all lines of all Python files, blank lines and comments too.
- `functions`: functions, methods and functions inside others. A function's length is from its `def`
  to its last line without its docstring; decorators do not count. `function_p90` is the length
  that nine of ten functions do not exceed.
- `long`: functions of more than 60 lines.
- `typed`: the share of functions that annotate every argument but `self` and `cls`, and, but for
  `__init__`, their result.
- `documented`: the share of classes and functions, nested ones too, without a leading underscore
  that have a docstring; `documented_modules` is the same share of files.
- `test_lines_per_line`: lines of Python below `tests/` for each line below `src/`.
- `complexity`: the mean over functions of McCabe's number: 1, plus one for each `if`, `for`,
  `while`, `except`, `case`, conditional expression, `for` and `if` of a comprehension, and each
  further operand of `and` and `or`. A function inside another counts for both.
- `homonyms`: names with several meanings, as `pages.naming` counts them.
- `positional`: calls with five or more positional arguments; `*rest` does not count as one, and
  `*(a, b)` counts as what the tuple or list holds.
- `top_floor`: modules and folders of modules directly in `src/understudy`, `__init__.py` too.
- `layers`: lines of the block ```` ```layers ```` in `docs/architecture.md`.
- `imports`: pairs of modules of which one imports the other: at the top of a file, or else lazily
  inside a function, or else for types only. `from a import b` imports the module `a.b` where
  there is one.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages.imports import When, imports
from pages.modules import Documented, Function, Module, modules
from pages.naming import homonyms

LONG = 60
"""Functions of more lines than this need a written reason."""
MANY = 5
"""Calls with this number of positional arguments, or more, are hard to read."""

_BRANCHES = (
    *(ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler),
    *(ast.match_case, ast.comprehension),
)
_LAYERS = re.compile(r"^```layers\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Measures:
    """All measures of a repository; lists name places as `path:line` and what is there."""

    lines: int
    files: int
    file_lengths: tuple[int, ...]
    function_lengths: tuple[int, ...]
    complexities: tuple[int, ...]
    test_lines: int
    public_things: int
    long: tuple[str, ...]
    untyped: tuple[str, ...]
    undocumented: tuple[str, ...]
    undocumented_modules: tuple[str, ...]
    homonyms: dict[str, tuple[str, ...]]
    positional: tuple[str, ...]
    top_floor: tuple[str, ...]
    layers: int
    imports: dict[When, int]

    @property
    def positional_per_thousand(self) -> float:
        """Return the calls with many positional arguments for each 1,000 lines."""
        return 1000 * len(self.positional) / max(1, self.lines)

    def numbers(self) -> dict[str, float]:
        """Give every measure a name and a number, in the order of the table."""
        functions = len(self.function_lengths)
        return {
            "lines": self.lines,
            "files": self.files,
            "functions": functions,
            "function_median": statistics.median(self.function_lengths or [0]),
            "function_p90": _percentile(self.function_lengths, 0.9),
            "function_max": max(self.function_lengths, default=0),
            "long": len(self.long),
            "typed": _share(self.untyped, functions),
            "documented": _share(self.undocumented, self.public_things),
            "documented_modules": _share(self.undocumented_modules, self.files),
            "file_median": statistics.median(self.file_lengths or [0]),
            "file_max": max(self.file_lengths, default=0),
            "test_lines_per_line": self.test_lines / max(1, self.lines),
            "complexity": statistics.mean(self.complexities or [0]),
            "homonyms": len(self.homonyms),
            "positional": len(self.positional),
            "positional_per_thousand": self.positional_per_thousand,
            "top_floor": len(self.top_floor),
            "layers": self.layers,
            "imports": sum(self.imports.values()),
            **{f"imports_{when}": number for when, number in self.imports.items()},
        }


def measured(root: Path) -> Measures:
    """Measure a repository: its `src/`, the length of its tests, and its plan of layers."""
    found = modules(root, "src")
    lengths = tuple(module.lines for module in found)
    functions = [(module, function) for module in found for function in module.functions()]
    public = [(module, node) for module in found for node in _public(module)]
    return Measures(
        lines=sum(lengths),
        files=len(found),
        file_lengths=lengths,
        function_lengths=tuple(length(function) for _, function in functions),
        complexities=tuple(complexity(function) for _, function in functions),
        test_lines=sum(module.lines for module in modules(root, "tests")),
        public_things=len(public),
        long=tuple(_longest(functions)),
        untyped=tuple(_named(m, f) for m, f in functions if not is_typed(f)),
        undocumented=tuple(_named(m, n) for m, n in public if ast.get_docstring(n) is None),
        undocumented_modules=tuple(m.path for m in found if ast.get_docstring(m.tree) is None),
        homonyms=homonyms(found),
        positional=tuple(place for module in found for place in positional(module)),
        top_floor=tuple(top_floor(root)),
        layers=layers(root),
        imports=imports(found),
    )


def length(function: Function) -> int:
    """Count the lines of a function from its `def` on, without those of its docstring."""
    whole = _lines_of(function)
    return whole - (_lines_of(function.body[0]) if ast.get_docstring(function) is not None else 0)


def complexity(function: Function) -> int:
    """Return McCabe's number of a function: how many independent ways lead through it."""
    return 1 + sum(_ways(node) for node in ast.walk(function))


def is_typed(function: Function) -> bool:
    """Say whether arguments and result are annotated; `mypy` knows the result of `__init__`."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    arguments = [each for each in named if each.arg not in ("self", "cls")]
    arguments += [each for each in (given.vararg, given.kwarg) if each is not None]
    result = function.returns is not None or function.name == "__init__"
    return result and all(each.annotation for each in arguments)


def positional(module: Module) -> Iterator[str]:
    """Yield the calls of a module that have many positional arguments."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            given = sum(map(_positions, node.args))
            if given >= MANY:
                yield f"{module.at(node.lineno)} {ast.unparse(node.func)} ({given})"


def _positions(argument: ast.expr) -> int:
    """Count the positional arguments that one argument stands for, as far as the text shows it."""
    if not isinstance(argument, ast.Starred):
        return 1
    listed = argument.value
    return sum(map(_positions, listed.elts)) if isinstance(listed, ast.Tuple | ast.List) else 0


def top_floor(root: Path) -> list[str]:
    """List the modules and folders of modules directly in the package."""
    entries = sorted((root / "src" / "understudy").glob("*"))
    return [each.name for each in entries if each.suffix == ".py" or any(each.glob("**/*.py"))]


def layers(root: Path) -> int:
    """Count the layers that the plan of the house draws; 0 where there is no such plan."""
    plan = root / "docs" / "architecture.md"
    found = _LAYERS.search(plan.read_text(encoding="utf-8")) if plan.exists() else None
    return len(found[1].strip().splitlines()) if found else 0


def _public(module: Module) -> Iterator[Documented]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield node


def _named(module: Module, node: Documented) -> str:
    assert not isinstance(node, ast.Module)
    return f"{module.at(node.lineno)} {node.name}"


def _longest(functions: Iterable[tuple[Module, Function]]) -> list[str]:
    """Name the functions that are too long, the longest first."""
    long = [(length(f), _named(module, f)) for module, f in functions if length(f) > LONG]
    return [f"{named} ({lines})" for lines, named in sorted(long, reverse=True)]


def _lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _ways(node: ast.AST) -> int:
    """Count the ways that a node adds to its function."""
    further = 0
    if isinstance(node, ast.BoolOp):
        further = len(node.values) - 1
    elif isinstance(node, ast.comprehension):
        further = len(node.ifs)
    return further + isinstance(node, _BRANCHES)


def _percentile(numbers: Sequence[int], share: float) -> int:
    return sorted(numbers)[int(share * len(numbers))] if numbers else 0


def _share(missing: Sequence[str], whole: int) -> float:
    return 1 - len(missing) / max(1, whole)
