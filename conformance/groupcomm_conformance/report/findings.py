"""The findings of a report: all results of `check`, `conform` and `scenario`, a protocol at a time.

Nothing is computed here that these commands do not compute; results come from the same functions and
the same caches.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from attrs import define

from groupcomm_conformance.models.checking import (
    Cache,
    CheckedModel,
    Gate,
    Listener,
    differences,
    gates,
    kill_matrix,
    run_models,
)
from groupcomm_conformance.models.manifest import Manifest, Model, Tier
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError
from groupcomm_conformance.protocols.stepping import repair
from groupcomm_conformance.scenarios import checking
from groupcomm_conformance.steps.conform import Conformance, conform
from groupcomm_conformance.steps.rows import Replayed
from groupcomm_conformance.steps.table import Tables
from groupcomm_conformance.why.repaired_step import Instead, insteads
from groupcomm_conformance.why.why import Reasons, Why, reasons


@define(slots=False)
class Findings:
    """The findings of a protocol.

    `checked` are the results of the models that were asked for, by name, in the manifest's order.
    `conformances` are those of the conforming models, `scenarios` of all scenarios. `whys` say of each
    counterexample why the claim is false. `insteads` say what the control does from the state in which the
    ablation departs.
    """

    manifest: Manifest
    checked: Mapping[str, CheckedModel]
    conformances: Sequence[Conformance]
    scenarios: Sequence[checking.Result]
    whys: Mapping[str, Why] = {}
    insteads: Mapping[str, Instead] = {}

    @property
    def protocol(self) -> str:
        """The protocol's name."""
        return self.manifest.protocol

    @property
    def models(self) -> list[Model]:
        """The models that were asked for."""
        return [model for model in self.manifest.models if model.name in self.checked]

    @cached_property
    def differences(self) -> dict[str, list[str]]:
        """In what each model differs from the manifest; nothing where it does not."""
        return {model.name: differences(model, self.checked[model.name]) for model in self.models}

    @cached_property
    def gates(self) -> list[Gate]:
        """The gates over all models together."""
        return gates(self.manifest, self.checked)

    @cached_property
    def kills(self) -> dict[str, dict[str, str | None]]:
        """The result of each ablation for each claim: `kill_matrix`, claim by claim."""
        return {claim: dict(row) for claim, row in kill_matrix(self.manifest, self.checked).items()}

    @cached_property
    def ok(self) -> bool:
        """True if all is as expected. A gate that is not judged is no failure."""
        return (
            not any(self.differences.values())
            and all(gate.ok is not False for gate in self.gates)
            and all(conformance.ok for conformance in self.conformances)
            and all(result.outcome == "pass" for result in self.scenarios)
        )


def gather(
    root: Path, names: Sequence[str] = (), *, tier: Tier = "full", fresh: bool = False, listener: Listener | None = None
) -> list[Findings]:
    """Find all of the protocols named, by default of every one, out of the caches unless `fresh`.

    UnknownNameError where there is no such protocol, NothingToJudge where the tier has no model; what
    `run_models` and `conform` raise. A protocol without a model in the tier is left out.
    """
    models = chosen(root, names, tier=tier)
    came = run_models(models, cache=Cache.of(root), fresh=fresh, listener=listener)
    tables = Tables.of(root)
    found = []
    for manifest in {manifest.protocol: manifest for manifest, _ in models}.values():
        checked = {
            model.name: result
            for (owner, model), result in zip(models, came, strict=True)
            if owner.protocol == manifest.protocol
        }
        whys = _whys(manifest, checked, Reasons.of(root))
        found.append(
            Findings(
                manifest,
                checked,
                _conformances(manifest, checked, tables, fresh=fresh),
                checking.check(root, checking.files(root, manifest.protocol), fresh=fresh),
                whys,
                _insteads(manifest, checked, whys, Reasons.of(root)),
            )
        )
    return found


def _whys(manifest: Manifest, checked: Mapping[str, CheckedModel], cache: Reasons) -> dict[str, Why]:
    shown = [
        (manifest, model, checked[model.name])
        for model in manifest.models
        if model.name in checked and checked[model.name].trace
    ]
    said = zip(shown, reasons(shown, cache), strict=True)
    return {model.name: why for (_, model, _), why in said if why is not None}


def _insteads(
    manifest: Manifest, checked: Mapping[str, CheckedModel], whys: Mapping[str, Why], cache: Reasons
) -> dict[str, Instead]:
    shown = [
        (manifest, model, whys[model.name].trace if model.name in whys else checked[model.name].trace)
        for model in manifest.models
        if model.name in checked and checked[model.name].trace
    ]
    said = zip(shown, insteads(shown, repair, cache), strict=True)
    return {model.name: instead for (_, model, _), instead in said if instead is not None}


def _conformances(
    manifest: Manifest, checked: Mapping[str, CheckedModel], tables: Tables, *, fresh: bool
) -> list[Conformance]:
    """Run the local steps of all models that conform; without an implementation, say so of each."""
    models = [model for model in manifest.models if model.conform and model.name in checked]
    if not models:
        return []
    try:
        protocol = derive.load(manifest)
    except MappingError as error:
        return [
            Conformance(
                manifest.protocol,
                model.name,
                checked[model.name].transitions,
                None,
                Replayed(),
                {},
                0.0,
                None,
                str(error),
            )
            for model in models
        ]
    return [conform(manifest, model, checked[model.name], protocol, tables=tables, fresh=fresh) for model in models]
