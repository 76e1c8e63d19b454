#!/usr/bin/env python3
"""The fuzzer of requests: some cases over one connection, the same ones each time, whatever errors they get (LONG=1: SECONDS= or half an hour over a sanitizer build, which it makes)."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CASES = 6


def main():
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "EXTRA", "OPT")}
    if os.environ.get("LONG") == "1":
        env["BUILD"] = os.path.relpath(os.environ.get("BUILD", "build"), ROOT)
        args = ["make", "--no-print-directory", "fuzz-requests", f"BUILD={env['BUILD']}", f"SECONDS={os.environ.get('SECONDS') or 1800}", f"SEED={os.environ.get('SEED') or 1}"]
        sys.exit(subprocess.run(args, cwd=ROOT, env=env).returncode)
    sys.exit(subprocess.run([os.path.join(HERE, "requests.py"), "--cases", str(CASES), "--connections", "1", "--own", "--any-error"], cwd=ROOT, env=env).returncode)


if __name__ == "__main__":
    main()
