"""The bench of the runtime, with our own members alone."""

import subprocess
import sys
from pathlib import Path

COMPARE = Path(__file__).parents[2] / "bench" / "compare.py"


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
