"""Servers for the tests: started on loopback with a port and a folder of their own, stopped by their pid.

Waiting is always polling, with a limit that only a machine in trouble reaches.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import redis

LIMIT = 120  # seconds until a wait gives up
BUILD = os.environ["BUILD"]  # build/release or build/asan
MODULE = os.path.abspath(os.path.join(BUILD, "everbloom-redis.so"))
FOLDER = os.path.abspath(os.path.join(BUILD, "redis-test"))
ASAN = os.path.basename(BUILD) == "asan"
SERVER = os.environ.get("SERVER", "redis-server")


def until(what, check):
    """Calls check until it is true; exceptions of the connection count as not yet."""
    end = time.monotonic() + LIMIT
    last = None
    while time.monotonic() < end:
        try:
            value = check()
            if value:
                return value
        except (redis.ConnectionError, redis.BusyLoadingError, redis.TimeoutError, redis.ResponseError) as e:
            last = e
        time.sleep(0.02)
    raise AssertionError(f"waited {LIMIT} s for {what}: {last}")


def free_port(used=set()):
    """A port that nobody has now, and that no other server of this test gets."""
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        if port not in used and port < 55000:  # a cluster's bus takes port + 10000
            used.add(port)
            return port


def environment():
    env = dict(os.environ)
    if ASAN:  # the server is not sanitized, but its allocator is a library: the runtime comes before it
        env["LD_PRELOAD"] = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
        env["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1:exitcode=99"
    return env


def end_with_parent():
    """In the child: a test that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Server:
    def __init__(self, name, *options, module=(), keep=False):
        self.name, self.options, self.module = name, options, module
        self.folder = os.path.join(FOLDER, name)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)
        self.process = None
        self.start()

    def start(self):
        for attempt in range(5):  # the port may be taken by another program in the meantime
            self.port = free_port()
            self.process = subprocess.Popen(
                [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                 "--save", "", "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
                 *self.options, "--loadmodule", MODULE, *self.module],
                stdout=open(os.path.join(self.folder, "log"), "ab"), stderr=subprocess.STDOUT, env=environment(),
                preexec_fn=end_with_parent)
            self.r = redis.Redis("127.0.0.1", self.port, socket_timeout=LIMIT)
            end = time.monotonic() + LIMIT
            while self.process.poll() is None and time.monotonic() < end:
                try:
                    if self.r.ping():
                        return
                except (redis.ConnectionError, redis.BusyLoadingError, redis.TimeoutError):
                    time.sleep(0.02)
            self.kill()
        raise AssertionError(f"{self.name} did not start:\n{self.log()}")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as f:
            return f.read()[-4000:]

    def alive(self):
        assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}:\n{self.log()}"
        return self

    def __call__(self, *args):
        try:
            return self.r.execute_command(*args)
        except redis.ConnectionError:
            try:  # what killed it?
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
            self.alive()
            raise

    def refuses(self, text, *args):
        try:
            reply = self(*args)
        except redis.ResponseError as e:
            assert text in str(e), f"{args[:3]}: expected {text!r} in {e}"
            return
        raise AssertionError(f"{args[:3]}: expected an error with {text!r}, got {reply!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if sys.exc_info()[0] is not None:
            print(f"---- end of the log of {self.name}\n{self.log()}", file=sys.stderr)
        self.kill()


def same(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def pairs(reply):
    """A RESP2 map as a dictionary with text keys."""
    return {k.decode(): v for k, v in zip(reply[::2], reply[1::2])}


def spec_info(server, key):
    return pairs(server("EB.INFO", key))
