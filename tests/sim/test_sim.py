#!/usr/bin/env python3
"""Whole clusters in one process, under seeds: COUNT of them (500; 20,000 in the long form) from SEED (1) on. A tenth as many with
every core's course played again; in the long form as many with disks that damage files, too."""
import os
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
LONG = os.environ.get("LONG") == "1"


def main():
    runs = os.environ.get("COUNT") or ("20000" if LONG else "500")
    args = [os.path.join(BUILD, "bin", "serai-sim"), "--seed", os.environ.get("SEED", "1"), "--runs", runs,
            "--jobs", str(os.cpu_count() or 1)]
    wrong = subprocess.run(args, stdin=subprocess.DEVNULL).returncode
    args[args.index("--runs") + 1] = str(max(1, int(runs) // 10))
    wrong = subprocess.run(args + ["--replay"], stdin=subprocess.DEVNULL).returncode or wrong
    if LONG:
        wrong = subprocess.run(args + ["--damage"], stdin=subprocess.DEVNULL).returncode or wrong
    sys.exit(wrong)


if __name__ == "__main__":
    main()
