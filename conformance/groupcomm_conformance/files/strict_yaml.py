"""YAML without surprises, for manifests and scenarios.

PyYAML's loaders read `on` as true and `12:30` as 750, and keep the last of two equal keys. Here a
document is a tree of `Node`s, each with its line, built from the parser's events:

- Plain scalars are integers (`0`, `-3`, `17`), booleans (`true`, `false`) or text.
- A scalar that other YAML readers take for another type (`on`, `1.5`, `12:30`, `0x10`, `2020-01-31`,
  `~`, an empty value) is refused unless it stands in quotes.
- Keys are text and differ within a mapping.
- There are no tags, anchors, aliases or second documents.

Every refusal is a `FileError` that prints `file:line: expected ...`. The methods of `Node` that read a
value of a kind (`text`, `integer`, `fields`, ...) refuse any other in the same way.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from attrs import frozen

from .errors import FileError
from .reading import read_text

__all__ = ["Content", "FileError", "Node", "Plain", "load", "parse"]

Plain: TypeAlias = "int | bool | str | list[Plain] | dict[str, Plain]"
Content: TypeAlias = "int | bool | str | tuple[Node, ...] | Mapping[str, Node]"

_DEEPEST = 40
_MOST_DIGITS = 18
_LONGEST_SHOWN = 80
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER_ELSEWHERE = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_TAG = "tag:yaml.org,2002:str"
_RESOLVER: Any = yaml.resolver.Resolver()


@frozen
class Node:
    """One value of a document, and where it stands.

    `content` is an int, a bool, text, a tuple of nodes or a mapping from text to nodes. `line` (from 1)
    is that of the value's key, or of the value itself where it has none.
    """

    content: Content
    file: str
    line: int

    def error(self, expected: str) -> FileError:
        """Make, without raising it, the error that points here: `file:line: expected ...`."""
        return FileError(self.file, self.line, expected)

    def plain(self) -> Plain:
        """Give the value without lines: int, bool, str, list or dict."""
        match self.content:
            case tuple(items):
                return [item.plain() for item in items]
            case Mapping() as entries:
                return {key: node.plain() for key, node in entries.items()}
            case scalar:
                return scalar

    def text(self, what: str = "text") -> str:
        """Read non-empty text; `what` names it in the error."""
        if isinstance(self.content, str) and self.content.strip():
            return self.content
        raise self.error(f"{what}, not {self._shown()}")

    def matching(self, pattern: str, what: str) -> str:
        """Read text all of which matches the regular expression `pattern`."""
        if isinstance(self.content, str) and re.fullmatch(pattern, self.content):
            return self.content
        raise self.error(f"{what}, not {self._shown()}")

    def choice(self, allowed: Iterable[str]) -> str:
        """Read one of the words `allowed`."""
        words = tuple(allowed)
        if isinstance(self.content, str) and self.content in words:
            return self.content
        raise self.error(f"{_one_of(words)}, not {self._shown()}")

    def integer(self, least: int | None = None) -> int:
        """Read an integer that is not below `least`."""
        if isinstance(self.content, int) and not isinstance(self.content, bool):
            if least is None or self.content >= least:
                return self.content
            raise self.error(f"an integer from {least} up, not {self.content}")
        raise self.error(f"an integer, not {self._shown()}")

    def boolean(self) -> bool:
        """Read `true` or `false`."""
        if isinstance(self.content, bool):
            return self.content
        raise self.error(f"true or false, not {self._shown()}")

    def items(self, what: str = "a list") -> "tuple[Node, ...]":
        """Read a list, which may be empty."""
        if isinstance(self.content, tuple):
            return self.content
        raise self.error(f"{what}, not {self._shown()}")

    def entries(self, what: str = "a mapping") -> "Mapping[str, Node]":
        """Read a mapping with any keys, which may be empty."""
        if isinstance(self.content, Mapping):
            return self.content
        raise self.error(f"{what}, not {self._shown()}")

    def fields(self, required: Iterable[str], optional: Iterable[str] = ()) -> "Mapping[str, Node]":
        """Read a mapping that has every key of `required` and none outside `required` and `optional`."""
        needed = tuple(required)
        allowed = (*needed, *optional)
        entries = self.entries(f"a mapping with {', '.join(needed) or 'named fields'}")
        for key, node in entries.items():
            if key not in allowed:
                raise node.error(f'{_one_of(allowed)}, not the unknown key "{key}"')
        for key in needed:
            if key not in entries:
                raise self.error(f'the key "{key}", which is missing')
        return entries

    def _shown(self) -> str:
        match self.content:
            case bool(value):
                return "true" if value else "false"
            case int(value):
                return str(value)
            case str(value):
                return f'"{value}"' if len(value) <= _LONGEST_SHOWN else f'"{value[:_LONGEST_SHOWN]}"...'
            case tuple():
                return "a list"
            case _:
                return "a mapping"


def load(path: Path, shown: str | None = None) -> Node:
    """Read the file at `path`; errors call it `shown`, by default the path as given."""
    name = str(path) if shown is None else shown
    return parse(read_text(path, name, "a file in YAML"), name)


@lru_cache(maxsize=32)
def parse(text: str, shown: str) -> Node:
    """Read the document in `text`; errors call its source `shown`.

    Some commands, and many tests, read a manifest more than once. The parser in C takes a fifteenth of the
    time, where PyYAML has it. Where it finds something amiss, the parser in Python says what.
    """
    if yaml.__with_libyaml__:
        with suppress(FileError, yaml.YAMLError, ValueError, OverflowError):
            return _Builder(shown, yaml.parse(text, Loader=yaml.CSafeLoader)).document()
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        return _Builder(shown, events).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise FileError(shown, line, f"well-formed YAML ({problem})") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise FileError(shown, line, "printable characters only") from None
    except FileError:
        raise
    except (ValueError, OverflowError) as error:  # PyYAML's own, of an escape or a directive without sense
        raise FileError(shown, 1, f"well-formed YAML ({str(error)[:_LONGEST_SHOWN]})") from None


@frozen
class _Builder:
    """Builds the node tree of a document by recursive descent over its events."""

    file: str
    events: Iterator[yaml.Event]

    def document(self) -> Node:
        next(self.events)  # the stream starts
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise FileError(self.file, 1, "a document, not an empty file")
        root = self.node(next(self.events), None, 0)
        next(self.events)  # the document ends
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self.error(after, "the end of the file, not a second document")
        return root

    def node(self, event: yaml.Event, key_line: int | None, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise self.error(event, "a value written out, not an anchor or alias")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self.error(event, f"a value without a tag, not {tag}")
        if depth > _DEEPEST:
            raise self.error(event, f"at most {_DEEPEST} levels of nesting")
        line = _line(event) if key_line is None else key_line
        match event:
            case yaml.ScalarEvent():
                return Node(self.scalar(event), self.file, line)
            case yaml.SequenceStartEvent():
                return Node(tuple(self.items(depth)), self.file, line)
            case _:
                return Node(self.entries(depth), self.file, line)

    def items(self, depth: int) -> Iterator[Node]:
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self.node(event, None, depth + 1)

    def entries(self, depth: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self.node(event, None, depth + 1)
            if not isinstance(key.content, str):
                raise key.error("text as a key (in quotes where it looks like something else)")
            if key.content in found:
                first = found[key.content].line
                raise key.error(f'each key once, not "{key.content}" again (first on line {first})')
            found[key.content] = self.node(next(self.events), key.line, depth + 1)
        return found

    def scalar(self, event: yaml.ScalarEvent) -> int | bool | str:
        text: str = event.value
        if _SURROGATE.search(text):
            raise self.error(event, "characters, no unpaired surrogate (an escape from \\ud800 to \\udfff)")
        if event.style:  # quoted, or a block of text
            return text
        if _INTEGER.fullmatch(text):
            if (digits := len(text.lstrip("-"))) > _MOST_DIGITS:
                raise self.error(event, f"an integer of at most {_MOST_DIGITS} digits, not one of {digits}")
            return int(text)
        if text in {"true", "false"}:
            return text == "true"
        if not text:
            raise self.error(event, 'a value, not nothing (text may be empty as "")')
        if _tag_elsewhere(text) != _TEXT_TAG or _NUMBER_ELSEWHERE.fullmatch(text):
            shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
            raise self.error(event, f'an integer, true, false or text: if {shown} is text, write "{shown}"')
        return text

    def error(self, event: yaml.Event, expected: str) -> FileError:
        return FileError(self.file, _line(event), expected)


def _tag_elsewhere(plain: str) -> str:
    """Give the tag that PyYAML's own loaders would see in a plain scalar."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, plain, (True, False)))


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


def _one_of(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"
