"""kill -9 in the middle of a stream: after the restart everything that was acknowledged is there, and no more than was sent.

A writer sends keys that are all new, in pipelines, to a Bloom filter, a counting filter and a window, and notes what was
acknowledged.  The server is killed at a random moment, three times for each way to keep data.  An append-only file is
written before a reply leaves, whatever appendfsync says: a killed process loses nothing (a machine without power may).
With RDB the last snapshot counts: what was acknowledged before it began.
"""

import random
import threading
import time

import redis
from harness import Server, same, until

PIPELINE, ITEMS = 20, 50
KILLS = 3
FILTERS = {"bloom": "bloom:distinct=4000000,fpr=1e-9", "count": "spectral:memory=16M", "window": "window:memory=32M,window=3600000,unit=time"}


class Writer(threading.Thread):
    """Sends until the server is gone; sent and acked count commands for each filter."""

    def __init__(self, server, run):
        super().__init__()
        self.client = redis.Redis("127.0.0.1", server.port, socket_timeout=30)
        self.run_number, self.sent, self.acked = run, 0, 0

    def items(self, command):
        return [f"{self.run_number}:{command}:{i}" for i in range(ITEMS)]

    def run(self):
        try:
            while True:
                pipe = self.client.pipeline(transaction=False)
                for at in range(self.sent, self.sent + PIPELINE):
                    pipe.execute_command("EB.MADD", "bloom", *self.items(at))
                    pipe.execute_command("EB.INCRBY", "count", *[x for item in self.items(at) for x in (item, 3)])
                    pipe.execute_command("EB.MADD", "window", *self.items(at))
                self.sent += PIPELINE
                pipe.execute()
                self.acked += PIPELINE
        except redis.ConnectionError:
            pass


def check(server, writer, acked):
    """All of the first acked commands, in every filter; of all that was sent, nothing twice."""
    for at in range(0, acked, max(1, acked // 400)):
        same(server("EB.MEXISTS", "bloom", *writer.items(at)), [1] * ITEMS)
        same(server("EB.MEXISTS", "window", *writer.items(at)), [1] * ITEMS)
        counts = server("EB.COUNT", "count", *writer.items(at))
        assert all(c == 3 for c in counts), counts
    adds = dict(zip(*[iter(server("EB.INFO", "bloom"))] * 2))[b"adds"]
    return adds


def stream(name, *options, snapshots=False):
    r = random.Random(name)
    with Server(name, *options) as s:
        for key, spec in FILTERS.items():
            same(s("EB.RESERVE", key, spec), b"OK")
        if snapshots:
            s("SAVE")
        least = most = 0
        for run in range(KILLS):
            writer = Writer(s, run)
            writer.start()
            until("an answer to the writer", lambda: writer.acked)
            time.sleep(r.uniform(0.1, 0.5))
            safe = writer.acked
            if snapshots:
                s("SAVE")
                time.sleep(r.uniform(0, 0.2))
            s.restart()  # kill -9, and again on another port
            writer.join()
            acked = safe if snapshots else writer.acked
            adds = check(s, writer, acked)
            least, most = least + acked * ITEMS, most + writer.sent * ITEMS
            assert least <= adds <= most, (least, adds, most)
            least = adds  # what came through so far
        print(f"{name}: {KILLS} kills, {adds} items kept")


stream("stream-always", "--appendonly", "yes", "--appendfsync", "always")
stream("stream-everysec", "--appendonly", "yes", "--appendfsync", "everysec")
stream("stream-rdb", snapshots=True)
