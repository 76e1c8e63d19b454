"""MariaDB and RabbitMQ from Debian's packages as private servers: unprivileged ports, data in a folder that goes away."""
import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import node

START_SECONDS = node.HANG_SECONDS


def need(*programs):
    """Ends the test as skipped where a program is missing."""
    for program in programs:
        if not os.path.exists(program) and not shutil.which(program):
            node.skip(f"{os.path.basename(program)} is not installed (SERVERS=1 tools/deps)")


def wait_for_port(port, process, log, seconds=START_SECONDS):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.02)
    with open(log, encoding="utf-8", errors="replace") as f:
        raise RuntimeError(f"nothing answers at port {port}:\n" + f.read()[-3000:])


class Server:
    """A process of its own group, started and killed as often as a test likes; its data stays until close()."""

    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix=f"serai-{name}-")
        self.log = os.path.join(self.folder, "log")
        self.process = None
        self.port = node.free_port()
        atexit.register(self.close)

    def launch(self, args, env=None):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True)
        wait_for_port(self.port, self.process, self.log)

    def kill(self, how=signal.SIGKILL):
        if self.process:
            try:
                os.killpg(self.process.pid, how)
            except ProcessLookupError:
                pass
            self.process.wait(timeout=60)
            self.process = None

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


class MariaDB(Server):
    DATABASE, USER, PASSWORD = "hotel", "hotel", "p@ss:word/"
    SQL_MODE = "ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES"  # unlike the default in all: the services depend on none

    def __init__(self):
        need("mariadbd", "mariadb-install-db", "mariadb")
        super().__init__("mariadb")
        self.data = os.path.join(self.folder, "data")
        self.socket = os.path.join(self.folder, "socket")

    @property
    def url(self):
        return f"mysql://{self.USER}:p%40ss%3Aword%2F@127.0.0.1:{self.port}/{self.DATABASE}"

    def start(self):
        user = pwd.getpwuid(os.getuid()).pw_name
        fresh = not os.path.exists(self.data)
        if fresh:
            # By force: the machine need not know a name, not even localhost.
            p = subprocess.run(["mariadb-install-db", "--no-defaults", "--force", "--skip-name-resolve", f"--datadir={self.data}", f"--user={user}",
                                "--auth-root-authentication-method=normal", "--skip-test-db"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if p.returncode != 0:
                raise RuntimeError("mariadb-install-db: " + p.stdout.decode("utf-8", "replace")[-2000:])
        self.launch(["mariadbd", "--no-defaults", f"--datadir={self.data}", f"--user={user}", f"--socket={self.socket}", f"--port={self.port}",
                     "--bind-address=127.0.0.1", f"--pid-file={self.folder}/pid", "--innodb-buffer-pool-size=64M", "--skip-name-resolve", "--performance-schema=OFF",
                     "--character-set-server=utf8mb4", f"--sql-mode={self.SQL_MODE}"])
        if fresh:
            self.sql(f"CREATE DATABASE {self.DATABASE} CHARACTER SET utf8mb4; CREATE USER '{self.USER}'@'%' IDENTIFIED BY '{self.PASSWORD}';"
                     f"GRANT ALL ON {self.DATABASE}.* TO '{self.USER}'@'%'", database="")
        return self

    def sql(self, text, database=DATABASE):
        """Runs statements as root; returns the rows as lists of texts."""
        p = subprocess.run(["mariadb", "--no-defaults", "-uroot", f"--socket={self.socket}", "--default-character-set=utf8mb4", "-N", "-B", *([database] if database else [])],
                           input=text, capture_output=True, text=True, timeout=120)
        if p.returncode != 0:
            raise RuntimeError(p.stderr)
        return [line.split("\t") for line in p.stdout.splitlines()]


class RabbitMQ(Server):
    HOME = "/usr/lib/rabbitmq/bin/rabbitmq-server"

    def __init__(self):
        need(self.HOME, "epmd")
        super().__init__("rabbitmq")
        self.epmd_port, self.dist_port = node.free_port(), node.free_port()
        # A cookie and an epmd of its own: nothing is shared with other Erlang nodes of the machine.
        self.env = dict(os.environ, HOME=self.folder, RABBITMQ_USE_LONGNAME="true", RABBITMQ_NODENAME=f"serai{self.port}@127.0.0.1", RABBITMQ_NODE_IP_ADDRESS="127.0.0.1",
                        RABBITMQ_NODE_PORT=str(self.port), RABBITMQ_DIST_PORT=str(self.dist_port), ERL_EPMD_PORT=str(self.epmd_port), ERL_EPMD_ADDRESS="127.0.0.1",
                        RABBITMQ_MNESIA_BASE=os.path.join(self.folder, "mnesia"), RABBITMQ_LOG_BASE=os.path.join(self.folder, "logs"), RABBITMQ_LOGS="-",
                        RABBITMQ_ENABLED_PLUGINS_FILE=os.path.join(self.folder, "plugins"), RABBITMQ_CONFIG_FILE=os.path.join(self.folder, "rabbitmq"),
                        RABBITMQ_CONF_ENV_FILE="/dev/null", RABBITMQ_ADVANCED_CONFIG_FILE=os.path.join(self.folder, "advanced"),
                        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 2:2 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}")
        with open(os.path.join(self.folder, "plugins"), "w") as f:
            f.write("[].\n")
        with open(os.path.join(self.folder, "rabbitmq.conf"), "w") as f:
            f.write("disk_free_limit.absolute = 1MB\nvm_memory_high_watermark.relative = 0.6\n")

    @property
    def url(self):
        return f"amqp://guest:guest@127.0.0.1:{self.port}"

    def start(self):
        self.launch([self.HOME], env=self.env)
        return self

    def control(self, *args):
        """rabbitmqctl; returns its rows as lists of texts."""
        p = subprocess.run([os.path.join(os.path.dirname(self.HOME), "rabbitmqctl"), "-q", *args], env=self.env, capture_output=True, text=True, timeout=120)
        if p.returncode != 0:
            raise RuntimeError(p.stdout + p.stderr)
        return [line.split("\t") for line in p.stdout.splitlines()]

    def kill(self, how=signal.SIGKILL):
        super().kill(how)
        # epmd makes itself a daemon, outside of the group.
        subprocess.run(["epmd", "-port", str(self.epmd_port), "-kill"], env=dict(self.env, ERL_EPMD_RELAXED_COMMAND_CHECK="1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
