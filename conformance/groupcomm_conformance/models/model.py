"""The contents of a manifest, as values: models, what is expected of each, errata, and sets of claims.

`manifest` reads these from `spec/<protocol>/models.yaml`, `consistency` holds them against each other.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import evolve, field, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.tla import cfg as cfg_file
from groupcomm_conformance.tla.cfg import Cfg

Constant: TypeAlias = int | bool | str | tuple[int | str, ...]
Tier: TypeAlias = Literal["smoke", "full", "deep"]

TIERS: Final[tuple[Tier, ...]] = ("smoke", "full", "deep")
SUBSTITUTION: Final = "<- "
NOTE: Final = "note_"
"""The beginning of the name of a protocol that has no core: a note's own algorithm."""

NOT_GIVEN: Final = ("not_given",)
"""In the place of claims: a conjunct of a guarantee that the protocol does without."""

NOT_ASKED: Final = ("not_asked",)
"""In the place of models: a conjunct of a guarantee about something that the protocol does not use."""


_COMMON: Final = Path(__file__).parent / "common"
_LISTED: Final = 20  # names that a message lists: more are looked up better in a table


class ManifestError(FileError):
    """A manifest does not say what it must."""


class UnknownNameError(LookupError):
    """There is no protocol or model of that name; the message says which is meant, and which there are."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        there = (
            f"there is {', '.join(known) or 'none'}"
            if len(known) <= _LISTED
            else f"there are {len(known)}: groupcomm list shows them"
        )
        super().__init__(f'no {kind} is called "{name}"{did_you_mean(name, known)}; {there}')
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
    """A flaw that a model shows, as a story.

    The counterexample charted is the shortest to a state (or step, or behaviour) that refutes `claim`, the
    claim that the model violates. Where there is a `story`, a state predicate of the specification, it is
    true in that state too. `harm` says in a few words what a user sees. `proved_by` names the models that
    hold with the repair. One constant is ablated; `several` argues why where there are more.
    """

    id: str
    title: str
    harm: str
    claim: str
    flaw: str
    repair: str
    proved_by: tuple[str, ...]
    story: str | None = None
    several: str = ""


@frozen
class Model:
    """One run of TLC and its expected result.

    `claims` names the set of claims that is checked. `violates` is the claim that must be violated first,
    None where the model holds. A model that holds has `counts`. A model that violates has `ablates`,
    `control`, `trace` (states of the shortest counterexample; of a lasso, those of some) and `violated`: all claims
    that its state space refutes, and the conjuncts of each claim that is a list, as `Claim/2`. `conform`: its local
    steps become conformance tables. `walk`: its graph is small enough to be dumped, without VIEW, and walked. `digest`
    identifies, for a `deep` model, the text that its record was taken from. `line`: its place in the file.
    """

    name: str
    tier: Tier
    claims: str
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
    violated: tuple[str, ...] = ()
    erratum: Erratum | None = None
    digest: str | None = None

    @property
    def holds(self) -> bool:
        """True if no claim may be violated."""
        return self.violates is None

    @property
    def liveness(self) -> bool:
        """True for a model of temporal properties (`..._live`)."""
        return is_liveness(self.claims)


Links: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""For each guarantee, a module of `spec/common`, its conjuncts, and for each of these claims or models."""


@frozen
class Manifest:
    """All models of a protocol, in the file's order.

    `folder` is `spec/<protocol>`. `reference` has the constants of the repaired algorithm over sound layers,
    as cfg files have them: the guards of `module`, with the values that the modules define, and the
    manifest's own constants. `cfgs` maps the name of each set of claims to TLC's configuration where a model
    changes nothing: the reference's constants with those of the set, and its claims. `witnesses` maps each
    witness operator, a predicate, to the models in which it must become true.

    `gives` names for each conjunct of a guarantee the claims that show it, or is NOT_GIVEN. `assumes` names
    for each conjunct of what the layers below guarantee models without it: ablations, which show that it is
    needed, or models that hold, which show that it is not; or it is NOT_ASKED.

    `other_modules` names the root modules of those sets of claims that are not over `module`: a note's own
    algorithm, a composition. `with_` names the protocols whose modules a composition uses. `inside` names,
    for each set, the guards that its root module has by an `INSTANCE` alone, each with the module that
    defines it.
    """

    protocol: str
    folder: Path = field(eq=False)
    file: str
    module: str
    reference: Mapping[str, str]
    cfgs: Mapping[str, Cfg]
    type_invariants: tuple[str, ...]
    witnesses: Mapping[str, tuple[str, ...]]
    models: tuple[Model, ...]
    assumes: Links = field(default={}, hash=False)
    gives: Links = field(default={}, hash=False)
    other_modules: Mapping[str, str] = field(default={}, hash=False)
    with_: tuple[str, ...] = ()
    inside: Mapping[str, Mapping[str, str]] = field(default={}, hash=False)

    @property
    def folders(self) -> list[Path]:
        """Where the modules are: in the own folder, in what protocols share, and with whom it is composed."""
        return folders(self.folder, self.with_)

    def module_of(self, claims: str) -> str:
        """Name the root module of the models with this set of claims."""
        return self.other_modules.get(claims, self.module)

    def module_with(self, claim: str) -> str:
        """Name the root module of the first set that has this claim."""
        return next((self.module_of(name) for name, cfg in self.cfgs.items() if claim in cfg.claims), self.module)

    def model(self, name: str) -> Model:
        """Find a model. UnknownNameError lists the names there are."""
        for model in self.models:
            if model.name == name:
                return model
        raise UnknownNameError("model", name, tuple(model.name for model in self.models))

    def claims(self) -> tuple[str, ...]:
        """Every invariant and property of any set, but for the type invariants; each once."""
        asserted = (claim for cfg in self.cfgs.values() for claim in cfg.claims)
        return tuple(dict.fromkeys(c for c in asserted if c not in self.type_invariants))

    def cfg(self, model: Model) -> Cfg:
        """Give what `model` is run with: its set of claims, with its constants replaced.

        A constant that the reference has not is an operator of the modules, which the model overrides; a
        guard of an instance is replaced there (`Guard =[Module] FALSE`).
        """
        base = self.cfgs[model.claims]
        inside = self.inside.get(model.claims, {})
        sides = {
            name: text if name not in inside else f"=[{inside[name]}] {text.removeprefix('= ')}"
            for name, text in ((name, constant_text(value)) for name, value in model.constants.items())
        }
        return evolve(base, constants={**base.constants, **sides})


def folders(folder: Path, with_: Iterable[str]) -> list[Path]:
    """Where the modules of a protocol are that is composed `with_` others: the folders that there are.

    A project without `spec/common` has from here what every specification extends: `Steps` and `Acts`.
    """
    common = folder.parent / "common"
    others = (folder.parent / name for name in with_)
    return [folder, common if common.is_dir() else _COMMON, *(path for path in others if path.is_dir())]


def cfg_text(manifest: Manifest, model: Model, *, view: bool = True, extra_invariants: tuple[str, ...] = ()) -> str:
    """Write the cfg that `model` is run with, where asked without VIEW and with more invariants."""
    cfg = manifest.cfg(model)
    invariants = (*cfg.invariants, *extra_invariants)
    return evolve(cfg, view=cfg.view if view else None, invariants=invariants).render()


def constant_text(value: Constant) -> str:
    """Write a constant's right-hand side as cfg files have it: `= 3`, `= TRUE`, `<- JoinViews`."""
    if isinstance(value, str) and value.startswith(SUBSTITUTION):
        return value
    if isinstance(value, tuple):
        return f"= {cfg_file.set_text({_atom(element) for element in value})}"
    return f"= {_atom(value)}"


def is_liveness(claims: str) -> bool:
    """Say whether the set of claims of this name is for temporal properties: `liveness` or `liveness_...`."""
    return claims == "liveness" or claims.startswith("liveness_")


def _atom(value: int | str) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else f'"{value}"'
