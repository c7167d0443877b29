"""`groupcomm prove`: an invariant that an SMT solver proves inductive. See docs/proof.md."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from groupcomm_conformance.models.manifest import Manifest, UnknownNameError, find_root, load

from . import console
from .exits import ExitCode, verdict
from .options import AsJson, Unicode, one_of, whole

if TYPE_CHECKING:  # z3 is an extra
    from groupcomm_conformance.proof.proving import Obligation, Proved

__all__ = ["PROVED", "command"]

PROVED = ("stable", "sequencer")
"""The protocols that have an inductive invariant."""

_LARGEST = 1000
_SOLVERS = ("z3", "cvc5")


def command(
    protocol: Annotated[str, typer.Argument(help="The protocol: stable or sequencer.")] = PROVED[0],
    *,
    steps: Annotated[
        list[str] | None,
        typer.Option("--step", metavar="STEP", help="Only the obligations of this step, such as JoinStep."),
    ] = None,
    clauses: Annotated[
        list[str] | None,
        typer.Option("--clause", metavar="NAME", help="Only those of this conjunct, such as Guards."),
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
    unicode: Unicode = False,
    as_json: AsJson = False,
) -> None:
    """Prove STABLE's, or SEQUENCER's, claims in groups of any size.

    z3, an SMT solver, is asked whether the invariant of StableInductive (SequencerInductive) holds at the
    start, is kept by every step, and implies the claims. It is also asked whether every step can happen, and
    whether each ablation makes an obligation fail. cvc5, another solver, has to confirm each obligation: an
    answer "unknown" does not confirm it.
    Then TLC searches the smaller models for a state outside the invariant, or a step that the solver was not
    given. With --step or --clause only these obligations are judged. Needs both solvers, which `make prove`
    installs.

    An obligation that fails in a small group is drawn as a chart: a state with the invariant, a step, and the
    clause that is then false. --without draws those of an ablation, and judges nothing else.

    Exits with 1 if an obligation is open or not confirmed, or anything else is not as it has to be.
    """
    one_of(PROVED, protocol)
    try:
        from groupcomm_conformance.proof import drawing, proving, second  # noqa: PLC0415 - an extra
    except ImportError as error:
        if error.name not in _SOLVERS:
            raise
        typer.echo(
            f"groupcomm: {error.name} is not installed: make prove, or pip install 'groupcomm[prove]'",
            err=True,
        )
        raise typer.Exit(ExitCode.TOOL_FAILED) from None
    root = find_root()
    manifest = load(root, protocol)
    if without is not None:
        _draw_ablations(manifest, without, unicode=unicode, as_json=as_json)
    began = time.process_time()
    theory = proving.THEORIES[protocol](manifest, None)
    asked = proving.obligations(theory, steps or (), clauses or ())
    judged, still_open, unconfirmed = [], [], []
    for obligation, proved in _told((each, proving.prove(each)) for each in asked):
        judged.append(proved)
        again = second.asked_again(obligation)
        if again != "unsat":
            unconfirmed.append({"step": proved.step, "clause": proved.clause, "answer": again})
        if not proved.follows:
            width = console.chart_width()
            chart = drawing.drawn(obligation, width=width, unicode=unicode)
            still_open.append(
                {"step": proved.step, "clause": proved.clause, "answer": proved.answer, "chart": chart}
            )
    if not judged:
        typer.echo("nothing to judge: no obligation has these names", err=True)
        raise typer.Exit(ExitCode.NOTHING)
    dearest = max(judged, key=lambda each: each.spent)
    found: dict[str, Any] = {
        "protocol": protocol,
        "obligations": len(judged),
        "open": still_open,
        "unconfirmed": unconfirmed,
        "steps": dict(Counter(each.step for each in judged)),
        "dearest": {"step": dearest.step, "clause": dearest.clause, "spent": dearest.spent},
    }
    ok = not found["open"] and not unconfirmed
    if steps is None and clauses is None:
        found["impossible"] = list(proving.impossible(theory))
        found["ablations"] = [_ablated(manifest, each) for each in theory.ablations]
        ok = ok and not found["impossible"] and all(each["fails"] for each in found["ablations"])
        typer.echo("ablations judged; TLC searches models", err=True)
    found["cpu_seconds"] = round(time.process_time() - began, 1)
    if steps is None and clauses is None:
        found["models"] = list(_searched(manifest, theory.steps(), _LARGEST if states is None else states))
        ok = ok and all(each["violated"] is None for each in found["models"])
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        _tell(found)
    raise typer.Exit(verdict(ok=ok))


def _told(all_judged: "Iterator[tuple[Obligation, Proved]]") -> "Iterator[tuple[Obligation, Proved]]":
    """Say on stderr which step is done, and what is open of it."""
    for step, judged in groupby(all_judged, key=lambda each: each[1].step):
        count = unproved = 0
        for each in judged:
            count += 1
            unproved += not each[1].follows
            yield each
        typer.echo(f"  {step}: {count} obligations, {unproved} open", err=True)


def _ablated(manifest: Manifest, ablation: Any) -> dict[str, Any]:  # noqa: ANN401 - of an extra
    """Judge an ablation: the obligation named is not proved, and fails in a small group."""
    from groupcomm_conformance.proof import proving  # noqa: PLC0415 - an extra

    theory = proving.THEORIES[manifest.protocol](manifest, ablation)
    chosen = list(proving.obligations(theory, [ablation.step], [ablation.clause]))
    # (What follows all the same is proved sooner than all small groups are looked through.)
    fails = any(not proving.prove(each, tries=1).follows and proving.refuted(each) for each in chosen)
    return {
        "without": ablation.name,
        "step": ablation.step,
        "clause": ablation.clause,
        "fails": fails,
    }


def _draw_ablations(manifest: Manifest, name: str, *, unicode: bool, as_json: bool) -> NoReturn:
    """Draw where the obligations of an ablation fail: of a guard, those of all its values that are asked."""
    from groupcomm_conformance.proof import drawing, proving  # noqa: PLC0415 - an extra

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
        charts = (drawing.drawn(each, width=width, unicode=unicode) for each in failing)
        found.append({"without": ablation.name, "chart": next(filter(None, charts), [])})
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for drawn in found:
            typer.echo(f"without {drawn['without']}:")
            typer.echo("\n".join(drawn["chart"] or ["HOLDS in small groups, though it should fail"]))
    raise typer.Exit(verdict(ok=all(drawn["chart"] for drawn in found)))


def _searched(manifest: Manifest, steps: str, states: int) -> Iterator[dict[str, Any]]:
    from groupcomm_conformance.proof.searching import search, searchable  # noqa: PLC0415 - an extra

    for model in searchable(manifest, states):
        searched = search(manifest, model, steps)
        typer.echo(f"  {model.name}: {searched.distinct:,} states searched", err=True)
        yield {"model": model.name, "violated": searched.violated, "distinct": searched.distinct}


def _tell(found: dict[str, Any]) -> None:
    for each in found["open"]:
        typer.echo(f"OPEN: {each['step']}: {each['clause']}: {each['answer']}")
        for line in each["chart"]:
            typer.echo(line)
    for each in found["unconfirmed"]:
        typer.echo(f"NOT CONFIRMED: {each['step']}: {each['clause']}: cvc5 says {each['answer']}")
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
        f"{len(found['unconfirmed'])} not confirmed by cvc5, "
        f"{found['dearest']['spent']:,} units of the solver for the dearest, "
        f"{found['cpu_seconds']:.0f} s of CPU time"
    )
