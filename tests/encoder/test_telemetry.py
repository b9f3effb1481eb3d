"""What runs the encoder tells nobody that it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "first",
    [
        "recollect",
        "recollect.operations.upkeep.doctor",
        "recollect.streams.encoder",
        "recollect.streams.encoder.onnx_encoder",
    ],
)
def test_onnxruntime_leaves_no_traces_in_the_users_home(first: str, tmp_path: Path) -> None:
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(("ORT_", "XDG_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import {first}, onnxruntime, os; onnxruntime.SessionOptions()\n"
         "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1'"],
        env={**environment, "HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*")) == []
