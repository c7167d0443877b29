"""port: begin a port in another language. See docs/porting.md."""

from pathlib import Path
from typing import Annotated, Any

import typer

from groupcomm_conformance.models.manifest import UnknownNameError, cores, find_root, load
from groupcomm_conformance.ports.plain import schema as schema_of
from groupcomm_conformance.ports.skeleton import LANGUAGES, write_skeleton
from groupcomm_conformance.ports.vector_reader import manifest_of, read_json
from groupcomm_conformance.protocols import derive

from .exits import EPILOG
from .options import OneProtocol

app = typer.Typer(
    name="port",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Begin a port in another language.",
)


@app.callback()
def _port() -> None:
    """Begin a port in another language."""


@app.command()
def new(
    protocol: OneProtocol,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write: a new or an empty one.")],
    language: Annotated[str, typer.Option("--language", metavar="LANGUAGE", help=f"One of {', '.join(LANGUAGES)}.")],
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            metavar="DIR",
            help="The folder of this protocol in an unpacked release: its schema is read, its files are copied, and no "
            "checkout is needed.",
        ),
    ] = None,
) -> None:
    """Write a skeleton: types of the protocol's values, an empty step, a test that runs vectors, an adapter."""
    if language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES)
    schema = _schema(protocol) if vectors is None else _released(protocol, vectors)
    names = write_skeleton(protocol, language, schema, folder, vectors)
    typer.echo(f"{folder}: a port of {protocol} begins: {', '.join(names)}; {folder / 'README.md'} says how it goes on")


def _schema(protocol: str) -> dict[str, Any]:
    """Give the schema of a protocol of this checkout."""
    root = find_root()
    found = derive.load(load(root, protocol))
    if not found.is_layer:
        layers = tuple(each for each in cores(root) if derive.load(load(root, each)).is_layer)
        raise UnknownNameError("protocol of a member", protocol, layers)
    return schema_of(found)


def _released(protocol: str, folder: Path) -> dict[str, Any]:
    """Read the schema in a folder of a release."""
    manifest_of(folder, protocol)
    found: dict[str, Any] = read_json(folder / "schema.json")
    return found
