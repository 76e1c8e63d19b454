#!/usr/bin/env python3
"""The fuzz targets: some inputs each, about a minute of a processor in all, the same ones each time (LONG=1: SECONDS= or half an hour of any)."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LONG = os.environ.get("LONG") == "1"


def main():
    if not shutil.which("clang"):
        print("clang is not installed (FUZZ=1 tools/deps)")
        sys.exit(77)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "CC", "EXTRA", "OPT")}
    env["BUILD"] = os.path.relpath(os.environ.get("BUILD", "build"), ROOT)
    built = subprocess.run(["make", "--no-print-directory", f"-j{os.cpu_count()}", f"BUILD={env['BUILD']}", "fuzz-build"], cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        print(built.stdout[-5000:])
        sys.exit(1)
    env.update({"SECONDS": os.environ.get("SECONDS") or "1800", "SEED": "0"} if LONG else {"RUNS": "1000"})
    sys.exit(subprocess.run([os.path.join(HERE, "run")], env=env).returncode)


if __name__ == "__main__":
    main()
