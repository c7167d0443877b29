"""Every line between driver and adapter, and every value of the tables, by a validator of JSON Schema that is not ours."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator, ValidationError

from groupcomm_commands.main import main
from groupcomm_conformance.ports import adapter as adapters
from groupcomm_conformance.ports.judging import Judge
from groupcomm_conformance.ports.plain import LARGEST, schema
from tests.cores import PROTOCOLS, ROOT
from tests.test_adapter import CORE, MODEL, SMALL, table

LINES: Final = json.loads(Path(adapters.__file__).with_name("adapter.schema.json").read_text())
ANSWERS: Final = {"hello": "hello", "step": "step", "event": "event", "read": "read"}

SCENARIO: Final = ROOT / "conformance" / "scenarios" / "stable" / "unilateral_action.yaml"

TEE: Final = """
import subprocess, sys, threading
log = open(sys.argv[1], "a")
core = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
def answers():
    for line in core.stdout:
        log.write(line)
        log.flush()
        sys.stdout.write(line)
        sys.stdout.flush()
thread = threading.Thread(target=answers)
thread.start()
for line in sys.stdin:
    log.write(line)
    log.flush()
    core.stdin.write(line)
core.stdin.close()
thread.join()
"""
"""An adapter that hands each line on, and writes it down."""


def by(name: str, protocol: str | None = None) -> Draft202012Validator:
    """The validator of a definition: of the lines, or of the values of a protocol."""
    told: Any = LINES if protocol is None else schema(PROTOCOLS[protocol])
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": told["$defs"]})


OF_VALUES: Final = {name: by(name, "stable") for name in ("State", "Event", "Effect", "Config")}


def numbers(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Read strings of digits as the integers that they stand for."""
    match value:
        case dict():
            return {name: each if name == "payload" else numbers(each) for name, each in value.items()}
        case list():
            return [numbers(each) for each in value]
        case str() if value.lstrip("-").isdecimal() and abs(int(value)) > LARGEST:
            return int(value)
    return value


def values(line: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values in a line, each with its definition."""
    for name in ("state", "event", "config"):
        if name in line:
            yield name.capitalize(), numbers(line[name])
    yield from (("Effect", numbers(each)) for each in line.get("effects", ()))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All lines of runs with everything that a port is asked."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "tee.py").write_text(TEE)
    log = folder / "log"
    adapter = f"{sys.executable} {folder / 'tee.py'} {log} {sys.executable} {CORE}"
    asked = ["conform", "stable", "--model", MODEL.name, "--adapter", adapter]
    assert main([*asked, "--strict", "--renamed", "--random", "120"]) == 0
    assert main(["scenario", str(SCENARIO), "--adapter", adapter]) == 0
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_each_line_is_as_its_schema_has_it(lines: list[dict[str, Any]]) -> None:
    """Each once, whatever its number."""
    Draft202012Validator.check_schema(LINES)
    told, asked = {}, {}
    for line in lines:
        if "do" in line:
            asked[line["seq"]] = line["do"]
        kind = "request" if "do" in line else f"answer_to_{ANSWERS.get(asked[line['seq']], 'others')}"
        told[kind, json.dumps({**line, "seq": 1})] = line
    assert {*asked.values()} == {"hello", "configure", "step", "keep", "read", "start", "event", "stop"}
    of_line = {kind: by(kind) for kind, _ in told}
    for (kind, _), line in told.items():
        of_line[kind].validate(line)
    for name, text in {(name, json.dumps(value)) for line in told.values() for name, value in values(line)}:
        OF_VALUES[name].validate(json.loads(text))


@pytest.mark.parametrize("name", SMALL)
def test_each_value_of_a_table_is_as_the_schema_has_it(name: str) -> None:
    told: Any = schema(PROTOCOLS[name])
    Draft202012Validator.check_schema(told)
    of, judge = table(name, SMALL[name]), Judge(PROTOCOLS[name])
    for kind, pool, shape in (
        ("State", of.states, judge.state_shape),
        ("Event", of.events, judge.event_shape),
        ("Effect", {effect for result in of.results for effect in result.effects}, judge.effects_shape.item),
    ):
        validator = by(kind, name)
        for value in pool:
            validator.validate(judge.plain.write(value, shape))


def test_a_line_that_is_not_so_is_noticed() -> None:
    right = {"seq": 3, "do": "step", "state": {}, "event": {}}
    by("request").validate(right)
    for wrong in ({**right, "at": 3}, {**right, "more": 1}, {**right, "seq": 0}, {**right, "do": "walk"}):
        with pytest.raises(ValidationError):
            by("request").validate(wrong)
