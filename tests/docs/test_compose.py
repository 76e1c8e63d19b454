#!/usr/bin/env python3
"""The compose files and what they are made of: files that are named are there, scripts parse, settings exist; where Docker Compose
is installed, it takes them."""
import glob
import os
import re
import shutil
import subprocess

from pages import BUILD, ROOT, Checks, page

check = Checks()
FILES = ["docker-compose.yml", "docker-compose.debian.yml"]


def test_files():
    for name in FILES:
        text = page(name)
        for path in re.findall(r"- \./(\S+?):", text) + re.findall(r"dockerfile: (deploy/\S+)", text):
            check(os.path.exists(os.path.join(ROOT, path)), f"{name}: {path} is there")
        context = re.findall(r"context: (deploy/\S+)\n\s+dockerfile: (\S+)", text)
        for folder, dockerfile in context:
            check(os.path.exists(os.path.join(ROOT, folder, dockerfile)), f"{name}: {folder}/{dockerfile} is there")
    for path in glob.glob(os.path.join(ROOT, "deploy", "docker", "*Dockerfile")):
        with open(path, encoding="utf-8") as f:
            for source in re.findall(r"^COPY ([\w.-]+) ", f.read(), re.M):
                check(source == "." or os.path.exists(os.path.join(os.path.dirname(path), source)), f"{os.path.basename(path)}: {source} is there")


def test_services():
    text = page("docker-compose.yml")
    services = re.findall(r"^  ([\w-]+):$", text.split("\nservices:\n")[1].split("\nvolumes:\n")[0], re.M)
    check({"search", "mysql", "rabbitmq", "hotel", "hotel-admin"} <= set(services), "all services", services)
    for name in re.findall(r"^      ([\w-]+): \{condition:", text, re.M):
        check(name in services, f"{name}, which is waited for, is a service")
    for name in re.findall(r"^  ([\w-]+):$", page("docker-compose.debian.yml"), re.M):
        check(name in services, f"{name}, which is replaced, is a service")


def test_settings():
    """Every variable of the hotel services is a setting that they know."""
    program = os.path.join(BUILD, "bin", "serai-hotel")
    names = sorted(set(re.findall(r"^  (SERAI_HOTEL_\w+): (\S+)", page("docker-compose.yml"), re.M)))
    check(len(names) >= 4, "there are settings", names)
    for name, value in names:
        p = subprocess.run([program, "--version"], env={**os.environ, name: value}, capture_output=True, text=True)
        check(p.returncode == 0, f"{name} is taken", p.stderr)


def test_scripts():
    for path in [*glob.glob(os.path.join(ROOT, "deploy", "docker", "*-start")), os.path.join(ROOT, "deploy", "demo"), os.path.join(ROOT, "deploy", "local-cluster"), os.path.join(ROOT, "deploy", "demo-services")]:
        p = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
        check(p.returncode == 0, f"{os.path.basename(path)} parses", p.stderr)


def test_compose():
    plugin = shutil.which("docker") and subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    command = ["docker", "compose"] if plugin else ["docker-compose"] if shutil.which("docker-compose") else None
    for files in (FILES[:1], FILES) if command else ():
        p = subprocess.run([*command, *[a for f in files for a in ("-f", f)], "config", "--quiet"], cwd=ROOT, capture_output=True, text=True)
        check(p.returncode == 0, f"Docker Compose takes {files}", p.stderr)


def main():
    test_files()
    test_services()
    test_settings()
    test_scripts()
    test_compose()
    check.end()


if __name__ == "__main__":
    main()
