"""The key of a cell's result: it changes with anything that can change its numbers.

That is the cell itself except for its labels, the code that it runs, and the versions of the
libraries that compute. The code is what the modules of the loop, the learner, the environment and
the welfare import, directly or not, as far as it is fairduel's or the caller's own. Comments,
docstrings, layout, error messages and what only shows results do not count.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import importlib.util
import json
import pickle
import sys
import sysconfig
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fairduel.errors import InputError
from fairduel.experiments.cells import Cell
from fairduel.instance import Instance

LOOP = "fairduel.experiments.cells"
LIBRARIES = ("numpy", "scipy", "numba")
# What only shows, complains or touches files cannot change a number.
SHOWING = {"__repr__", "__str__", "_repr_html_", "plot"}
HARMLESS = {"fairduel._files", "fairduel._tables", "fairduel.errors"}


def key_of(cell: Cell) -> str:
    """Return the key under which the result of a cell is stored."""
    played = (cell.learner, cell.environment, cell.welfare, cell.checkpoints, cell.answering)
    modules = frozenset().union(*map(modules_of, played))
    settings = [identity(part) for part in played]
    parts = [settings, cell.rounds, cell.run, cell.seed, _versions(), code_digest(modules)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def _versions() -> list[str]:
    return [version(library) for library in LIBRARIES]


# Settings


def identity(value: object) -> Any:
    """Return what distinguishes a value from others, as JSON data."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, type):
        return _name_of(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [identity(item) for item in value]
    if isinstance(value, Instance):
        return _digest_of_instance(value)
    if dataclasses.is_dataclass(value):
        fields = [identity(getattr(value, field.name)) for field in dataclasses.fields(value)]
        return [_name_of(type(value)), fields]
    return [_name_of(type(value)), _pickled(value)]


def _name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


@functools.lru_cache(maxsize=64)
def _digest_of_instance(instance: Instance) -> str:
    words = json.dumps([instance.users, instance.arms, instance.scoring])
    return hashlib.sha256(words.encode() + instance.preferences.tobytes()).hexdigest()


def _pickled(value: object) -> str:
    try:
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    except Exception as error:
        raise InputError(
            f"a {type(value).__name__} cannot be told from others of its kind ({error}): "
            "make it a dataclass, or something that pickle can copy."
        ) from error


# Code


def modules_of(value: object) -> set[str]:
    """Return the modules that define a setting and the settings inside it."""
    if isinstance(value, bool | int | float | str | np.generic | np.ndarray | Instance | None):
        return set()
    if isinstance(value, type):
        return {value.__module__}
    if isinstance(value, tuple | list):
        return set[str]().union(*map(modules_of, value))
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    inside = [modules_of(getattr(value, field.name)) for field in fields]
    own = {kind.__module__ for kind in type(value).__mro__[:-1]}
    return {name for name in own if name not in sys.stdlib_module_names}.union(*inside)


_one_parser = threading.Lock()  # Python 3.11 can't parse in two threads at once


def code_digest(modules: frozenset[str]) -> str:
    """Return the digest of all code behind these modules and the loop."""
    with _one_parser:
        return _code_digest(modules)


# Loaded code does not change while the process lasts, and neither does its digest.
@functools.cache
def _code_digest(modules: frozenset[str]) -> str:
    digests = {name: _digest(name) for name in _closure(modules | {LOOP})}
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def _closure(modules: frozenset[str]) -> set[str]:
    """Return the modules and all that they import, as far as these are followed."""
    packages = frozenset(name.partition(".")[0] for name in modules)
    waiting, found = set(modules), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found and name not in HARMLESS and _source(name) is not None:
            found.add(name)
            waiting |= _imports(name, packages)
    return found


@functools.cache
def _is_followed(name: str, packages: frozenset[str]) -> bool:
    """Return whether a module is fairduel's or the caller's: of these packages or not installed."""
    package = name.partition(".")[0]
    source = _source(package)
    if source is None:
        return False
    installed = {Path(sysconfig.get_path(path)) for path in ("stdlib", "purelib", "platlib")}
    return package in packages or not installed & set(source.parents)


@functools.cache
def _source(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


@functools.cache
def _tree(name: str) -> ast.Module:
    source = _source(name)
    assert source is not None
    return ast.parse(source.read_bytes())


@functools.cache
def _digest(name: str) -> str:
    source = _source(name)
    assert source is not None
    tree = _WithoutWords().visit(ast.parse(source.read_bytes()))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


class _WithoutWords(ast.NodeTransformer):
    """Drops what people read: docstrings, error messages, and functions that only show."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return None if node.name in SHOWING else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text else self.generic_visit(node)


@functools.cache
def _imports(name: str, packages: frozenset[str]) -> frozenset[str]:
    """Return the followed modules that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if _is_followed(a.name, packages)}
        if isinstance(node, ast.ImportFrom):
            base = _absolute(name, node)
            if _is_followed(base, packages):
                found |= set[str]().union(*(_defining(base, alias.name) for alias in node.names))
    return frozenset(found)


def _absolute(name: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    source = _source(name)
    is_package = source is not None and source.name == "__init__.py"
    package = name if is_package else name.rpartition(".")[0]
    return importlib.util.resolve_name("." * node.level + (node.module or ""), package)


def _defining(base: str, name: str) -> set[str]:
    """Return where ``from base import name`` takes the name from.

    A package of fairduel's only hands on what its modules define; others may do more.
    """
    source = _source(base)
    if source is None or source.name != "__init__.py":
        return {base}
    ours = base.partition(".")[0] == "fairduel"
    submodule = f"{base}.{name}"
    if _source(submodule) is not None:
        return {submodule} if ours else {submodule, base}
    for node in ast.walk(_tree(base)) if ours else ():
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return _defining(_absolute(base, node), name)
    return {base}
