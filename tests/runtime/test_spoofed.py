"""A stranger whose datagrams have the members' own sources, between members in networks of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

allowed = os.geteuid() == 0 and shutil.which("ip") is not None


@pytest.mark.skipif(not allowed, reason="a network namespace needs root, and the command ip")
def test_spoofed_sources_harm_no_member_and_no_third_host() -> None:
    """Garbage, replays and reflections from a member's place; and replays in the name of a third host."""
    program = [sys.executable, str(Path(__file__).with_name("spoofing.py"))]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True)
    said = json.loads(ran.stdout)
    assert said["captured"] > 100
    for name, member in zip("ab", said["members"], strict=True):
        assert member["views"][-1] == ["a", "b"]
        assert len(member["views"]) <= 2, f"{name} alone, and then both, throughout"
        assert min(member["delivered"].values()) > 50
    counts = [member["counts"] for member in said["members"]]
    assert sum(count["strangers"] for count in counts) > 4_000
    assert sum(count["replays"] for count in counts) > said["captured"]
    assert said["victim"] <= 3 * said["sent"]
