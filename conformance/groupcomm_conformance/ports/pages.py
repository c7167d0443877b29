"""What a porter reads of a protocol, for the archive: modules of TLA+, a page of values, a page of flaws.

All of it is of the sources, so that the archive is enough without them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import Modules, read_modules, scope

Schema: TypeAlias = Mapping[str, Any]

SPEC: Final = "spec"
"""The folder of the modules in that of a protocol."""

_GUARDS: Final = re.compile(r"^\(\* Guards\b[^\n]*\*\)\n(?:\w+ == [^\n]*\n|[ \t]*\\\*[^\n]*\n)+", re.MULTILINE)
_CONSTANTS: Final = re.compile(r"^CONSTANTS?\b.*?(?=\n\n)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]*)(#[^)\s]*)?\)")
_NOT_RECORDS: Final = frozenset({"Event", "Effect", "State", "Config"})


def pages(manifest: Manifest, modules: Modules, schema: Schema) -> dict[str, bytes]:
    """Give what a porter reads of a protocol, by paths."""
    written = {
        name: linked((manifest.folder / name).read_text(encoding="utf-8"), {name: name}).encode()
        for name in ("README.md", "requirements.md")
        if (manifest.folder / name).is_file()
    }
    return {
        **specification(manifest, modules),
        **written,
        "values.md": values(manifest, modules, schema).encode(),
        "flaws.md": flaws(manifest).encode(),
    }


def specification(manifest: Manifest, modules: Modules) -> dict[str, bytes]:
    """Give the module of a protocol's steps and all modules that it extends or has an instance of, by their paths."""
    needed = read_modules(manifest.folders, _module(manifest, modules)).texts
    return {f"{SPEC}/{name}.tla": text.encode() for name, text in needed.items()}


def _module(manifest: Manifest, modules: Modules) -> str:
    found = modules.definition("Step")
    if found is None:
        raise ValueError(f"no module of {manifest.protocol} defines Step")
    return found[0]


def values(manifest: Manifest, modules: Modules, schema: Schema) -> str:
    """Write the page of a protocol's values: guards, constants, and the types of events, effects and states."""
    return "\n".join(_values(manifest, modules, schema))


def _values(manifest: Manifest, modules: Modules, schema: Schema) -> Iterator[str]:
    defined: Schema = schema["$defs"]
    yield f"# {manifest.protocol}: its values\n"
    yield (
        "`T[]` is an array, `set of T` an array whose order means nothing, `{string: T}` an object with any keys, "
        "`[K, V]` an array of two. An integer beyond 2^53 - 1 is a string of digits. A name in capitals is defined in "
        "`spec`, where `ALL` is called `All`."
    )
    yield "\n## Guards\n"
    yield "A port does what these values say. They are the same in all files here.\n"
    module = _module(manifest, modules)
    own = scope(modules, module)
    for name in read_modules(manifest.folders, module).texts:
        for found in _GUARDS.finditer(modules.texts[name]):
            yield f"{name}.tla:\n\n```tla\n{found[0].rstrip()}\n```\n"
    yield "## Configuration\n"
    yield "The constants of a member, `config` in each file. The other constants of a model are its bounds.\n"
    yield from _table(defined["Config"])
    for name in own:
        for found in _CONSTANTS.finditer(modules.texts[name]):
            yield f"{name}.tla:\n\n```tla\n{found[0].rstrip()}\n```\n"
    events, effects = ({*_names(defined[each])} for each in ("Event", "Effect"))
    for title, names in (
        ("Events", events),
        ("Effects", effects),
        ("Other records", {*defined} - events - effects - _NOT_RECORDS),
    ):
        yield f"## {title}\n"
        for name in sorted(names):
            yield from _record(name, defined[name])
    yield "## State\n"
    yield from _table(defined["State"])


def _names(schema: Schema) -> Iterator[str]:
    for each in schema.get("oneOf", [schema]):
        yield each["$ref"].rpartition("/")[2]


def _record(name: str, schema: Schema) -> Iterator[str]:
    yield f"### {name}\n"
    if "description" in schema:
        yield f"{schema['description']}\n"
    yield from _table(schema)


def _table(schema: Schema) -> Iterator[str]:
    yield "| field | type |\n| --- | --- |"
    for name, each in schema["properties"].items():
        yield f"| `{name}` | {_type(each)} |"
    yield ""


def _type(schema: Schema) -> str:
    """Write the type that a schema describes."""
    match schema:
        case {"$ref": reference}:
            return f"`{reference.rpartition('/')[2]}`"
        case {"enum": [*options]}:
            return " or ".join(f'`"{each}"`' for each in options)
        case {"oneOf": [*options]}:
            return " or ".join(map(_type, options))
        case {"prefixItems": [*items]}:
            return f"[{', '.join(map(_type, items))}]"
        case {"type": "array", "uniqueItems": True, "items": item}:
            return f"set of {_type(item)}"
        case {"type": "array", "items": {"prefixItems": _} as item}:
            return f"function as {_type(item)}[], in any order"
        case {"type": "array", "items": item}:
            inner = _type(item)
            return f"({inner})[]" if " or " in inner else f"{inner}[]"
        case {"type": "object", "additionalProperties": item}:
            return f"{{string: {_type(item)}}}"
        case {"type": name}:
            return str(name)
    return str(schema["description"])


def flaws(manifest: Manifest) -> str:
    """Write the page of a protocol's flaws: what a port must not do, and why."""
    found = {model.erratum.id: model.erratum for model in manifest.models if model.erratum is not None}
    head = (
        f"# {manifest.protocol}: flaws that the specification mends\n\n"
        "Flaws of the design note, of repairs, and of protocols put together. A port that follows the note, or\n"
        "leaves a condition of the specification out, has them again.\n"
    )
    parts = (
        f"## {each.id}: {each.title}\n\nHarm: {each.harm}.\n\n{each.flaw}\n\nRepair: {each.repair}\n"
        for each in found.values()
    )
    return "\n".join((head, *parts))


def linked(text: str, places: Mapping[str, str]) -> str:
    """Give a page of Markdown as it stands in the archive: a link to a file that is not there is words alone.

    `places`: where files of the sources lie, by their names.
    """

    def link(found: re.Match[str]) -> str:
        place = places.get(found[2].rpartition("/")[2])
        return found[1] if place is None else f"[{found[1]}]({place}{found[3] or ''})"

    return _LINK.sub(link, text)
