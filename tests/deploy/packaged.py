"""What is installed, as systemd would run it: the command of a unit, its user and folders, and its word that it is ready."""
import os
import re
import shlex
import signal
import socket
import subprocess

import node


def read_unit(root, name, instance=""):
    """{"ExecStart": "..."} of a unit below `root`; the last of several lines of a name."""
    with open(os.path.join(root, "usr/lib/systemd/system", f"{name}.service"), encoding="utf-8") as f:
        lines = [line.strip().split("=", 1) for line in f if "=" in line and not line.startswith("#")]
    return {key: value.replace("%i", instance) for key, value in lines}


class Service:
    """Runs a unit's command with the root folder `root`; `chroot` with its own libraries and user, else with this machine's."""
    running = []

    def __init__(self, root, name, instance="", chroot=True, arguments=()):
        self.root, self.unit, self.chroot = root, read_unit(root, name, instance), chroot
        self.arguments = list(arguments)

    def folders(self):
        """StateDirectory and LogsDirectory, which systemd makes."""
        for key, base in (("StateDirectory", "var/lib"), ("LogsDirectory", "var/log")):
            if key in self.unit and self.chroot:
                path = f"/{base}/{self.unit[key]}"
                subprocess.run(["chroot", self.root, "install", "-d", "-o", self.unit["User"], "-g", self.unit["Group"], path], check=True)

    def start(self):
        command = shlex.split(self.unit["ExecStart"]) + self.arguments
        self.folders()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = ("/run" if self.chroot else "") + f"/notify-{id(self)}"
        path = self.root + name
        if os.path.exists(path):
            os.unlink(path)
        self.socket.bind(path)
        os.chmod(path, 0o666)
        self.socket.settimeout(node.HANG_SECONDS)
        if self.chroot:
            command = ["chroot", f"--userspec={self.unit['User']}:{self.unit['Group']}", self.root, *command]
        else:
            command = [self.root + command[0], *command[1:]]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, "NOTIFY_SOCKET": name if self.chroot else path, "MALLOC_CONF": "junk:free"})
        self.running.append(self.process)
        said = self.socket.recv(1000).decode()
        if "READY=1" not in said:
            raise RuntimeError(f"the service said {said!r}")
        return self

    def stop(self):
        """The exit status, after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=node.HANG_SECONDS)
        self.socket.close()
        return status


def end_all():
    """Whatever a failed test left."""
    for process in Service.running:
        if process.poll() is None:
            process.kill()
            process.wait()


def leftovers(root):
    """Names of text files in which something was not filled in."""
    found = []
    for base, _, files in os.walk(root):
        for name in files:
            path = os.path.join(base, name)
            if os.path.islink(path) or os.path.getsize(path) > 1 << 20:
                continue
            with open(path, "rb") as f:
                if re.search(rb"@[A-Z]{2,}@", f.read()) and not path.endswith("copyright"):
                    found.append(path)
    return found
