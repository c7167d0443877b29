"""`groupcomm prove`: an invariant that an SMT solver proves inductive. See docs/proof.md."""

import json
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.models.manifest import Manifest, Model, UnknownNameError, find_root, load

from . import console
from .exits import ExitCode, verdict
from .options import AsJson, one_of, whole

if TYPE_CHECKING:  # z3 is an extra
    from collections.abc import Iterable

    from groupcomm_proof.judging import Judged

PROVED = ("stable", "sequencer", "gms")
"""The protocols that have an inductive invariant."""

_SEARCHED = {"gms": ("gms", "merge_gms")}  # the protocols in whose models TLC judges a proof, if not in its own

_LARGEST = 1000
_LISTED = "obligations.txt"
_SOLVERS = ("z3", "cvc5")
_CONFIRM = ("part", "all")


def command(
    protocol: Annotated[str, typer.Argument(help="The protocol: stable, sequencer or gms.")] = PROVED[0],
    *,
    steps: Annotated[
        list[str] | None,
        typer.Option("--step", metavar="STEP", help="Only the obligations of this step, such as JoinStep."),
    ] = None,
    clauses: Annotated[
        list[str] | None, typer.Option("--clause", metavar="NAME", help="Only those of this conjunct, such as Guards.")
    ] = None,
    states: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, 10**9),
            metavar="N",
            help=f"The largest models that TLC searches, in states. Default: {_LARGEST:,}.",
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without",
            metavar="ABLATION",
            help="Draw the small group in which the obligation of this ablation fails, such as HoldVote.",
        ),
    ] = None,
    confirm: Annotated[
        str,
        typer.Option(
            "--confirm",
            metavar="part|all",
            help="The obligations that cvc5 has to confirm: a fixed part (docs/proof.md says which), or all.",
        ),
    ] = _CONFIRM[0],
    recording: Annotated[
        bool, typer.Option("--record", help=f"Write the list of all obligations into {_LISTED}.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove STABLE's or SEQUENCER's claims, or that GMS's view identifiers are unique, in groups of any size.

    z3, an SMT solver, is asked whether the invariant of StableInductive (SequencerInductive, ViewIdentifiers) holds
    at the start, is kept by every step, and implies the claims. It is also asked whether the start and every step
    can happen, and whether each ablation makes an obligation fail. cvc5, another solver, has to confirm a
    fixed part of the obligations, with `--confirm all` each of them: an answer "unknown" does not confirm it.
    The obligations have to be those that obligations.txt lists.
    Then TLC searches the smaller models for a start or step that the solver was not given, or a state outside
    the invariant. With --step or --clause only these obligations are judged, by both solvers. Needs both
    solvers, which `make prove` installs.

    An obligation that fails in a small group is drawn as a chart: a state with the invariant, a step, and the
    clause that is then false. --without draws those of an ablation, and judges nothing else.

    Exits with 1 if an obligation is open or not confirmed, or anything else is not as it has to be.
    """
    one_of(PROVED, protocol)
    one_of(_CONFIRM, confirm)
    try:
        from groupcomm_proof import drawing, judging, proving  # noqa: PLC0415 - an extra
    except ImportError as error:
        if error.name not in _SOLVERS:
            raise
        typer.echo(
            f"groupcomm: {error.name} is not installed: make prove, or pip install 'groupcomm-conformance[prove]'",
            err=True,
        )
        raise typer.Exit(ExitCode.TOOL_FAILED) from None
    root = find_root()
    manifest = load(root, protocol)
    if without is not None:
        _draw_ablations(manifest, without, as_json=as_json)
    began = sum(os.times()[:4])
    theory = proving.THEORIES[protocol](manifest, None)
    asked = list(proving.obligations(theory, steps or (), clauses or ()))
    if not asked:
        typer.echo("nothing to judge: no obligation has these names", err=True)
        raise typer.Exit(ExitCode.NOTHING)
    found: dict[str, Any] = {"protocol": protocol, "obligations": len(asked)}
    ok, whole_proof = True, steps is None and clauses is None
    if whole_proof:
        with judging.Judges.of(root, protocol) as judges:
            judged = _reported(judges.obligations(len(asked), confirm_all=confirm == "all"))
            fails = judges.ablations(len(theory.ablations))
            found["ablations"] = [
                {"without": each.name, "step": each.step, "clause": each.clause, "fails": failed}
                for each, failed in zip(theory.ablations, fails, strict=True)
            ]
        found["impossible"] = list(proving.impossible(theory))
        listed = manifest.folder / _LISTED
        if recording:
            listed.write_text(proving.listed(asked), encoding="utf-8")
        found["unlisted"] = list(proving.difference(read_text(listed), proving.listed(asked)))
        ok = not (found["impossible"] or found["unlisted"]) and all(each["fails"] for each in found["ablations"])
        typer.echo("ablations judged; TLC searches models", err=True)
    else:
        judged = _reported(judging.judge(each, confirm=True) for each in asked)
    found |= _summary(judged)
    width = console.chart_width()
    found["open"] = [
        {
            "step": each.proved.step,
            "clause": each.proved.clause,
            "answer": each.proved.answer,
            "chart": drawing.drawn(obligation, width=width),
        }
        for obligation, each in zip(asked, judged, strict=True)
        if not each.proved.follows
    ]
    ok = ok and not found["open"] and not found["unconfirmed"]
    found["cpu_seconds"] = round(sum(os.times()[:4]) - began, 1)
    if whole_proof:
        found["models"] = [
            each
            for name in _SEARCHED.get(protocol, (protocol,))
            for each in _searched(load(root, name), theory.written(), _LARGEST if states is None else states)
        ]
        ok = ok and all(each["violated"] is None for each in found["models"])
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        _tell(found)
    raise typer.Exit(verdict(ok=ok))


def _reported(all_judged: "Iterable[Judged]") -> "list[Judged]":
    """Say on stderr which step is done, and what is open of it."""
    done = []
    for step, judged in groupby(all_judged, key=lambda each: each.proved.step):
        of_step = list(judged)
        unproved = sum(not each.proved.follows for each in of_step)
        typer.echo(f"  {step}: {len(of_step)} obligations, {unproved} open", err=True)
        done += of_step
    return done


def _summary(judged: "list[Judged]") -> dict[str, Any]:
    dearest = max((each.proved for each in judged), key=lambda each: each.spent)
    return {
        "asked_again": sum(each.again is not None for each in judged),
        "unconfirmed": [
            {"step": each.proved.step, "clause": each.proved.clause, "answer": each.again}
            for each in judged
            if each.again not in (None, "unsat")
        ],
        "steps": dict(Counter(each.proved.step for each in judged)),
        "dearest": {"step": dearest.step, "clause": dearest.clause, "spent": dearest.spent},
    }


def _draw_ablations(manifest: Manifest, name: str, *, as_json: bool) -> NoReturn:
    """Draw where the obligations of an ablation fail: of a guard, those of all its values that are asked."""
    from groupcomm_proof import drawing, proving  # noqa: PLC0415 - an extra

    theory_of = proving.THEORIES[manifest.protocol]
    ablations = theory_of(manifest, None).ablations
    wanted = [each for each in ablations if name in (each.name, each.name.split(":")[0])]
    if not wanted:
        raise UnknownNameError("ablation", name, tuple(each.name for each in ablations))
    found = []
    for ablation in wanted:
        asked = proving.obligations(theory_of(manifest, ablation), [ablation.step], [ablation.clause])
        width = console.chart_width()
        failing = (each for each in asked if not proving.prove(each, tries=1).follows)
        charts = (drawing.drawn(each, width=width) for each in failing)
        found.append({"without": ablation.name, "chart": next(filter(None, charts), [])})
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for drawn in found:
            typer.echo(f"without {drawn['without']}:")
            typer.echo("\n".join(drawn["chart"] or ["HOLDS in small groups, though it should fail"]))
    raise typer.Exit(verdict(ok=all(drawn["chart"] for drawn in found)))


def _searched(manifest: Manifest, written: str, states: int) -> list[dict[str, Any]]:
    from groupcomm_proof.searching import Searched, search, searchable  # noqa: PLC0415 - an extra

    def searched(model: Model) -> Searched:
        found = search(manifest, model, written)
        typer.echo(f"  {model.name}: {found.distinct:,} states searched", err=True)
        return found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [
            {"model": each.model, "violated": each.violated, "distinct": each.distinct}
            for each in pool.map(searched, searchable(manifest, states))
        ]


def _tell(found: dict[str, Any]) -> None:
    for each in found["open"]:
        typer.echo(f"OPEN: {each['step']}: {each['clause']}: {each['answer']}")
        for line in each["chart"]:
            typer.echo(line)
    for each in found["unconfirmed"]:
        typer.echo(f"NOT CONFIRMED: {each['step']}: {each['clause']}: cvc5 says {each['answer']}")
    for line in found.get("unlisted", ()):
        typer.echo(f"NOT AS LISTED in {_LISTED}: {line}")
    for name in found.get("impossible", ()):
        typer.echo(f"IMPOSSIBLE: {name}: it cannot happen, so what is proved of it says nothing")
    for each in found.get("ablations", ()):
        said = "fails, in a small group" if each["fails"] else "HOLDS, though it should fail"
        typer.echo(f"without {each['without']}: {each['step']}: {each['clause']}: {said}")
    for each in found.get("models", ()):
        if each["violated"] is not None:
            typer.echo(f"VIOLATED: {each['model']}: {each['violated']}")
    if "models" in found:
        total = sum(each["distinct"] for each in found["models"])
        typer.echo(f"{len(found['models'])} models searched, {total:,} states")
    typer.echo(
        f"{found['obligations']:,} obligations, {len(found['open'])} open, "
        f"{len(found['unconfirmed'])} of {found['asked_again']:,} not confirmed by cvc5, "
        f"{found['dearest']['spent']:,} units of the solver for the dearest, "
        f"{found['cpu_seconds']:.0f} s of CPU time"
    )
