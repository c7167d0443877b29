"""What is reported of mutants: how many were noticed, which survive, and why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from .explaining import SpecReasons
from .implementation import Mutant
from .verdicts import Judged

__all__ = ["REQUIRED", "SPEC_REQUIRED", "Fate", "lines", "spec_lines", "spec_told", "told"]

REQUIRED: Final = 0.95
"""The part of an implementation's mutants that must be killed."""

SPEC_REQUIRED: Final = 0.97
"""The part of a specification's mutants, without those that are equivalent, that must be noticed."""


# Of an implementation


@frozen
class Fate:
    """What became of a mutant: what it was killed `by`, or `why` it is said to be equivalent."""

    mutant: Mutant
    killed: bool
    by: str = ""
    why: str = ""


def told(
    protocol: str, models: list[str], fates: Sequence[Fate], stale: list[str], seconds: float
) -> dict[str, Any]:
    """Give the report on mutants of an implementation as plain values."""
    killed = sum(fate.killed for fate in fates)
    survivors = [fate for fate in fates if not fate.killed]
    unexplained = [fate for fate in survivors if not fate.why]
    score = killed / len(fates) if fates else 0.0
    return {
        "protocol": protocol,
        "ok": score >= REQUIRED and not unexplained and not stale,
        "models": models,
        "mutants": len(fates),
        "killed": killed,
        "survived": len(survivors),
        "unexplained": len(unexplained),
        "score": round(100 * score, 2),
        "survivors": [
            {
                "name": fate.mutant.name,
                "line": fate.mutant.line,
                "before": fate.mutant.before,
                "after": fate.mutant.after,
                "why": fate.why,
            }
            for fate in survivors
        ],
        "stale": stale,
        "seconds": round(seconds, 3),
    }


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Write such a report as text."""
    for survivor in report["survivors"]:
        word = "equivalent" if survivor["why"] else "SURVIVES"
        yield f"{word}: line {survivor['line']}: {survivor['name']}"
        yield f"  - {survivor['before']}"
        yield f"  + {survivor['after']}"
        if survivor["why"]:
            yield f"  {survivor['why']}"
    for name in report["stale"]:
        yield f"STALE: an explanation of what does not survive: {name}"
    yield (
        f"{report['protocol']}: {report['killed']} of {report['mutants']} mutants killed "
        f"({report['score']} %), {report['survived']} survive, {report['unexplained']} unexplained; "
        f"by the local steps of {', '.join(report['models'])}; {report['seconds']:.1f} s"
    )


# Of a specification


def spec_told(judged: Judged, reasons: SpecReasons, seconds: float) -> dict[str, Any]:
    """Give the report on mutants of a specification as plain values."""
    survivors = [
        mutant for mutant, found in zip(judged.mutants, judged.noticed, strict=True) if found is None
    ]
    names = {mutant.name for mutant in survivors}
    kinds = [
        reasons.mutants[mutant.name].kind if mutant.name in reasons.mutants else "" for mutant in survivors
    ]
    noticed = len(judged.mutants) - len(survivors)
    real = len(judged.mutants) - kinds.count("equivalent")
    score = noticed / real if real else 0.0
    silent = [event for event in judged.unheard if event not in reasons.unheard]
    stale = [
        *(name for name in reasons.mutants if name not in names),
        *(event for event in reasons.unheard if event not in judged.unheard),
    ]
    return {
        "protocol": judged.protocol,
        "ok": score >= SPEC_REQUIRED and "" not in kinds and not stale and not silent,
        "models": list(judged.models),
        "mutants": len(judged.mutants),
        "noticed": noticed,
        "by_failing": sum(found.fails for found in judged.noticed if found is not None),
        "equivalent": kinds.count("equivalent"),
        "unreached": kinds.count("unreached"),
        "unexplained": kinds.count(""),
        "score": round(100 * score, 2),
        "survivors": [
            {
                "name": mutant.name,
                "module": mutant.module,
                "line": mutant.line,
                "kind": kind,
                "why": reasons.mutants[mutant.name].why if kind else "",
                "needs": reasons.mutants[mutant.name].needs if kind else "",
            }
            for mutant, kind in zip(survivors, kinds, strict=True)
        ],
        "unheard": {event: reasons.unheard.get(event, "") for event in judged.unheard},
        "stale": stale,
        "seconds": round(seconds, 3),
    }


def spec_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Write such a report as text."""
    for each in report["survivors"]:
        yield f"{each['kind'] or 'SURVIVES'}: {each['module']}.tla:{each['line']}: {each['name']}"
        if each["why"]:
            yield f"  {each['why']}{'; it needs ' + each['needs'] if each['needs'] else ''}"
    for event, why in report["unheard"].items():
        yield f"{'not confronted: ' + why if why else 'NOT CONFRONTED'}: no model has the event {event}"
    for name in report["stale"]:
        yield f"STALE: a reason for what is noticed, or is no mutant: {name}"
    yield (
        f"{report['protocol']}: {report['noticed']} of {report['mutants']} mutants of the specification "
        f"noticed ({report['score']} % of those that are not equivalent; {report['by_failing']} because "
        f"TLC cannot evaluate a row); {report['equivalent']} equivalent, {report['unreached']} unreached, "
        f"{report['unexplained']} unexplained; by the tables of {', '.join(report['models'])}; "
        f"{report['seconds']:.1f} s"
    )
