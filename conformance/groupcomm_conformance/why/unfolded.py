"""A claim with all that it names: what is false in it is said of the operators that it stands for.

`unfold` instruments a claim (`tla.witnesses`) and each operator that a formula in it only names, so that the
innermost formula that is false is printed. Of an operator of an instance (`Membership!NoLiveBranchIn`) the
module is copied, with the instrumented operator in it, and instantiated once more. `Next` of a guarantee that
can do without some of its conjuncts (`Off`) prints which of them the step violates: those without which it
would be a step of the guarantee.
"""

import re
from typing import Final

from attrs import define, field, frozen

from groupcomm_conformance.models.modules import Modules, scope
from groupcomm_conformance.tla.witnesses import Leaf, instrumented, names_of

_INSTANCE: Final = re.compile(r"INSTANCE\s+(\w+)(?:\s+WITH\s+(.*))?", re.DOTALL)
_OFF: Final = re.compile(r"\bOff\s*<-\s*")
_HEAD: Final = re.compile(r"(-{4,}\s*MODULE\s+)\w+")
_END: Final = re.compile(r"^={4,}", re.MULTILINE)
_DEEPEST: Final = 8


@frozen
class Unfolded:
    """`text` is the claim's, `definitions` what it needs besides, `modules` what is generated for it."""

    text: str
    definitions: tuple[str, ...]
    modules: dict[str, str]
    leaves: tuple[Leaf, ...]


def unfold(modules: Modules, root: str, claim: str, tag: str) -> Unfolded | None:
    """Instrument a claim of the module `root` with all that it names; None where no module defines it."""
    scopes: dict[str, _Scope] = {}
    whole = _Scope(modules, root, tag, [], scopes)
    found = whole.find(claim)
    if found is None:
        return None
    text, leaves = instrumented(found.text, tag, leaves=whole.leaves, unfold=whole.unfolded)
    generated = {each.copy: each.module_text() for each in scopes.values()}
    return Unfolded(text, tuple(whole.definitions), generated, leaves)


@frozen
class _Operator:
    parameters: str
    text: str


@define
class _Scope:
    """A module, or its copy, to which instrumented operators are added."""

    modules: Modules
    module: str
    tag: str
    leaves: list[Leaf]
    scopes: "dict[str, _Scope]"
    definitions: list[str] = field(factory=list)
    known: dict[str, str | None] = field(factory=dict)
    depth: int = 0

    @property
    def copy(self) -> str:
        return f"Why{self.module}"

    def module_text(self) -> str:
        bare = self.modules.bare[self.module]
        named = _HEAD.sub(rf"\g<1>{self.copy}", bare, count=1)
        end = [line.start() for line in _END.finditer(named)][-1]
        return "\n".join((named[:end], "LOCAL INSTANCE TLC", *self.definitions, named[end:], ""))

    def find(self, name: str) -> _Operator | None:
        """Find an operator that can be named here: of this module or a module that it extends."""
        for each in scope(self.modules, self.module):
            bare = self.modules.bare[each]
            head = re.search(rf"^(LOCAL\s+)?{name}(?:\(([^)]*)\))?\s*==", bare, re.MULTILINE)
            if head is None or (head[1] and each != self.module):
                continue
            defined = self.modules.defined(each, name)
            if defined is not None:
                return _Operator(head[2] or "", defined)
        return None

    def unfolded(self, call: str) -> str | None:
        """Give the instrumented operator for `Op` or `Instance!Op`, and add it; None where that cannot be."""
        if call not in self.known:
            self.known[call] = None  # what names itself is left whole
            self.known[call] = self._unfolded(*call.rpartition("!")[::2])
        return self.known[call]

    def _unfolded(self, instance: str, name: str) -> str | None:
        if self.depth >= _DEEPEST:
            return None
        if instance:
            return self._of_instance(instance, name)
        found = self.find(name)
        if found is None or "_" in found.parameters or _INSTANCE.search(found.text):
            return None
        own = f"Why_{name}"
        first = len(self.leaves)
        self.depth += 1
        names = names_of(found.parameters)
        text, _ = instrumented(
            found.text, self.tag, leaves=self.leaves, names=names, operator=name, unfold=self.unfolded
        )
        self.depth -= 1
        added = self.leaves[first:]
        if len(added) == 1 and added[0].operator == name and added[0].names == names and not added[0].sides:
            del self.leaves[first:]  # it says no more than its name, with the values of whoever names it
            return None
        head = f"{own}({found.parameters})" if found.parameters else own
        self.definitions.append(f"{head} ==\n{text}")
        return own

    def _of_instance(self, instance: str, name: str) -> str | None:
        found = self.find(instance)
        made = None if found is None or found.parameters else _INSTANCE.search(found.text)
        if made is None or made[1] not in self.modules.texts:
            return None
        module, given = made[1], (made[2] or "").strip()
        if name == "Next" and self.modules.conjuncts(module) and self.modules.declares(module, "Off"):
            return self._of_guarantee(instance, module, given)
        other = self.scopes.get(module)
        if other is None:
            other = _Scope(self.modules, module, self.tag, self.leaves, self.scopes)
            self.scopes[module] = other
        other.depth = self.depth + 1
        called = other.unfolded(name)
        if called is None:
            return None
        own = f"Why_{instance}"
        definition = f"{own} == INSTANCE {other.copy}{f' WITH {given}' if given else ''}"
        if definition not in self.definitions:
            self.definitions.append(definition)
        return f"{own}!{called}"

    def _of_guarantee(self, instance: str, module: str, given: str) -> str:
        """Define `Next`, printing the conjuncts of which one, or else two, are not to be asked for."""
        own, without = f"Why_{instance}_Next", f"Why_{instance}_Without"
        off = _OFF.search(given)
        widened = (
            f"{given[: off.end()]}Why_Off \\cup {given[off.end() :]}"
            if off
            else f"{given}{', ' if given else ''}Off <- Why_Off \\cup Off"
        )
        names = ", ".join(f'"{conjunct}"' for conjunct in self.modules.conjuncts(module))
        number = len(self.leaves)
        self.leaves.append(Leaf(f"{instance}!Next", (), None, "", module))
        self.definitions += [
            f"{without}(Why_Off) == INSTANCE {module} WITH {widened}",
            f"{own} ==",
            f"    {instance}!Next \\/",
            f"        LET why_all == {{{names}}}",
            f"            why_ones == {{why_c \\in why_all : {without}({{why_c}})!Next}}",
            "            why_twos == IF why_ones # {} THEN {} ELSE",
            "                {why_s \\in {{why_c, why_d} : why_c, why_d \\in why_all} :",
            f"                    {without}(why_s)!Next}}",
            f'        IN PrintT(ToString(<<"{self.tag}", {number}, <<>>, why_ones, why_twos>>))',
        ]
        return own
