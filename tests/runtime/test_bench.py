"""The bench of the runtime, with our own members alone."""

import runpy
import subprocess
import sys
from pathlib import Path

COMPARE = Path(__file__).parents[2] / "bench" / "compare.py"
MEMBERS = COMPARE.with_name("members.py")


def test_bench_prints_a_row_of_figures_for_members_with_logs_with_safe_and_without() -> None:
    asked = ["--systems", "groupcomm", "groupcomm-logs", "groupcomm-safe", "--members", "2", "--sizes", "100"]
    shortly = ["--messages", "100", "--rounds", "1", "--warming", "0"]
    done = subprocess.run([sys.executable, str(COMPARE), *asked, *shortly], capture_output=True, text=True, check=True)
    heading, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines())
    assert ["members", "bytes", "system", "delivered a CPU second"] == heading[:4]
    assert [["2", "100", each] for each in ("groupcomm", "groupcomm-logs", "groupcomm-safe")] == [
        row[:3] for row in rows
    ]
    for row in rows:
        rates = [int(cell.replace(",", "")) for cell in row[3:7]]
        assert all(rate > 0 for rate in rates)
        assert min(rates[1:3]) <= rates[0] <= max(rates[1:3])
        for cell in row[7:]:
            half, most = (float(part) for part in cell.removesuffix(" ms").split(", "))
            assert 0 < half <= most


def test_bench_of_members_prints_what_a_group_of_three_costs() -> None:
    asked = [sys.executable, str(MEMBERS), "3", "--seconds", "1"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    _, _, row = done.stdout.splitlines()
    count, *figures = [cell.strip() for cell in row.split("|")[1:-1]]
    assert "3" == count
    assert ["s", "%", "kB/s", "us", "s", "s", "s"] == [each.split()[1] for each in figures]
    forms, idle, sent, delivery, first, last, left = (float(each.split()[0]) for each in figures)
    assert min(forms, idle, sent, delivery) > 0
    assert 0 <= left
    assert 0.5 < first <= last, "the others miss it after the patience"


def test_the_picture_of_members_is_that_of_the_rows_in_the_page() -> None:
    members = runpy.run_path(str(MEMBERS))
    rows = members["rows_in"](members["PAGE"].read_text(encoding="utf-8"))
    assert [3, 5, 10, 20, 30, 40, 50] == [row.members for row in rows]
    assert members["figure"](rows) == members["FIGURE"].read_text(encoding="utf-8")
