"""The shapes of a model's values: which fields occur together in a record, and of which types."""

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from groupcomm_conformance.tla.values import Fn, Value


@frozen
class Shapes:
    """The records that a model's states and events are made of: for each set of fields, the fields' types."""

    records: Mapping[frozenset[str], Mapping[str, frozenset[str]]] = field(hash=False)

    @classmethod
    def of(cls, values: "Sequence[Value]") -> "Shapes":
        """Look into values."""
        found: dict[frozenset[str], dict[str, set[str]]] = {}
        todo, seen = list(values), set[Value]()
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            match value:
                case tuple() | frozenset():
                    todo += value
                case Fn():
                    todo += value.values()
                    names = frozenset(str(key) for key in value)
                    if all(isinstance(key, str) for key in value):
                        types = found.setdefault(names, {name: set() for name in names})
                        for key, item in value.items():
                            types[str(key)].add(_type(item))
                case _:
                    pass
        return cls({names: {key: frozenset(types) for key, types in fields.items()} for names, fields in found.items()})

    def alike(self, name: str, beside: frozenset[str]) -> list[str]:
        """Other fields of the type of `name`, in the records that have all of `beside`, `name` among them."""
        found = {
            other
            for names, fields in self.records.items()
            if beside <= names
            for other, types in fields.items()
            if other not in {name, "type"} and types == fields[name] and "nothing" not in types
        }
        return sorted(found)

    def inside(self, name: str) -> list[str]:
        """The fields of the records that a field `name` holds."""
        types = {kind for fields in self.records.values() for kind in fields.get(name, ()) if kind.startswith("[")}
        return sorted(types.pop()[1:-1].split()) if len(types) == 1 else []


def _type(value: Value) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "number"
        case str():
            return "string"
        case ():
            return "nothing"
        case tuple():
            return "sequence"
        case frozenset():
            return "set"
        case Fn():
            return f"[{' '.join(sorted(str(key) for key in value))}]"
