"""A node under sanitizers: started with what they should do, and read what they said."""
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
from node import SHARED, Node  # noqa: E402
from request_client import Connection  # noqa: E402

RSS_LIMIT_MB = 3500      # with what the sanitizer keeps; beyond it the sanitizer ends the process
PARENT_LIMIT = "1200mb"
LOG_TAIL = 1 << 18
CLOCK = os.sysconf("SC_CLK_TCK")


class FuzzNode(Node):
    """A node under sanitizers, with what they say."""

    def __init__(self):
        conf = os.path.join(SHARED, "conformance", "config")
        super().__init__(conf=conf if os.path.isdir(conf) else None, **{"indices.breaker.total.limit": PARENT_LIMIT})
        self.reports = os.path.join(self.data, "report")
        common = f"log_path={self.reports}:abort_on_error=0"
        self.env = {**os.environ, "ASAN_OPTIONS": f"{common}:hard_rss_limit_mb={RSS_LIMIT_MB}:quarantine_size_mb=64:detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=0",
                    "UBSAN_OPTIONS": f"{common}:print_stacktrace=1", "LSAN_OPTIONS": common}

    def launch(self):
        os.environ.update({k: v for k, v in self.env.items() if k.endswith("_OPTIONS")})
        return super().launch()

    def cpu(self):
        """Processor time that the process had, in seconds; a dead one had none."""
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
                v = f.read().rsplit(")", 1)[1].split()
            return (int(v[11]) + int(v[12])) / CLOCK
        except (OSError, IndexError):
            return 0.0

    def running(self):
        """How many of its threads want a processor, or wait for a disk."""
        n = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/stat", encoding="ascii") as f:
                    n += f.read().rsplit(")", 1)[1].split()[0] in "RD"
            except OSError:
                pass
        return n

    def report(self):
        """What sanitizers said."""
        text = ""
        for name in sorted(os.listdir(self.data)):
            if name.startswith("report."):
                with open(os.path.join(self.data, name), encoding="utf-8", errors="replace") as f:
                    text += f.read()
        with open(self.log_path, "rb") as f:  # gcc's UndefinedBehaviorSanitizer knows no log_path
            f.seek(max(0, os.path.getsize(self.log_path) - LOG_TAIL))
            log = f.read().decode("utf-8", "replace")
        at = min((i for i in (log.find(": runtime error: "), log.find("Sanitizer: ")) if i >= 0), default=-1)
        return text + (log[log.rfind("\n", 0, at) + 1:] if at >= 0 else "")

    def dead(self, patience=3.0):
        """Whether it has ended; one that writes a report takes a while."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return True
            time.sleep(0.05)
        return False

    def connection(self):
        return Connection(self.host, self.port, self.cpu)


def place_of(report):
    """What groups reports: the kind, and the first function of ours."""
    kind = re.search(r"(?:ERROR: \w+Sanitizer: ([\w-]+)|runtime error: (.*)|hard rss limit)", report)
    frames = re.findall(r"#\d+ 0x[0-9a-f]+ in (\w+) (?:\S*/)?((?:engine|common|coordinator|data|master|node|proto)/[\w/.]+:\d+)", report)
    return f"{(kind.group(1) or kind.group(2) or 'memory')[:60] if kind else 'ended'} {' < '.join(f'{n} {p}' for n, p in frames[:2])}"
