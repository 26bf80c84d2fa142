"""tests/count.py: what is skipped counts neither as passed nor as failed, and what dies has failed."""
import os, pathlib, subprocess, sys, tempfile
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCTEST = "[doctest] test cases:  5 |   {} passed | {} failed | {} skipped"
CASES = [  # status and output of each test, the last line
    ([("run", "")], "1 passed, 0 failed"),
    ([("fail", "")], "0 passed, 1 failed"),
    ([("run", "7 passed, 0 failed\n")], "7 passed, 0 failed"),
    ([("run", "7 passed, 0 failed, 3 skipped\n"), ("run", "")], "8 passed, 0 failed, 3 skipped"),
    ([("run", "0 passed, 0 failed, 80 skipped\n"), ("run", "")], "1 passed, 0 failed, 80 skipped"),
    ([("fail", "6 passed, 1 failed, 3 skipped\n")], "6 passed, 1 failed, 3 skipped"),
    ([("fail", "7 passed, 0 failed\n")], "7 passed, 1 failed"),
    ([("run", DOCTEST.format(4, 0, 1))], "4 passed, 0 failed, 1 skipped"),
    ([("run", DOCTEST.format(5, 0, 0) + "\non all ranks: 15 passed, 0 failed\n")], "15 passed, 0 failed"),
    ([("notrun", "")], "0 passed, 1 failed"),
]


def check_without_jax():
    """peer/run.py without JAX, and none to be had, skips all rows that the program prints."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        program.write_text("#!/bin/sh\necho '[{}, {}, {}]'\n")
        program.chmod(0o755)
        done = subprocess.run([sys.executable, ROOT / "tests/peer/run.py", program], capture_output=True, text=True,
                              env={**os.environ, "DRX_CACHE": folder, "PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_NO_CACHE_DIR": "1"})
        return done.returncode == 0 and done.stdout.splitlines()[-1:] == ["0 passed, 0 failed, 3 skipped"], done.stdout + done.stderr


passed = failed = 0
for tests, expected in CASES:
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write("<testsuite>" + "".join(f"<testcase name='t' status='{status}'><system-out>{output}</system-out></testcase>"
                                           for status, output in tests) + "</testsuite>")
        file.flush()
        done = subprocess.run([sys.executable, ROOT / "tests/count.py", file.name], capture_output=True, text=True)
    last = done.stdout.splitlines()[-1]
    ok = last == expected and bool(done.returncode) == (not expected.endswith(" 0 failed") and ", 0 failed," not in expected)
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print(f"FAILED {tests}: exit {done.returncode}, {last}, should be {expected}")
ok, output = check_without_jax()
passed, failed = passed + ok, failed + (not ok)
if not ok:
    print(f"FAILED without JAX:\n{output}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
