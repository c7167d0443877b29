"""What several test files share, and settings of Hypothesis.

HYPOTHESIS_PROFILE names a profile, `dev` unless CI is set.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from groupcomm_conformance.models.checking import Cache, run_models, select
from groupcomm_conformance.models.manifest import load

pytest.register_assert_rewrite("tests.cores")

# A slow machine is no failure: no deadlines.
settings.register_profile("dev", deadline=None, max_examples=50, stateful_step_count=40)
settings.register_profile("ci", deadline=None, max_examples=100, stateful_step_count=50, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(scope="session")
def checked_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the toy protocol of `data` and a cache of all its results; not to be changed."""
    folder = tmp_path_factory.mktemp("checked")
    shutil.copytree(Path(__file__).parent / "data", folder, dirs_exist_ok=True)
    toy = load(folder, "toy")
    run_models([(toy, model) for model in select(toy)], cache=Cache.of(folder))
    return folder
