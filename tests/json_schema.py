"""A small validator of JSON Schema, of the keywords that our schemas have; any other is a KeyError."""

import re
from collections.abc import Callable, Iterable
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
}


def valid(root: Any, schema: Any, value: Any) -> None:  # noqa: ANN401 - JSON
    """AssertionError where the value is not as the schema has it."""
    for keyword, told in schema.items():
        RULES[keyword](root, schema, told, value)


def holds(root: Any, schema: Any, value: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        valid(root, schema, value)
    except AssertionError:
        return False
    return True


def claim(met: bool) -> None:  # noqa: FBT001 - an assertion
    assert met


def properties(root: Any, _schema: Any, told: Any, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, dict):
        for name, item in value.items():
            if name in told:
                valid(root, told[name], item)


def additional(root: Any, schema: Any, told: Any, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, dict):
        for name, item in value.items():
            patterns = schema.get("patternProperties", {})
            if name not in schema.get("properties", {}) and not any(re.search(each, name) for each in patterns):
                assert told is not False, name
                valid(root, told, item)


def patterned(root: Any, _schema: Any, told: Any, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, dict):
        for pattern, of in told.items():
            each_valid((root, of, item) for name, item in value.items() if re.search(pattern, name))


def reference(root: Any, _schema: Any, told: str, value: Any) -> None:  # noqa: ANN401
    valid(root, root["$defs"][told.removeprefix("#/$defs/")], value)


def matches(pattern: str, text: Any) -> bool:  # noqa: ANN401
    return not isinstance(text, str) or re.search(pattern, text) is not None


def each_valid(pairs: Iterable[tuple[Any, Any, Any]]) -> None:
    for root, schema, value in pairs:
        valid(root, schema, value)


RULES: dict[str, Callable[[Any, Any, Any, Any], None]] = {
    "$schema": lambda *_: None,
    "$defs": lambda *_: None,
    "title": lambda *_: None,
    "description": lambda *_: None,
    "$ref": reference,
    "type": lambda _r, _s, told, value: claim(
        isinstance(value, TYPES[told]) and (told == "boolean") == (value is True or value is False)
    ),
    "required": lambda _r, _s, told, value: claim(not isinstance(value, dict) or set(told) <= set(value)),
    "properties": properties,
    "patternProperties": patterned,
    "additionalProperties": additional,
    "items": lambda root, _s, told, value: each_valid((root, told, item) for item in value),
    "const": lambda _r, _s, told, value: claim(told == value),
    "minItems": lambda _r, _s, told, value: claim(len(value) >= told),
    "maxItems": lambda _r, _s, told, value: claim(len(value) <= told),
    "minProperties": lambda _r, _s, told, value: claim(len(value) >= told),
    "pattern": lambda _r, _s, told, value: claim(matches(told, value)),
    "oneOf": lambda root, _s, told, value: claim(sum(holds(root, each, value) for each in told) == 1),
}
