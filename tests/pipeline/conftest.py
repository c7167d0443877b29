"""The tests of this folder need the extra `pipeline`, and take longer than all others: `make test-pipeline`."""

from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
MISSING = [name for name in ("pyarrow", "pyspark") if find_spec(name) is None]

# They could not even be imported. `-m pipeline` asks for them: then this is an error, not a pass without tests.
collect_ignore_glob = ["test_*.py"] if MISSING else []


def pytest_report_header() -> list[str]:
    return [f"tests/pipeline left out, without {', '.join(MISSING)}: make test-pipeline"] if MISSING else []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.pipeline)
