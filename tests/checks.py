"""Counting checks, for tests that are programs."""
import sys


class Checks:
    """Counts checks and prints the line that the runner reads."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, ok, what, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}{': ' if detail != '' else ''}{detail}", flush=True)
        return ok

    def equal(self, have, want, what):
        return self(have == want, what, f"have {str(have)[:300]}, want {str(want)[:300]}" if have != want else "")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
