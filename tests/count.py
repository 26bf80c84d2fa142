"""Adds up the results in ctest's JUnit files: a test that reports cases of its own counts as that many, any other as one. Skipped
ones are neither passed nor failed, and are counted apart."""
import re, sys, xml.etree.ElementTree as xml

total_passed = total_failed = total_skipped = 0
for name in sys.argv[1:]:
    for case in xml.parse(name).iter("testcase"):
        output = case.findtext("system-out") or ""
        ok = case.get("status") == "run"
        reports = (re.findall(r"^(?:on all ranks: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, re.M)
                   or re.findall(r"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed(?: \| +(\d+) skipped)?", output))
        passed, failed, skipped = (int(n or 0) for n in reports[-1]) if reports else (int(ok), int(not ok), 0)
        if not ok:
            failed = max(failed, 1)  # it died before or after its cases
            print(f"FAILED {case.get('name')} ({name})")
        total_passed += passed
        total_failed += failed
        if skipped:
            total_skipped += skipped
            print(f"skipped {skipped} of {case.get('name')} ({name})")
print(f"{total_passed} passed, {total_failed} failed" + (f", {total_skipped} skipped" if total_skipped else ""))
sys.exit(total_failed > 0 or total_passed == 0)
