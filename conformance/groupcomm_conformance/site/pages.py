"""The pages of the site: documents as they are, and a page a protocol. They fetch nothing from elsewhere.

The look and the viewer of counterexamples are the report's (`page.css`, `page.js`, `macros.html`). What a link leads
to is in the site: another page, a figure, or a page of the source; a link to nothing is a FileError.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from os.path import lexists
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from attrs import define, field, frozen
from jinja2 import Environment
from markupsafe import Markup

from groupcomm_conformance.documents import assumptions, errata, requirements
from groupcomm_conformance.documents.layers import layers
from groupcomm_conformance.documents.requirements import Requirement
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.models.manifest import LAYERS, Manifest
from groupcomm_conformance.models.modules import Modules, read_modules
from groupcomm_conformance.protocols.constants import module_of
from groupcomm_conformance.report import page as report
from groupcomm_conformance.report.findings import Findings
from groupcomm_conformance.why.why import sentence

from .beside import Pair, pairs
from .markdown import code, rendered

_Entry: TypeAlias = tuple[str, str, str, str]
"""What a search finds: its place, the title of its page, its own title, and its text."""

_HERE: Final = Path(__file__).parent
_DOCUMENTS: Final = ("*.md", "docs/**/*.md", "spec/*/*.md", "conformance/**/*.md")
_FIGURES: Final = frozenset((".svg", ".png"))
_LANGUAGES: Final = {".tla": "tla", ".py": "python", ".yaml": "yaml", ".json": "json", ".go": "go", ".java": "java"}
_USE: Final = ("README", "docs/quick-start", "docs/operating", "docs/runtime", "docs/security")
_BELIEVE: Final = (
    *("docs/proved", "docs/tutorial", "docs/errata/README", "docs/guarantees", "docs/assumptions", "docs/requirements"),
    *("docs/application", "docs/proof", "docs/jgroups"),
)
_PORT: Final = ("docs/porting", "docs/vectors", "docs/messages", "docs/your-own-protocol", "CONTRIBUTING")
_GROUPS: Final = {"Use it": _USE, "Believe it": _BELIEVE, "Port it": _PORT}
_REST: Final = "Look it up"


@frozen
class _Claim:
    """A claim: its name, what it says, and the ablations that violate it."""

    name: str
    says: str
    violated: Sequence[str]


@define
class _Row:
    """A pair, and what stands beside it: requirements that it specifies, claims and errata about it.

    `claims` and `errata` are told here; `seen` are told in a row above. `guards` are the conditions in the
    operator that ablations take away: each with the claims that are violated then, and the first such ablation.
    """

    pair: Pair
    requirements: list[Requirement] = field(factory=list)
    claims: list[_Claim] = field(factory=list)
    errata: list[report.Shown] = field(factory=list)
    guards: list[tuple[str, dict[str, str]]] = field(factory=list)
    seen: list[str] = field(factory=list)

    @property
    def tla(self) -> Markup:
        """The part of the module."""
        return code(self.pair.tla, "tla")

    @property
    def python(self) -> Markup:
        """The part of the core."""
        return code(self.pair.python, "python")


@define
class _Site:
    """What links can lead to, and what has been linked to besides documents."""

    root: Path
    documents: Mapping[str, str]
    sources: set[str] = field(factory=set)
    figures: set[str] = field(factory=set)

    def leads(self, path: str, text: str, href: str) -> str | None:
        """Say where a link of a document leads, seen from its page; None where the site has no page of it."""
        if re.match(r"[a-z]+:|#", href):
            return href
        name, _, anchor = href.partition("#")
        to = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if f"{to}/README.md" in self.documents:
            to = f"{to}/README.md"
        if to not in self.documents:
            if not lexists(self.root / to):
                line = text[: text.find(href)].count("\n") + 1
                raise FileError(path, line, f"a link to what there is, not to {href}")
            if not (self.root / to).is_file():
                return None
            (self.figures if Path(to).suffix in _FIGURES else self.sources).add(to)
        return _from(_place(path), self.place(to)) + (f"#{anchor}" if anchor else "")

    def place(self, path: str) -> str:
        """Say where something stands in the site: a document, a figure as it is, the page of a source."""
        return _place(path) if path in self.documents else path if path in self.figures else f"{path}.html"


def pages(
    root: Path,
    manifests: Iterable[Manifest],
    shown: Iterable[errata.Shown],
    order: Mapping[str, errata.Order],
    besides: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[str, str]]:
    """Give the place and the text of each page, and of what pages use.

    `shown` are the errata with their stories, in the `order` of each protocol. `besides`: documents that others made.
    """
    manifests, shown = [*manifests], [*shown]
    table = requirements.trace(root, manifests)
    layered = layers(root, manifests) if lexists(root / LAYERS) else []
    made = {**besides, str(requirements.PATH): requirements.page(root, table)}
    if layered:
        made[str(assumptions.PATH)] = assumptions.page(root, manifests)[0]
    made |= {str(path.relative_to("build")): text for path, text in errata.pages(root, shown, order).items()}
    found = {str(file.relative_to(root)): file for pattern in _DOCUMENTS for file in sorted(root.glob(pattern))}
    documents = {name: read_text(file, name) for name, file in found.items() if "node_modules" not in name} | made
    names = [manifest.protocol for manifest in manifests]
    site = _Site(root, documents)
    templates = report.environment(_HERE)
    templates.tests["in_folder"] = lambda name: "/" in str(name)
    templates.globals["contents"] = _contents(documents, names)
    index: list[_Entry] = []
    yield from _documents(site, templates, names, index)
    does = {layer.name: layer.does for layer in layered}
    for manifest in manifests:
        asked = table.protocols.get(manifest.protocol, ())
        rows = _rows(root, manifest, asked, shown)
        yield _protocol(site, templates, manifest.protocol, does.get(manifest.protocol, ""), rows)
        index += _found_in(manifest.protocol, rows)
    yield from _sources(site, templates)
    yield "index.js", f"const SECTIONS = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"
    yield "site.css", _text(report.HERE / "page.css") + _text(_HERE / "site.css")
    yield "page.js", _text(report.HERE / "page.js")
    yield "search.js", _text(_HERE / "search.js")


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _documents(
    site: _Site, templates: Environment, names: Sequence[str], index: list[_Entry]
) -> Iterator[tuple[str, str]]:
    """Give the page of each document, and put its sections into the index."""
    page = templates.get_template("page.html")
    for path, text in site.documents.items():
        html, sections = rendered(text, partial(site.leads, path, text))
        place, title = _place(path), sections[0].title if sections else path
        index += [(f"{place}#{each.anchor}", title, each.title, each.text) for each in sections]
        own = re.fullmatch(r"docs/errata/(\w+)\.md", path)
        stepped = f"protocols/{own[1]}.html" if own and own[1] in names else ""
        yield place, page.render(place=place, title=title, body=html, base=_base(place), stepped=stepped)


def _protocol(site: _Site, templates: Environment, name: str, does: str, rows: Sequence[_Row]) -> tuple[str, str]:
    """Give the page of a protocol."""
    place = f"protocols/{name}.html"
    own = [each for each in ("README.md", "models.md") if f"spec/{name}/{each}" in site.documents]
    page = templates.get_template("protocol.html")
    return place, page.render(place=place, title=name, does=does, rows=rows, own=own, base=_base(place))


def _found_in(name: str, rows: Iterable[_Row]) -> Iterator[_Entry]:
    """Give what a search finds on the page of a protocol: operators, requirements, claims and flaws."""
    place = f"protocols/{name}.html"
    for row in rows:
        yield f"{place}#{row.pair.name or 'head'}", name, row.pair.name or name, f"{row.pair.tla} {row.pair.python}"
        for asked in row.requirements:
            yield f"{place}#{asked.id}", name, asked.id, asked.text
        for claim in row.claims:
            yield f"{place}#{claim.name}", name, claim.name, claim.says
        for flaw in (story.model.erratum for story in row.errata):
            if flaw:
                yield f"{place}#{flaw.id}", name, f"{flaw.id} {flaw.title}", flaw.flaw


def _sources(site: _Site, templates: Environment) -> Iterator[tuple[str, str]]:
    """Give the pages of sources, and the figures, that documents link to."""
    page = templates.get_template("page.html")
    for path in sorted(site.sources):
        body = code(read_text(site.root / path, path), _LANGUAGES.get(Path(path).suffix, "text"))
        place = site.place(path)
        yield place, page.render(place=place, title=path, body=body, base=_base(place), stepped="")
    for path in sorted(site.figures):
        yield path, read_text(site.root / path, path)


def _place(path: str) -> str:
    """Say where the page of a document stands: that of a README is the index of its folder."""
    return re.sub(r"(^|/)README\.md$", r"\1index.md", path).removesuffix(".md") + ".html"


def _from(page: str, to: str) -> str:
    return posixpath.relpath(to, posixpath.dirname(page) or ".")


def _base(place: str) -> str:
    """Give the way from a page to the folder of the site."""
    return "../" * place.count("/")


def _contents(documents: Mapping[str, str], protocols: Sequence[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """List the pages by groups, each with its title and its place."""

    def entry(path: str) -> tuple[str, str]:
        title = re.search(r"^# (.*)$", documents[path], re.MULTILINE)
        return (re.sub(r"[`*]", "", title[1]) if title else path, _place(path))

    grouped = {f"{name}.md" for names in _GROUPS.values() for name in names}
    found = [
        (group, [entry(f"{name}.md") for name in names if f"{name}.md" in documents])
        for group, names in _GROUPS.items()
    ]
    found.insert(1, ("Protocols", [(name, f"protocols/{name}.html") for name in protocols]))
    rest = [path for path in documents if path not in grouped and re.fullmatch(r"docs/[^/]*|[^/]*", path)]
    return [*found, (_REST, [entry(path) for path in sorted(rest)])]


def _rows(root: Path, manifest: Manifest, asked: Sequence[Requirement], shown: Iterable[errata.Shown]) -> list[_Row]:
    """Put requirements, claims and errata beside the operators that they are about; what is about none comes last.

    A requirement is about the operators that name it in a comment. A claim that checks it stands with it. What
    an ablation takes away, and the flaw that it shows, are about the operators that have its name.
    """
    module = module_of(manifest.folder, manifest.protocol) or manifest.module
    core = root / "impl" / "groupcomm" / f"{manifest.protocol}.py"
    text = read_text(core, str(core.relative_to(root))) if core.is_file() else ""
    modules = read_modules(manifest.folders, manifest.module)
    found = [_Row(pair) for pair in pairs(modules.texts[module], text)]
    named = [row for row in found if row.pair.name]
    rest = _Row(Pair("", "What no single operator is about", "", ""))
    claims = {name: _claim(manifest, modules, name) for name in manifest.claims()}
    waiting = dict(claims)
    stories = _stories(manifest, shown)
    flaws = {story.model.erratum.id for story in stories if story.model.erratum}
    for each in (each for each in asked if each.id not in flaws):
        first, *others = [
            row for row in named if f"{module}!{row.pair.name}" in each.specified or row.pair.names(each.id)
        ] or [rest]
        first.requirements.append(each)
        first.claims += [waiting.pop(name) for name in each.checks if name in waiting]
        first.seen += [name for name in each.checks if name in claims and claims[name] not in first.claims]
        for row in others:
            row.seen.append(each.id)
    ablations = [model for model in manifest.models if model.violates]
    for guard in dict.fromkeys(name for model in ablations for name in model.ablates):
        falls: dict[str, str] = {}
        for model in ablations:
            if guard in model.ablates:
                falls.setdefault(str(model.violates), model.name)
        for row in named:
            if row.pair.names(guard):
                row.guards.append((guard, falls))
                row.claims += [waiting.pop(name) for name in falls if name in waiting]
    rest.claims += waiting.values()
    for story in stories:
        first, *others = [row for row in named if any(map(row.pair.names, story.model.ablates))] or [rest]
        first.errata.append(story)
        for row in others:
            row.seen += [story.model.erratum.id] if story.model.erratum else []
    for row in found:
        row.seen = [*dict.fromkeys(row.seen)]
    return [*found, rest]


def _claim(manifest: Manifest, modules: Modules, name: str) -> _Claim:
    violated = [model.name for model in manifest.models if name in model.violated]
    return _Claim(name, sentence(modules, name)[0], violated)


def _stories(manifest: Manifest, shown: Iterable[errata.Shown]) -> list[report.Shown]:
    """Give the errata of a protocol as the report shows them."""
    own = [each for each in shown if each.manifest.protocol == manifest.protocol]
    findings = Findings(
        manifest,
        {each.model.name: each.checked for each in own},
        (),
        (),
        {each.model.name: each.why for each in own if each.why},
        {each.model.name: each.instead for each in own if each.instead},
    )
    return [report.shown(findings, each.model) for each in own]
