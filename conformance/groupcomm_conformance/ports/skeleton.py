"""Skeletons of ports: types of a protocol's values, an empty step, and what holds it to vectors and answers the driver.

`Shapes` reads a protocol's schema (`plain.schema`), the one description of its values. The folder `skeletons` has a
template for each language, a folder of files of which all but the types are the same for every protocol. (Jinja with
`[[ ]]` and, as a comment in all four languages, `/*% %*/`.)
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jinja2
from attrs import field, frozen

from groupcomm_conformance.files.errors import PathError

_HERE: Final = Path(__file__).with_name("skeletons")
_TEMPLATE: Final = ".j2"
_FRAME: Final = "frame"
"""The folder of what the READMEs of all languages extend."""
LANGUAGES: Final = tuple(sorted(each.name for each in _HERE.iterdir() if each.name != _FRAME))


@frozen
class Type:
    """The type of a value.

    `kind` is boolean, integer, string, payload, list, set, pair, function, optional, record or union. `of` has the
    types of its parts (of a function those of key and value), `name` is that of a record or union.
    """

    kind: str
    of: tuple["Type", ...] = ()
    name: str = ""


@frozen
class Record:
    """A record. `tag`: what its `type` says, "" where it has none."""

    name: str
    tag: str
    about: str
    fields: Mapping[str, Type]


@frozen
class Union:
    """A choice of records, of different tags."""

    name: str
    options: tuple[str, ...]


@frozen
class Shapes:
    """The types of a protocol's values: `Event`, `Effect`, `State`, `Config`, and all that is in them."""

    records: list[Record] = field(factory=list)
    unions: list[Union] = field(factory=list)

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> "Shapes":
        """Read a schema. ValueError for a type that no skeleton has."""
        shapes = cls()
        definitions = schema["$defs"]
        for name, told in definitions.items():
            if "oneOf" in told:
                shapes._union(name, told["oneOf"])
            else:
                fields = dict(told["properties"])
                tag = fields.pop("type", {"enum": [""]})["enum"][0]
                types = {each: shapes._type(of, f"{name}{_camel(each)}", definitions) for each, of in fields.items()}
                shapes.records.append(Record(name, tag, told.get("description", ""), types))
        return shapes

    def record(self, name: str) -> Record:
        """Give a record by its name."""
        return next(each for each in self.records if each.name == name)

    def union(self, name: str) -> Union:
        """Give a choice by its name."""
        return next(each for each in self.unions if each.name == name)

    def _union(self, name: str, options: Sequence[Mapping[str, str]]) -> str:
        """Give the name of a choice; one that has the same records as an earlier choice goes by that one's name."""
        names = tuple(each["$ref"].rpartition("/")[2] for each in options)
        for each in self.unions:
            if each.options == names:
                return each.name
        self.unions.append(Union(name, names))
        return name

    def _type(self, told: Mapping[str, Any], place: str, definitions: Mapping[str, Any]) -> Type:
        def of(*parts: Mapping[str, Any]) -> tuple[Type, ...]:
            return tuple(self._type(each, place, definitions) for each in parts)

        match told:
            case {"$ref": reference}:
                name = reference.rpartition("/")[2]
                return Type("union" if "oneOf" in definitions[name] else "record", name=name)
            case {"oneOf": options}:
                some = [each for each in options if each != {"type": "null"}]
                (inner,) = of(some[0]) if len(some) == 1 else (Type("union", name=self._union(place, some)),)
                return inner if len(some) == len(options) else Type("optional", (inner,))
            case {"enum": _}:
                return Type("string")
            case {"not": _}:
                return Type("payload")
            case {"additionalProperties": dict() as item}:
                return Type("function", (Type("string"), *of(item)))
            case {"description": "a function, as pairs", "items": {"prefixItems": pair}}:
                return Type("function", of(*pair))
            case {"prefixItems": [_, _] as pair}:
                return Type("pair", of(*pair))
            case {"uniqueItems": True, "items": item}:
                return Type("set", of(item))
            case {"type": "array", "items": item}:
                return Type("list", of(item))
            case {"type": "boolean" | "integer" | "string" as kind}:
                return Type(kind)
        raise ValueError(f"{place}: no skeleton has this type: {told}")


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def write_skeleton(
    protocol: str, language: str, schema: Mapping[str, Any], out: Path, vectors: Path | None = None
) -> list[str]:
    """Write a skeleton into the folder `out`, whole or not at all; give the paths of its files.

    The files of the folder `vectors`, if any, are copied into it. PathError where something is in `out` already.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PathError(out, "something is there already", "name a new folder")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=False,  # noqa: S701 - the output is no page
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="/*%",
        block_end_string="%*/",
        comment_start_string="/*#",
        comment_end_string="#*/",
    )
    environment.filters["camel"] = _camel
    shapes = Shapes.of(schema)
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.absolute().parent) as beside:
        draft = Path(beside, "port")
        templates = [each for each in environment.list_templates() if each.startswith(f"{language}/")]
        names = [each.removeprefix(f"{language}/").removesuffix(_TEMPLATE) for each in templates]
        for template, name in zip(templates, names, strict=True):
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            text = environment.get_template(template).render(protocol=protocol, shapes=shapes, schema=schema)
            (draft / name).write_text(text, encoding="utf-8")
        if vectors is not None:
            shutil.copytree(vectors, draft / "vectors")
        if out.exists():
            out.rmdir()
        draft.rename(out)
    return names
