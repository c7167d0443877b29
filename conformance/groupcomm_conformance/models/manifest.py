"""The manifest of a protocol, `spec/<protocol>/models.yaml`: its models and what is expected of each.

A model is the protocol's MC module with one of its cfg files and constants of its own. It *holds*, with
exact counts, or it *violates* one named claim, as a flawed variant (an ablation) must; then its *control*
is the model that has the same constants except for those in `ablates`, and holds. Loading checks all
that can be known without running TLC, so that a run never starts from a manifest that contradicts
itself. Every refusal is a `ManifestError` and prints `file:line: expected ...`.

Protocols are the folders of `spec/` that have a manifest; nothing else lists them. The format is
described key by key in `Model`, `Erratum` and `Manifest`.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from attrs import Attribute, asdict, evolve, field, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import FileError, Node, Plain
from groupcomm_conformance.tla import cfg as cfg_file
from groupcomm_conformance.tla.cfg import Cfg

Constant: TypeAlias = int | bool | str | tuple[int | str, ...]
Tier: TypeAlias = Literal["smoke", "full", "deep"]

MANIFEST: Final = "models.yaml"
TIERS: Final[tuple[Tier, ...]] = ("smoke", "full", "deep")

_NAME = r"[a-z][a-z0-9_]*"
_OPERATOR = r"[A-Za-z][A-Za-z0-9_]*"
_SUBSTITUTION = "<- "
_HOLDS_ONLY = ("distinct", "transitions", "depth")
_VIOLATES_ONLY = ("ablates", "control", "trace", "falls")


class ManifestError(FileError):
    """A manifest, or a cfg file that it names, does not say what it must."""


class UnknownNameError(LookupError):
    """There is no protocol or model of that name; the message lists those there are, the nearest first."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f'no {kind} is called "{name}"{did_you_mean(name, known)}; there is {", ".join(known) or "none"}'
        )
        self.kind = kind
        self.name = name
        self.known = known


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give " (did you mean ...?)" where a known name is near, else nothing."""
    near = get_close_matches(name, tuple(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


@frozen
class Counts:
    """The size of a state space: `transitions` are generated minus initial states."""

    distinct: int
    transitions: int
    depth: int


@frozen
class Erratum:
    """A flaw that a model shows. `proved_by` names the models that hold with the repair."""

    id: str
    title: str
    flaw: str
    repair: str
    proved_by: tuple[str, ...]


@frozen
class Model:
    """One run of TLC and its expected result.

    `violates` is the claim that must fall, None where the model holds. A model that holds has `counts`;
    one that violates has `ablates`, `control`, `trace` (states of the shortest counterexample) and `falls`
    (all claims that its state space refutes). `conform`: its local steps become conformance tables.
    `walk`: its graph is small enough to be dumped, without VIEW, and walked. `line` is its place in the file.
    """

    name: str
    tier: Tier
    cfg: str
    shows: str
    line: int = field(eq=False)
    bounds: str = ""
    constants: Mapping[str, Constant] = field(default={}, hash=False)
    counts: Counts | None = None
    conform: bool = False
    walk: bool = False
    violates: str | None = None
    ablates: tuple[str, ...] = ()
    control: str | None = None
    trace: int | None = None
    falls: tuple[str, ...] = ()
    erratum: Erratum | None = None

    @property
    def holds(self) -> bool:
        """Whether no claim may fall."""
        return self.violates is None

    @property
    def liveness(self) -> bool:
        """Whether this is a model for temporal properties (`..._live`)."""
        return is_liveness(self.cfg)


@frozen
class Manifest:
    """All models of one protocol, in the file's order.

    `folder` is `spec/<protocol>`; `cfgs` maps the names that models use to what the cfg files say, and
    `cfg_files` to the files' names. `witnesses` maps each witness operator, a
    predicate, to the models in which it must become true.
    """

    protocol: str
    folder: Path = field(eq=False)
    file: str
    module: str
    cfg_files: Mapping[str, str]
    cfgs: Mapping[str, Cfg]
    type_invariants: tuple[str, ...]
    witnesses: Mapping[str, tuple[str, ...]]
    models: tuple[Model, ...]

    @property
    def folders(self) -> list[Path]:
        """Where the protocol's modules are: its own folder, and what the protocols share if there is any."""
        return [self.folder, *(path for path in [self.folder.parent / "common"] if path.is_dir())]

    def model(self, name: str) -> Model:
        """Find a model. UnknownNameError lists the names there are."""
        for model in self.models:
            if model.name == name:
                return model
        raise UnknownNameError("model", name, tuple(model.name for model in self.models))

    def claims(self) -> tuple[str, ...]:
        """Every invariant and property of any cfg, but for the type invariants; each once."""
        asserted = (claim for cfg in self.cfgs.values() for claim in cfg.claims)
        return tuple(dict.fromkeys(c for c in asserted if c not in self.type_invariants))

    def cfg(self, model: Model) -> Cfg:
        """Give the cfg that `model` is run with: its file, with its constants replaced."""
        sides = {name: constant_text(value) for name, value in model.constants.items()}
        return self.cfgs[model.cfg].override(sides)

    def to_json(self) -> dict[str, Plain]:
        """Give the manifest as plain values, with absent fields left out."""
        return {
            "protocol": self.protocol,
            "module": self.module,
            "cfgs": dict(self.cfg_files),
            "type_invariants": list(self.type_invariants),
            "claims": list(self.claims()),
            "witnesses": {name: list(models) for name, models in self.witnesses.items()},
            "models": [_model_json(model) for model in self.models],
        }


def cfg_text(
    manifest: Manifest,
    model: Model,
    *,
    view: bool = True,
    extra_invariants: tuple[str, ...] = (),
) -> str:
    """Write the cfg that `model` is run with, where asked without VIEW and with more invariants."""
    cfg = manifest.cfg(model)
    invariants = (*cfg.invariants, *extra_invariants)
    return evolve(cfg, view=cfg.view if view else None, invariants=invariants).render()


def constant_text(value: Constant) -> str:
    """Write a constant's right-hand side as cfg files have it: `= 3`, `= TRUE`, `<- JoinViews`."""
    if isinstance(value, str) and value.startswith(_SUBSTITUTION):
        return value
    if isinstance(value, tuple):
        return f"= {cfg_file.set_text({_atom(element) for element in value})}"
    return f"= {_atom(value)}"


def find_root(start: Path | None = None) -> Path:
    """Find the project: the nearest folder, from `start` up, that has `spec` and `conformance`.

    `start` is the current folder by default, and after it the folder that this module lies in.
    FileNotFoundError where there is none.
    """
    starts = [Path.cwd(), Path(__file__).parent] if start is None else [start]
    for first in starts:
        for folder in (first.absolute(), *first.absolute().parents):
            if (folder / "spec").is_dir() and (folder / "conformance").is_dir():
                return folder
    message = "no folder from here up is the project: it has the folders spec and conformance"
    raise FileNotFoundError(message)


def protocols(root: Path) -> tuple[str, ...]:
    """Name the protocols: the folders of `spec` with a manifest, sorted."""
    return tuple(sorted(path.parent.name for path in root.glob(f"spec/*/{MANIFEST}")))


def load(root: Path, protocol: str) -> Manifest:
    """Read and check the manifest of `protocol` and its cfg files.

    UnknownNameError where there is no such protocol, ManifestError where anything is amiss.
    """
    known = protocols(root)
    if protocol not in known:
        raise UnknownNameError("protocol", protocol, known)
    folder = root / "spec" / protocol
    try:
        document = strict_yaml.load(folder / MANIFEST, f"spec/{protocol}/{MANIFEST}")
        manifest = _manifest(document, protocol, folder)
        _check(manifest, document)
    except FileError as error:
        raise ManifestError(error.file, error.line, error.expected) from None
    return manifest


def is_liveness(cfg: str) -> bool:
    """Whether models with the cfg of this name are for temporal properties: `liveness` or `liveness_...`."""
    return cfg == "liveness" or cfg.startswith("liveness_")


def _manifest(document: Node, protocol: str, folder: Path) -> Manifest:
    top = document.fields(("protocol", "module", "cfgs", "type_invariants", "witnesses", "models"))
    top["protocol"].choice((protocol,))
    module = top["module"].matching(_OPERATOR, "the name of a module")
    if not (folder / f"{module}.tla").is_file():
        raise top["module"].error(f"a module of this folder, but there is no {module}.tla")
    files = top["cfgs"].entries("a mapping from names to cfg files")
    cfgs: dict[str, Cfg] = {}
    for name, node in files.items():
        file = node.matching(r"[A-Za-z0-9_]+\.cfg", "the name of a cfg file")
        if not (folder / file).is_file():
            raise node.error(f"a cfg file of this folder, but there is no {file}")
        cfgs[name] = cfg_file.load(folder / file, f"spec/{protocol}/{file}")
    return Manifest(
        protocol=protocol,
        folder=folder,
        file=document.file,
        module=module,
        cfg_files={name: node.text() for name, node in files.items()},
        cfgs=cfgs,
        type_invariants=_names(top["type_invariants"], "an invariant"),
        witnesses={
            name: _names(node, "a model", or_one=True)
            for name, node in top["witnesses"].entries("a mapping from operators to models").items()
        },
        models=tuple(_model(node) for node in top["models"].items("a list of models")),
    )


def _model(node: Node) -> Model:
    found = node.fields(
        ("name", "tier", "expect", "shows"),
        (
            *("cfg", "bounds", "constants", "conform", "walk"),
            *_HOLDS_ONLY,
            *_VIOLATES_ONLY,
            "erratum",
        ),
    )
    expect = found["expect"].matching(rf"holds|violates: {_OPERATOR}", '"holds" or "violates: Name"')
    violates = None if expect == "holds" else expect.removeprefix("violates: ")
    if violates is None:
        _present(node, found, _HOLDS_ONLY, "a model that holds")
        _absent(found, (*_VIOLATES_ONLY, "erratum"), "a model that violates a claim")
    else:
        _present(node, found, _VIOLATES_ONLY, "a model that violates a claim")
        _absent(found, (*_HOLDS_ONLY, "conform", "walk"), "a model that holds")
    distinct, transitions, depth = (found[key].integer(0) if key in found else 0 for key in _HOLDS_ONLY)
    constants = found["constants"].entries().items() if "constants" in found else ()
    return Model(
        name=found["name"].matching(_NAME, "a name in lower case"),
        tier=cast("Tier", found["tier"].choice(TIERS)),
        cfg=found["cfg"].text() if "cfg" in found else "safety",
        shows=found["shows"].matching(r"[^\n]*\S[^\n]*", "one line of text"),
        line=node.line,
        bounds=found["bounds"].text() if "bounds" in found else "",
        constants={name: _constant(value) for name, value in constants},
        counts=Counts(distinct, transitions, depth) if violates is None else None,
        conform=_flag(found, "conform"),
        walk=_flag(found, "walk"),
        violates=violates,
        ablates=_names(found["ablates"], "a constant", or_one=True) if violates else (),
        control=found["control"].text() if violates else None,
        trace=found["trace"].integer(0) if violates else None,
        falls=_names(found["falls"], "a claim") if violates else (),
        erratum=_erratum(found["erratum"]) if "erratum" in found else None,
    )


def _erratum(node: Node) -> Erratum:
    found = node.fields(("id", "title", "flaw", "repair", "proved_by"))
    return Erratum(
        id=found["id"].matching(r"[A-Z]+-[0-9]+[a-z]?", 'an ID such as "FLAW-15"'),
        title=found["title"].text(),
        flaw=found["flaw"].text(),
        repair=found["repair"].text(),
        proved_by=_names(found["proved_by"], "a model"),
    )


def _constant(node: Node) -> Constant:
    match node.content:
        case str(text) if text.startswith(_SUBSTITUTION):
            return node.matching(rf"<- (\[{_OPERATOR}\])?{_OPERATOR}", '"<- " and an operator')
        case bool() | int() as value:
            return value
        case str():
            return _tla_string(node)
        case tuple(items):
            elements = tuple(
                item.integer() if isinstance(item.content, int) else _tla_string(item) for item in items
            )
            if len(set(elements)) < len(elements):
                raise node.error("a set, but an element is there twice")
            return elements
        case _:
            raise node.error('an integer, true, false, text, "<- Operator" or a list')


def _tla_string(node: Node) -> str:
    return node.matching(r'[^"\\\n]+', "text without quotes, backslashes or line ends")


def _atom(value: int | str) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else f'"{value}"'


def _names(node: Node, what: str, *, or_one: bool = False) -> tuple[str, ...]:
    """Read a list of names, or where `or_one` allows it a single name; each once."""
    if or_one and isinstance(node.content, str):
        return (node.matching(_OPERATOR, f"the name of {what}"),)
    names: list[str] = []
    for item in node.items(f"a list, each item the name of {what}"):
        name = item.matching(_OPERATOR, f"the name of {what}")
        if name in names:
            raise item.error(f"each name once, not {name} again")
        names.append(name)
    return tuple(names)


def _flag(found: Mapping[str, Node], key: str) -> bool:
    return key in found and found[key].boolean()


def _present(node: Node, found: Mapping[str, Node], keys: tuple[str, ...], whose: str) -> None:
    for key in keys:
        if key not in found:
            raise node.error(f'the key "{key}", which {whose} must have')


def _absent(found: Mapping[str, Node], keys: tuple[str, ...], whose: str) -> None:
    for key in keys:
        if key in found:
            raise found[key].error(f'no "{key}", which only {whose} may have')


def _check(manifest: Manifest, document: Node) -> None:
    """Refuse a manifest whose parts contradict each other."""
    top = document.entries()
    for name, file in top["cfgs"].entries().items():
        cfg = manifest.cfgs[name]
        if is_liveness(name) and (cfg.view or cfg.constraints or cfg.symmetry):
            raise file.error("a cfg for liveness, which has no VIEW, CONSTRAINT or SYMMETRY")
    asserted = {claim for cfg in manifest.cfgs.values() for claim in cfg.claims}
    for name, item in zip(manifest.type_invariants, top["type_invariants"].items(), strict=True):
        if name not in asserted:
            raise item.error(f"an invariant of a cfg file, not {name}")
    lines: dict[str, int] = {}
    errata: dict[str, str] = {}
    for model, node in zip(manifest.models, top["models"].items(), strict=True):
        first = lines.setdefault(model.name, model.line)
        if first != model.line:
            raise node.error(f'each model once, not "{model.name}" again (first on line {first})')
        found = node.entries()
        _check_run(manifest, model, node, found)
        if not model.holds:
            _check_violation(manifest, model, found)
        if model.erratum is not None:
            _check_erratum(manifest, model.name, model.erratum, found["erratum"].entries(), errata)
    for operator, node in top["witnesses"].entries().items():
        for name in manifest.witnesses[operator]:
            if _holding(manifest, node, name).liveness:
                raise node.error(f"a model for safety, not {name}: its name ends in _live")


def _check_erratum(
    manifest: Manifest, model: str, erratum: Erratum, found: Mapping[str, Node], seen: dict[str, str]
) -> None:
    other = seen.setdefault(erratum.id, model)
    if other != model:
        raise found["id"].error(f"an ID of its own: {other} has {erratum.id}")
    for name, item in zip(erratum.proved_by, found["proved_by"].items(), strict=True):
        _holding(manifest, item, name)


def _check_run(manifest: Manifest, model: Model, node: Node, found: Mapping[str, Node]) -> None:
    """Check cfg, name and constants against each other."""
    if model.cfg not in manifest.cfgs:
        raise found.get("cfg", node).error(
            f"a cfg of this manifest ({', '.join(manifest.cfgs)}), not {model.cfg}"
        )
    if model.liveness != model.name.endswith("_live"):
        raise found["name"].error("a name that ends in _live if and only if the cfg is for liveness")
    base = manifest.cfgs[model.cfg]
    for name in model.constants:
        if name not in base.constants:
            raise (
                found["constants"]
                .entries()[name]
                .error(f"a constant of {manifest.cfg_files[model.cfg]}, not {name}")
            )
    for key in ("conform", "walk"):
        if _flag(found, key) and (model.liveness or base.constraints):
            raise found[key].error(
                f'"{key}" only with a cfg for safety that has no CONSTRAINT, not {model.cfg}'
            )


def _check_violation(manifest: Manifest, model: Model, found: Mapping[str, Node]) -> None:
    """Check what falls, and that the control differs in what is ablated and in nothing else."""
    cfg = manifest.cfg(model)
    claim = str(model.violates)
    if claim not in cfg.claims:
        raise found["expect"].error(
            f"a claim of {manifest.cfg_files[model.cfg]} after violates:, not {claim}"
        )
    for name, item in zip(model.falls, found["falls"].items(), strict=True):
        if name not in manifest.claims():
            raise item.error(f"a claim of a cfg file that is no type invariant, not {name}")
    if claim not in model.falls and claim not in manifest.type_invariants:
        raise found["falls"].error(f"{claim} among the claims that fall, as the model violates it")
    control = _holding(manifest, found["control"], str(model.control))
    if control.cfg != model.cfg:
        raise found["control"].error(f"a model with the cfg {model.cfg}, not {control.cfg}")
    if control.tier == "deep" and model.tier != "deep":
        raise found["control"].error(f"a model that is run with tier {model.tier}, not a deep one")
    with_guard = manifest.cfg(control).constants
    different = {name for name, side in cfg.constants.items() if side != with_guard[name]}
    for name in model.ablates:
        if name not in different:
            raise found["ablates"].error(f"a constant that differs from {control.name}, not {name}")
    for name in sorted(different.difference(model.ablates)):
        raise found["control"].error(
            f"a model that differs in {', '.join(model.ablates)} only; {control.name} has "
            f"{name} {with_guard[name]}, here it is {name} {cfg.constants[name]}"
        )


def _holding(manifest: Manifest, node: Node, name: str) -> Model:
    """Find the model `name`, which `node` refers to and which must hold."""
    for model in manifest.models:
        if model.name == name and model.holds:
            return model
    raise node.error(f"a model that holds, not {name}")


def _model_json(model: Model) -> dict[str, Plain]:
    """Give a model as plain values, without what is left at its default."""

    def told(attribute: "Attribute[object]", value: object) -> bool:
        return attribute.name not in {"line", "violates"} and value != attribute.default

    def listed(_owner: object, _attribute: object, value: object) -> object:
        match value:
            case tuple():
                return list(value)
            case Mapping():
                return {name: listed(None, None, item) for name, item in value.items()}
            case _:
                return value

    view: dict[str, Plain] = asdict(model, filter=told, value_serializer=listed)
    return view | {"expect": "holds" if model.holds else f"violates: {model.violates}"}
