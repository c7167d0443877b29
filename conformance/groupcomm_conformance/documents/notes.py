"""The headings of the design notes, and which protocol has the requirements of each, or why none has.

`spec/common/notes.yaml` lists them in the order of the notes. A heading has `protocols`, or is `absent` for a
reason. The list is held against the rows of the protocols' READMEs: every row's prefix belongs to a heading,
and a protocol that is named has such a row. `numbers` is how many requirements a heading has: each has a row,
or a reason of its own under `reasons`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import field, frozen

from groupcomm_conformance.files import strict_yaml

FILE: Final = Path("spec", "common", "notes.yaml")


@frozen
class Heading:
    """A heading of a note, with the prefix of its requirements' IDs, as `STB`.

    `protocols` have rows with that prefix. Without any, `absent` says why. `numbers` is how many requirements
    it has, 0 where their number is open. `reasons` says of IDs without a row why they have none.
    """

    prefix: str
    note: str
    heading: str
    protocols: tuple[str, ...]
    absent: str
    place: str
    numbers: int = 0
    reasons: Mapping[str, str] = field(factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """The IDs that the heading has, as `STB-01`."""
        return tuple(f"{self.prefix}-{number:02}" for number in range(1, self.numbers + 1))


def headings(root: Path) -> list[Heading]:
    """Read the list. FileError where a heading has protocols and a reason, neither, or another's prefix."""
    found: list[Heading] = []
    for node in strict_yaml.load(root / FILE, str(FILE)).items("a list of headings"):
        fields = node.fields(("prefix", "note", "heading"), ("protocols", "absent", "numbers", "reasons"))
        if ("protocols" in fields) == ("absent" in fields):
            raise node.error("either protocols, or absent with the reason")
        prefix = fields["prefix"].text()
        if prefix in {each.prefix for each in found}:
            raise fields["prefix"].error(f"a prefix of its own: {prefix} is another heading's")
        protocols = tuple(each.text() for each in fields["protocols"].items()) if "protocols" in fields else ()
        absent = fields["absent"].text() if "absent" in fields else ""
        if not protocols and not absent:
            raise node.error("at least one protocol, or a reason")
        heading = Heading(
            prefix,
            fields["note"].text(),
            fields["heading"].text(),
            protocols,
            absent,
            f"{FILE}:{node.line}",
            fields["numbers"].integer(1) if "numbers" in fields else 0,
            {name: each.text() for name, each in fields["reasons"].entries("a mapping from IDs").items()}
            if "reasons" in fields
            else {},
        )
        found.append(heading)
    return found


def differences(listed: Iterable[Heading], rows: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Tell where the list and the rows differ. `rows` gives the place of a row by protocol and prefix."""
    by_prefix = {heading.prefix: heading for heading in listed}
    for heading in by_prefix.values():
        for protocol in heading.protocols:
            if heading.prefix not in rows.get(protocol, {}):
                yield f"{heading.place}: {protocol} has no row with an ID {heading.prefix}-..."
    for protocol, prefixes in rows.items():
        for prefix, place in prefixes.items():
            if prefix not in by_prefix:
                yield f"{place}: no heading in {FILE} has the prefix {prefix}: add it"
            elif protocol not in by_prefix[prefix].protocols:
                listed_at = by_prefix[prefix].place
                yield f"{place}: {listed_at} does not name {protocol}: add it to the protocols of {prefix}"


def unlisted(listed: Iterable[Heading], rows: Collection[str]) -> Iterator[str]:
    """Tell which requirements of the notes have neither a row nor a reason, and which have both."""
    for heading in listed:
        for identifier in heading.ids:
            if not heading.absent and identifier not in rows and identifier not in heading.reasons:
                yield f"{heading.place}: {identifier} has no row in any spec/*/requirements.md, nor a reason"
        for identifier in heading.reasons:
            if not identifier.startswith(f"{heading.prefix}-"):
                yield f"{heading.place}: {identifier} is not of {heading.prefix}"
            if identifier in rows:
                yield f"{heading.place}: {identifier} has a reason here, and a row: remove one of the two"


def implemented(listed: Iterable[Heading]) -> list[str]:
    """Write the table of prefixes: what each stands for, and the protocols with its requirements."""
    lines = ["| IDs | note | heading | protocols |", "| --- | --- | --- | --- |"]
    for each in listed:
        if each.protocols:
            linked = ", ".join(f"[{name}](#{name})" for name in each.protocols)
            lines.append(f"| {each.prefix} | {each.note} | {each.heading} | {linked} |")
    return lines


def left_out(listed: Iterable[Heading]) -> list[str]:
    """Write the table of headings without a protocol, with the reasons."""
    lines = ["| IDs | note | heading | why it is not here |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {each.prefix} | {each.note} | {each.heading} | {' '.join(each.absent.split())} |"
        for each in listed
        if not each.protocols
    ]
    lines += [
        f"| {name} | {each.note} | | {' '.join(reason.split())} |"
        for each in listed
        for name, reason in each.reasons.items()
    ]
    return lines
