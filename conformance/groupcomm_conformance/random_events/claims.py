"""Judging weakened claims: an ablation that refutes a claim must no longer refute what is weaker.

Each ablation is searched once more, with all weakenings of the claims that it refutes: a weakening is looked
at only where its claim is false, for where that is true it is true as well. One that the ablation does not
refute is noticed by it, as `check` would notice it: the claim is recorded as refuted there.

A weakening of an operator is one of all claims that use it. One that TLC cannot evaluate, because what is
dropped guards what follows, says nothing, nor does one of a comparison whose sides are never numbers: they
are left out. So are claims that cannot be noted (temporal ones, and refinements without a step).
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias

from attrs import define, evolve, field

from groupcomm_conformance.files.keys import key
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.instruments import ROOT, Run, remembered
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.modules import Modules, read_modules
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed, printed
from groupcomm_conformance.steps.mutants.verdicts import Judged
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import EvaluationFailed, UnexpectedOutput

from .roots import HELPERS, NUMBERS, Root, guarantees_of

_FALLEN: Final = 2_000
"""The first register of violated weakenings."""

_AND: Final = " /\\ "


class _Fallen(Store):
    name = "weakened.json"


def judge(
    manifest: Manifest,
    *,
    guarantees: bool = False,
    others: Iterable[Manifest] = (),
    cache: Path | None = None,
    workers: int = 1,
    progress: Callable[[int, str], None] = lambda _at, _name: None,
) -> Judged:
    """Weaken all claims of a protocol, and let the ablations of the tiers smoke and full judge them.

    With `guarantees` not the claims are weakened, but the guarantees that they speak of; of these the protocols
    `others` may speak as well: their ablations judge what those of this protocol do not notice. `progress` hears of
    each ablation that has judged: how many have, and its name.

    FileError where a specification lacks the form required.
    """
    plain, roots = _roots(manifest, guarantees=guarantees)
    store = _Fallen(cache) if cache else None
    ablations = _ablations(manifest)
    every = [
        each
        for root in chain.from_iterable(roots.values())
        for each in zip(root.weakened.mutants, root.weakened.comparisons, strict=True)
    ]
    made = {mutant.name: mutant for mutant, _ in every}
    compared = {mutant.name for mutant, number in every if number is not None}
    judging = _Judging(manifest, roots, store)
    with ThreadPoolExecutor(workers) as pool:
        for at, (model, answers) in enumerate(pool.map(judging.answers, ablations), start=1):
            progress(at, model.name)
            judging.take(model, answers)
        left = [
            name for name in made if name not in judging.failing and (name not in compared or name in judging.numbers)
        ]
        noticed = judging.noticed
        for other in others:
            missing = {name for name in left if name not in noticed}
            if not missing:
                break
            if _names_one(other, {made[name].module for name in missing}):
                elsewhere = _Judging(other, _roots(other, guarantees=True)[1], store, missing)
                for model, answers in pool.map(elsewhere.answers, _ablations(other)):
                    progress(len(ablations), f"{model.name} of {other.protocol}")
                    elsewhere.take(model, answers)
                noticed |= {name: f"{other.protocol}: {by}" for name, by in elsewhere.noticed.items()}
    return Judged(
        plain.uses.definitions,
        manifest.protocol,
        tuple(model.name for model in ablations),
        tuple(made[name] for name in left),
        tuple(Noticed(noticed[name]) if name in noticed else None for name in left),
        (),
    )


def _ablations(manifest: Manifest) -> list[Model]:
    return [model for model in manifest.models if not model.holds and model.tier != "deep"]


def _roots(manifest: Manifest, *, guarantees: bool) -> tuple[Root, dict[str, list[Root]]]:
    """Give the protocol's root module, and by module what is weakened of it."""
    modules = dict.fromkeys((manifest.module, *(manifest.module_of(name) for name in manifest.cfgs)))
    plain = {module: Root.of(manifest, module) for module in modules}
    roots: dict[str, list[Root]] = {
        module: [*guarantees_of(manifest, root)] if guarantees else [root] for module, root in plain.items()
    }
    return plain[manifest.module], roots


def _names_one(manifest: Manifest, modules: Collection[str]) -> bool:
    """Say whether a protocol has an instance of one of the modules."""
    instance = re.compile(rf"\bINSTANCE\s+({'|'.join(modules)})\b")
    return any(instance.search(file.read_text("utf-8")) for file in manifest.folder.glob("*.tla"))


def _asked(manifest: Manifest, model: Model, root: Root, only: Collection[str] | None = None) -> dict[str, set[str]]:
    """Give the weakenings of each claim that an ablation refutes; `only` these, if any are named."""
    cfg = manifest.cfg(model)
    fallen = [claim for claim in root.claims if claim in cfg.claims and claim in model.violated]
    found: dict[str, set[str]] = {}
    for claim in fallen:
        top = root.claims[claim]
        each = zip(root.weakened.mutants, root.weakened.claims, strict=True)
        names = {mutant.name for mutant, claims in each if top in claims}
        found[claim] = names if only is None else names & set(only)
    return found


# The module

_TEXT: Final = r"""---- MODULE {root} ----
EXTENDS {module}, Naturals, TLC
{registers}
{helpers}
{head}
{definitions}
{notes}
====
"""


def module_text(root: Root, asked: Mapping[str, set[str]], modules: Modules, cfg: Cfg, *, tells: bool = False) -> Run:
    """Write the run that looks for the states and steps that refute weakenings of claims.

    With `tells` the run prints the name of each weakening before it evaluates it.
    """
    lines: list[str] = []
    notes: list[str] = []
    ends: list[str] = []
    claims: dict[bool, list[str]] = {True: [], False: []}
    number = _FALLEN
    for claim, names in asked.items():
        top, said = root.claims[claim], list[str]()
        for at, mutant in enumerate(root.weakened.mutants):
            if mutant.name not in names:
                continue
            lines += root.weaker(at, top, f"Weak_{number}_")
            fell = f'PrintT(ToString(<<"fell", "{claim}", {at}>>)) /\\ TLCSet({number}, TRUE)'
            begun = f'PrintT(ToString(<<"begin", {at}>>)) /\\ ' if tells else ""
            said.append(f"(IF TLCGet({number}) THEN TRUE ELSE {begun}IF Weak_{number}_{top} THEN TRUE ELSE {fell})")
            ends.append(f"TLCGet({number})")
            number += 1
        if said:
            body = f"IF {top} THEN TRUE ELSE {_AND.join(said)}"
            subscript = modules.step_of(claim)
            notes.append(f"Weak_Note_{claim} == " + (body if subscript is None else f"[][{body}]_{subscript}"))
            claims[subscript is None].append(f"Weak_Note_{claim}")
    notes.append(f'Weak_Stop == IF {_AND.join(ends)} THEN TLCSet("exit", TRUE) ELSE TRUE')
    registers = [*range(_FALLEN, number)]
    registers += [NUMBERS + each for each in root.weakened.comparisons if each is not None]
    text = _TEXT.format(
        root=ROOT,
        module=root.module,
        registers="\n".join(f"ASSUME TLCSet({each}, FALSE)" for each in registers),
        helpers=HELPERS,
        head=root.head,
        definitions="\n".join(map(folded, lines)),
        notes="\n".join(map(folded, notes)),
    )
    invariants = (*claims[True], "Weak_Stop")
    return Run(text, evolve(cfg, invariants=invariants, properties=tuple(claims[False])))


# Running it


@define
class _Heard:
    """The answer of a run: the violated weakenings, with the claim, and the weakenings that compare numbers.

    `fails` has the weakenings that TLC cannot evaluate.
    """

    fallen: set[tuple[str, str]] = field(factory=set)
    numbers: set[str] = field(factory=set)
    fails: set[str] = field(factory=set)
    last: str = ""
    """The weakening that was evaluated last."""

    def take(self, root: Root, line: str) -> None:
        mutants = root.weakened.mutants
        match printed(line):
            case ("fell", str(claim), int(at)):
                self.fallen.add((claim, mutants[at].name))
            case ("number", int(number)):
                self.numbers.add(mutants[root.weakened.comparisons.index(number)].name)
            case ("begin", int(at)):
                self.last = mutants[at].name
            case _:
                pass

    def to_json(self) -> dict[str, list[list[str]]]:
        return {
            "fallen": sorted(map(list, self.fallen)),
            "numbers": [[name] for name in sorted(self.numbers)],
            "fails": [[name] for name in sorted(self.fails)],
        }

    @classmethod
    def of(cls, found: Mapping[str, Sequence[Sequence[str]]]) -> "_Heard":
        pairs = {(claim, name) for claim, name in found["fallen"]}
        return cls(pairs, {name for (name,) in found["numbers"]}, {name for (name,) in found["fails"]})


_Answer: TypeAlias = tuple[_Heard, dict[str, set[str]]]
"""An answer of an ablation, and which weakenings of each claim it was asked for."""


@define
class _Judging:
    """What the ablations of a protocol notice."""

    manifest: Manifest
    roots: Mapping[str, Sequence[Root]]
    store: _Fallen | None
    only: Collection[str] | None = None
    """The weakenings that are judged; all if None."""

    noticed: dict[str, str] = field(factory=dict)
    numbers: set[str] = field(factory=set)
    failing: set[str] = field(factory=set)

    def answers(self, model: Model) -> tuple[Model, list[_Answer]]:
        """Search an ablation once for each root that is weakened."""
        every = [
            (root, _asked(self.manifest, model, root, self.only))
            for root in self.roots[self.manifest.module_of(model.claims)]
        ]
        return model, [(_search(self.manifest, model, root, asked, self.store), asked) for root, asked in every]

    def take(self, model: Model, answers: Sequence[_Answer]) -> None:
        for heard, asked in answers:
            self.numbers |= heard.numbers
            self.failing |= heard.fails
            for claim, names in asked.items():
                for name in sorted(names - heard.fails):
                    if (claim, name) not in heard.fallen:
                        self.noticed.setdefault(name, f"{model.name}, for {claim}")


def _search(
    manifest: Manifest, model: Model, root: Root, asked: Mapping[str, set[str]], store: _Fallen | None
) -> _Heard:
    """Run an ablation with the weakenings of the claims that it refutes."""
    cfg = manifest.cfg(model)
    if not any(asked.values()):
        return _Heard()
    modules = read_modules(manifest.folders, root.module)
    first = remembered(module_text(root, asked, modules, cfg), modules)
    texts = sorted(modules.bare.items())
    beside = sorted(root.beside.items())
    place = key(__name__, first.text, beside, first.cfg.render(), texts, tools.jar_digest(tools.find_jar()))
    kept = store.read(place) if store else None
    if kept is not None:
        return _Heard.of(json.loads(kept))
    fails: set[str] = set()
    run, tells = first, False
    while True:
        heard = _Heard(fails=fails)
        try:
            tlc.run(
                manifest.folders,
                ROOT,
                run.cfg.render(),
                generated={**run.generated, **root.beside},
                workers=1,
                short=True,
                on_line=lambda line, heard=heard: heard.take(root, line),  # type: ignore[misc]
            )
        except EvaluationFailed as error:
            if tells:
                if not heard.last or heard.last in fails:
                    raise UnexpectedOutput(f"{ROOT}: {model.name}: {error}", text=error.text) from error
                fails.add(heard.last)
            tells = True
            left = {claim: names - fails for claim, names in asked.items()}
            run = remembered(module_text(root, left, modules, cfg, tells=True), modules)
        else:
            break
    if store:
        store.write(place, json.dumps(heard.to_json()).encode())
    return heard
