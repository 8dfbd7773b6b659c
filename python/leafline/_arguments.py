"""Checks the arguments of calls by their declared types: those of the package's own classes, and of ``_leafline.pyi``."""

from __future__ import annotations

import __future__

import collections.abc
import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from . import _leafline
from ._types import Time

_C = TypeVar("_C", bound=type)

_SHOWN = 60
"""Characters of a value that an error shows."""


def checked(owner: _C, declared: type | None = None) -> _C:
    """Has every public method of a class check its arguments. The types are those of ``declared``, or the class's own."""
    for name, function in vars(declared or owner).items():
        if isinstance(function, types.FunctionType) and (name == "__init__" or not name.startswith("_")):
            call = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
            setattr(owner, name, _checked(call, vars(owner)[name], function))
    return owner


def check_native(*owners: type) -> None:
    """The same for classes that are written in Rust. The module has the text of their types."""
    stubs: dict[str, Any] = {"__name__": "leafline._stubs", "__package__": "leafline"}
    flags = __future__.annotations.compiler_flag
    exec(compile(_leafline.STUBS, "_leafline.pyi", "exec", flags, dont_inherit=True), stubs)
    for owner in owners:
        checked(owner, stubs[owner.__name__])


def _checked(call: str, function: Callable[..., Any], declared: types.FunctionType) -> Callable[..., Any]:
    signature = inspect.signature(declared)
    parameters = signature.parameters
    if len(parameters) == 1:
        return function

    @functools.cache
    def hints() -> dict[str, Any]:
        return typing.get_type_hints(declared, include_extras=True)

    @functools.wraps(function)
    def method(*args: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in parameters:
                known = ", ".join(list(parameters)[1:])
                raise _coded(TypeError(f"{call}() has no argument {name!r}; it has {known}"))
        try:
            given = signature.bind(*args, **keywords).arguments
        except TypeError as error:
            raise _coded(TypeError(f"{call}(): {error}")) from None
        for name, value in given.items():
            if name not in hints():
                continue
            if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                for place, item in enumerate(value):
                    _check(call, f"{name}[{place}]", hints()[name], item)
            else:
                _check(call, name, hints()[name], value)
        return function(*args, **keywords)

    return method


def _coded(error: TypeError | ValueError) -> TypeError | ValueError:
    error.code = "INVALID_ARGUMENT"  # type: ignore[union-attr]
    return error


def _check(call: str, place: str, hint: Any, value: Any) -> None:
    wrong = _wrong(hint, value)
    if wrong is not None:
        raise _coded(wrong(f"{call}(): {place} must be {_words(hint)}, got {_got(value)}"))
    for part in _alternatives(hint):
        if typing.get_origin(part) is collections.abc.Sequence and _wrong(part, value) is None:
            for index, item in enumerate(value):
                _check(call, f"{place}[{index}]", typing.get_args(part)[0], item)


def _got(value: Any) -> str:
    if value is None:
        return "None"
    text = repr(value)
    kind = type(value).__name__
    return f"the {kind} {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}"


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _wrong(hint: Any, value: Any) -> type[TypeError] | type[ValueError] | None:
    """The class of the error for a value that is not of a type; none for one that is."""
    wrongs = [_wrong_for(part, value) for part in _alternatives(hint)]
    return None if None in wrongs else ValueError if ValueError in wrongs else TypeError


def _wrong_for(hint: Any, value: Any) -> type[TypeError] | type[ValueError] | None:
    if hint is Any:
        return None
    origin = typing.get_origin(hint)
    if origin is Literal:
        words = typing.get_args(hint)
        return None if value in words else ValueError if isinstance(value, str) else TypeError
    if hint is int or origin is Annotated:
        try:
            number = operator.index(value)
        except TypeError:
            return TypeError
        if isinstance(value, bool):
            return TypeError
        least = 0 if hint is int else -(2**63)
        return None if least <= number < 2**63 else ValueError
    if origin is collections.abc.Callable:
        return None if callable(value) else TypeError
    if origin is collections.abc.Sequence and isinstance(value, (str, bytes)):
        return TypeError
    return None if isinstance(value, origin or hint) else TypeError


def _words(hint: Any) -> str:
    words = [_word(part) for part in _alternatives(hint)]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(hint: Any) -> str:
    origin = typing.get_origin(hint)
    if hint is Time:
        return "a time in milliseconds since 1970"
    if origin is Literal:
        return f"one of {', '.join(map(repr, typing.get_args(hint)))}"
    if origin is collections.abc.Callable:
        return "a function"
    if origin is collections.abc.Sequence:
        return f"a sequence, each member {_words(typing.get_args(hint)[0])}"
    known = {type(None): "None", int: "a whole number from 0 to 2**63 - 1", str: "a str", bool: "a bool", bytes: "bytes"}
    kind = origin or hint
    return known.get(kind) or f"a {kind.__name__}"
