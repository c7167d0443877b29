"""JUnit XML, as continuous-integration servers read it: a test case a model, a gate, a verdict, a scenario.

A suite for each protocol and kind (`stable.models`, `stable.gates`, `stable.conform`, `stable.scenarios`);
a case's `classname` is its suite's name. The differences are the text of `failure`, the first line of it the
`message`; a gate that was not judged is `skipped`, with the reason. Times are seconds: a model's are the
wall clock's of its search, whenever that was, a verdict's CPU time.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from attrs import frozen

from groupcomm_conformance.steps.conform import lines
from groupcomm_conformance.tla.chart import Bounds, chart

from .findings import Findings

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot write."""


@frozen
class _Case:
    name: str
    seconds: float = 0.0
    failure: Sequence[str] = ()
    skipped: str = ""


def document(found: Iterable[Findings]) -> str:
    """Write the document, ending in a line end."""
    top = ET.Element("testsuites", name="groupcomm")
    for findings in found:
        for kind, cases in (
            ("models", _models(findings)),
            ("gates", _gates(findings)),
            ("conform", _conform(findings)),
            ("scenarios", _scenarios(findings)),
        ):
            _suite(top, f"{findings.protocol}.{kind}", list(cases))
    for name in ("tests", "failures", "skipped"):
        top.set(name, str(sum(int(suite.get(name, "0")) for suite in top)))
    ET.indent(top)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(top, encoding="unicode")}\n'


def _suite(top: ET.Element, name: str, cases: Sequence[_Case]) -> None:
    suite = ET.SubElement(
        top,
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(bool(case.failure) for case in cases)),
        errors="0",
        skipped=str(sum(bool(case.skipped) for case in cases)),
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        element = ET.SubElement(suite, "testcase", classname=name, name=_text(case.name), time=f"{case.seconds:.3f}")
        if case.failure:
            failure = ET.SubElement(element, "failure", message=_text(case.failure[0]))
            failure.text = _text("\n".join(case.failure))
        if case.skipped:
            ET.SubElement(element, "skipped", message=_text(case.skipped))


def _models(findings: Findings) -> Iterator[_Case]:
    for model in findings.models:
        checked, different = findings.checked[model.name], findings.differences[model.name]
        rest = Bounds(rest=f"groupcomm explain {checked.protocol} {checked.model}")
        drawn = (
            chart(checked.trace, back_to=checked.loop, stutters=checked.stuttering, bounds=rest)
            if checked.trace and different and checked.outcome != checked.expected
            else []
        )
        yield _Case(model.name, checked.seconds, [*different, *drawn])


def _gates(findings: Findings) -> Iterator[_Case]:
    for gate in findings.gates:
        if gate.ok is None:
            yield _Case(gate.name, skipped=gate.text)
        else:
            yield _Case(gate.name, failure=[] if gate.ok else gate.text.split("; "))


def _conform(findings: Findings) -> Iterator[_Case]:
    for conformance in findings.conformances:
        yield _Case(conformance.model, conformance.seconds, list(lines(conformance, failures_only=True)))


def _scenarios(findings: Findings) -> Iterator[_Case]:
    for result in findings.scenarios:
        failed = result.outcome != "pass"
        problem = f"{result.file}:{result.line}: {result.problem}"
        yield _Case(result.file, failure=[problem, *result.chart] if failed else [])


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
