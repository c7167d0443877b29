"""report: the page of each protocol of the project, from results that are as the manifest expects them."""

from pathlib import Path

import pytest

from groupcomm_conformance.models.checking import CheckedModel, expected
from groupcomm_conformance.models.manifest import Manifest, Model, load, protocols
from groupcomm_conformance.report.findings import Findings
from groupcomm_conformance.report.page import pages

ROOT = Path(__file__).parents[2]


def made_up(manifest: Manifest, model: Model) -> CheckedModel:
    """The result that the manifest expects, without a counterexample."""
    return CheckedModel(
        protocol=manifest.protocol,
        model=model.name,
        tier=model.tier,
        expected=expected(model),
        outcome=expected(model),
        violated=model.violates,
        distinct=model.counts.distinct if model.counts else 1,
        transitions=model.counts.transitions if model.counts else 1,
        depth=model.counts.depth if model.counts else 1,
        workers=1,
        trace=(),
        loop=None,
        stuttering=False,
        witnesses=frozenset(),
        steps=frozenset(),
        judged=(),
        falls=frozenset(model.violated),
        conjuncts=frozenset(),
        harvest=None,
        seconds=1.0,
        cpu_seconds=1.0,
        tlc_version="",
    )


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_the_page_of_each_protocol_names_all_its_models(protocol: str) -> None:
    """Also of ablations that replace an operator, which is in no reference."""
    manifest = load(ROOT, protocol)
    checked = {model.name: made_up(manifest, model) for model in manifest.models}
    (name, page), (_, index) = pages([Findings(manifest, checked, [], [])], made="now")
    text = page.replace("<wbr>", "")
    assert f"{protocol}.html" == name
    assert [] == [model.name for model in manifest.models if f"<code>{model.name}</code>" not in text]
    assert [] == [model.erratum.id for model in manifest.models if model.erratum and model.erratum.id not in text]
    assert [] == [
        model.erratum.id
        for model in manifest.models
        if model.erratum and f'href="{name}#{model.erratum.id}"' not in index
    ]
