"""The report on mutants: how many were noticed, which survive, and why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from .explaining import Reasons
from .implementation import Mutant
from .verdicts import Judged

REQUIRED: Final = 0.95
"""The part of an implementation's mutants that must be killed."""

SPEC_REQUIRED: Final = 0.97
"""The share of a specification's mutants, without equivalent mutants, that must be noticed."""


# Of an implementation


@frozen
class Fate:
    """The verdict on a mutant: what it was killed `by`, "" for none; `beyond` the tables: a random step."""

    mutant: Mutant
    by: str
    beyond: bool = False


def told(protocol: str, models: list[str], fates: Sequence[Fate], reasons: Reasons, seconds: float) -> dict[str, Any]:
    """Give the report on mutants of an implementation as plain values."""
    survivors = [fate.mutant for fate in fates if not fate.by]
    kinds = _kinds([mutant.name for mutant in survivors], reasons)
    stale = _stale(reasons, {fate.mutant.name: fate.by for fate in fates})
    killed = len(fates) - len(survivors)
    score = killed / len(fates) if fates else 0.0
    return {
        "protocol": protocol,
        "ok": score >= REQUIRED and "" not in kinds and not stale,
        "models": models,
        "mutants": len(fates),
        "killed": killed,
        "by_random_steps": sum(fate.beyond for fate in fates),
        "survived": len(survivors),
        **_counts(kinds),
        "score": round(100 * score, 2),
        "survivors": [
            {
                "name": mutant.name,
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
                **_why(mutant.name, reasons),
            }
            for mutant in survivors
        ],
        "stale": stale,
        "seconds": round(seconds, 3),
    }


def _kinds(names: Sequence[str], reasons: Reasons) -> list[str]:
    return [reasons.mutants[name].kind if name in reasons.mutants else "" for name in names]


def _counts(kinds: Sequence[str]) -> dict[str, int]:
    return {
        "equivalent": kinds.count("equivalent"),
        "unreached": kinds.count("unreached"),
        "unexplained": kinds.count(""),
    }


def _why(name: str, reasons: Reasons) -> dict[str, str]:
    reason = reasons.mutants.get(name)
    if reason is None:
        return {"kind": "", "why": "", "needs": ""}
    return {"kind": reason.kind, "why": reason.why, "needs": reason.needs}


def _stale(reasons: Reasons, by: Mapping[str, str]) -> dict[str, str]:
    """Give the mutants that have a reason and do not survive, with what detects them; "" for no mutant."""
    return {name: by.get(name, "") for name in reasons.mutants if by.get(name, "") or name not in by}


def _stale_lines(report: Mapping[str, Any]) -> Iterator[str]:
    for name, by in report["stale"].items():
        yield f"STALE: a reason for what {'is noticed' if by else 'is no mutant'}: {name}"
        yield from (f"  {line}" for line in by.splitlines())


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Write such a report as text."""
    for survivor in report["survivors"]:
        yield f"{survivor['kind'] or 'SURVIVES'}: line {survivor['line']}: {survivor['name']}"
        yield f"  - {survivor['before']}"
        yield f"  + {survivor['after']}"
        yield from _reason_lines(survivor)
    yield from _stale_lines(report)
    yield (
        f"{report['protocol']}: {report['killed']} of {report['mutants']} mutants killed "
        f"({report['score']} %), {report['by_random_steps']} of them by random steps alone; "
        f"{_counted(report)}; by the local steps of {', '.join(report['models'])}; {report['seconds']:.1f} s"
    )


def _counted(report: Mapping[str, Any]) -> str:
    return ", ".join(f"{report[kind]} {kind}" for kind in ("equivalent", "unreached", "unexplained"))


def _reason_lines(survivor: Mapping[str, str]) -> Iterator[str]:
    if survivor["why"]:
        yield f"  {survivor['why']}{'; it needs ' + survivor['needs'] if survivor['needs'] else ''}"


# Of a specification


def spec_told(judged: Judged, reasons: Reasons, seconds: float, *, required: float = SPEC_REQUIRED) -> dict[str, Any]:
    """Give the report on mutants of a specification as plain values."""
    survivors = [mutant for mutant, found in zip(judged.mutants, judged.noticed, strict=True) if found is None]
    kinds = _kinds([mutant.name for mutant in survivors], reasons)
    noticed = len(judged.mutants) - len(survivors)
    real = len(judged.mutants) - kinds.count("equivalent")
    score = noticed / real if real else 0.0
    silent = [event for event in judged.unheard if event not in reasons.unheard]
    by = {
        mutant.name: "" if found is None else found.by
        for mutant, found in zip(judged.mutants, judged.noticed, strict=True)
    }
    stale = _stale(reasons, by) | dict.fromkeys(set(reasons.unheard) - set(judged.unheard), "a model has it")
    return {
        "protocol": judged.protocol,
        "ok": score >= required and "" not in kinds and not stale and not silent,
        "models": list(judged.models),
        "mutants": len(judged.mutants),
        "noticed": noticed,
        "by_failing": sum(found.fails for found in judged.noticed if found is not None),
        "by_random_steps": sum(found.beyond for found in judged.noticed if found is not None),
        **_counts(kinds),
        "score": round(100 * score, 2),
        "survivors": [
            {
                "name": mutant.name,
                "module": mutant.module,
                "line": mutant.line,
                **_why(mutant.name, reasons),
                **({"places": judged.places[mutant.name]} if mutant.name in judged.places else {}),
            }
            for mutant in survivors
        ],
        "unheard": {event: reasons.unheard.get(event, "") for event in judged.unheard},
        "stale": stale,
        "seconds": round(seconds, 3),
    }


def spec_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Write such a report as text."""
    for each in report["survivors"]:
        yield f"{each['kind'] or 'SURVIVES'}: {each['module']}.tla:{each['line']}: {each['name']}"
        yield from _reason_lines(each)
    for event, why in report["unheard"].items():
        yield f"{'not confronted: ' + why if why else 'NOT CONFRONTED'}: no model has the event {event}"
    yield from _stale_lines(report)
    yield (
        f"{report['protocol']}: {report['noticed']} of {report['mutants']} mutants of the specification "
        f"noticed ({report['score']} % of the non-equivalent), {report['by_random_steps']} by "
        f"random steps alone, {report['by_failing']} because TLC cannot evaluate a row; {_counted(report)}; "
        f"by the tables of {', '.join(report['models'])}; "
        f"{report['seconds']:.1f} s"
    )


# Of claims


def claim_lines(report: Mapping[str, Any], what: str) -> Iterator[str]:
    """Write a report on weakened claims or guarantees, which is like that on a specification, as text."""
    for each in report["survivors"]:
        yield f"{each['kind'] or 'SURVIVES'}: {each['module']}.tla:{each['line']}: {each['name']}"
        yield from _reason_lines(each)
    yield from _stale_lines(report)
    yield (
        f"{report['protocol']}: {report['noticed']} of {report['mutants']} weakenings of {what} noticed "
        f"({report['score']} % of the non-equivalent) by {len(report['models'])} ablations, "
        f"{_counted(report)}, {report['seconds']:.1f} s"
    )


def condition_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Write a report on conditions of a step, which is like that on a specification, as text."""
    for each in report["survivors"]:
        yield f"{each['kind'] or 'NO CLAIM'}: {each['module']}.tla:{each['line']}: {each['name']}: {each['places']}"
        yield from _reason_lines(each)
    yield from _stale_lines(report)
    yield (
        f"{report['protocol']}: {report['noticed']} of {report['mutants']} changed conditions noticed by claims, "
        f"{report['by_failing']} of them because TLC cannot evaluate a step; {_counted(report)}; by "
        f"{len(report['models'])} models, {report['seconds']:.1f} s"
    )
