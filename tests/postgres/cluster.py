"""cluster.py - a PostgreSQL server of the tests' own: from Debian's programs, with our extension, in a folder that
goes away again.

PostgreSQL finds its libraries and extensions relative to its own program.  So a folder with copies of the programs and
links to everything else is an installation to which an extension can be added without touching the machine's."""

import glob, os, pwd, shutil, socket, struct, subprocess, tempfile, time

VERSION = "15"
PROGRAMS = f"/usr/lib/postgresql/{VERSION}/bin"
LIBRARIES = f"/usr/lib/postgresql/{VERSION}/lib"
SHARED = f"/usr/share/postgresql/{VERSION}"


def link_all(source, target):
    os.makedirs(target, exist_ok=True)
    for path in glob.glob(source + "/*"):
        os.symlink(path, os.path.join(target, os.path.basename(path)))


class Installation:
    """PostgreSQL with the extension, below a temporary folder."""

    def __init__(self, library, extension):
        self.root = tempfile.mkdtemp(prefix="everbloom-pg-")
        os.chmod(self.root, 0o755)
        self.programs = self.root + PROGRAMS
        os.makedirs(self.programs)
        for name in ("postgres", "initdb", "pg_ctl"):
            shutil.copy(f"{PROGRAMS}/{name}", self.programs)
        link_all(LIBRARIES, self.root + LIBRARIES)
        shutil.copy(library, self.root + LIBRARIES + "/everbloom.so")
        os.makedirs(self.root + SHARED)
        for path in glob.glob(SHARED + "/*"):
            if not path.endswith("/extension"):
                os.symlink(path, self.root + SHARED + "/" + os.path.basename(path))
        self.extensions = self.root + SHARED + "/extension"
        link_all(SHARED + "/extension", self.extensions)
        for path in glob.glob(extension + "/everbloom*"):
            shutil.copy(path, self.extensions)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


def as_postgres(command):
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + command


class Server:
    """A running server.  Stop it with stop(); it is known by its process id."""

    def __init__(self, installation, settings=(), environment=None):
        self.folder = tempfile.mkdtemp(prefix="everbloom-data-")
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        data = self.folder + "/data"
        self.run([installation.programs + "/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                  "--locale=C", "--no-sync"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        options = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder,
                   "fsync": "off", "max_parallel_workers_per_gather": 2, "timezone": "UTC"}
        options.update(settings)
        command = [installation.programs + "/postgres", "-D", data]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        self.log = open(self.folder + "/log", "wb")
        self.process = subprocess.Popen(as_postgres(command), stdout=self.log, stderr=self.log,
                                        env=dict(os.environ, LC_ALL="C", **(environment or {})))
        for _ in range(600):
            if self.process.poll() is not None or self.try_sql("select 1") == "1":
                break
            time.sleep(0.1)
        if self.try_sql("select 1") != "1":
            with open(self.folder + "/log", errors="replace") as log:
                raise RuntimeError("PostgreSQL did not start:\n" + log.read()[-3000:])

    def run(self, command):
        done = subprocess.run(as_postgres(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, LC_ALL="C"))
        if done.returncode != 0:
            raise RuntimeError(done.stdout.decode(errors="replace"))

    def psql(self, text, *options):
        return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port),
                               "-U", "postgres", *options], input=text if isinstance(text, bytes) else text.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(os.environ, LC_ALL="C", PGOPTIONS="-c client_min_messages=warning"))

    def try_sql(self, text):
        done = self.psql(text)
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def sql(self, text):
        """What a statement prints, or an exception with the server's message."""
        done = self.psql(text)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode().strip()

    def refused(self, text):
        """The message of a statement that must fail, with its SQLSTATE."""
        done = self.psql(text, "-v", "VERBOSITY=verbose")
        if done.returncode == 0:
            raise AssertionError("not refused: " + text)
        return done.stderr.decode()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def session(self):
        return Session(self)

    def wire(self):
        return Wire(self)


class Session:
    """One connection that stays, and its backend's process id: to measure it, or to cancel what it does."""

    def __init__(self, server):
        self.client = subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-h", server.folder, "-p", str(server.port), "-U", "postgres"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       env=dict(os.environ, LC_ALL="C"), text=True, bufsize=1)
        self.pid = int(self.sql("select pg_backend_pid()"))

    def start(self, text):
        self.client.stdin.write(text + ";\n\\echo =end=\n")
        self.client.stdin.flush()

    def result(self):
        """What the statement printed, errors among it."""
        lines = []
        for line in self.client.stdout:
            if line == "=end=\n":
                return "".join(lines).strip()
            lines.append(line)
        raise RuntimeError("the connection ended: " + "".join(lines))

    def sql(self, text):
        self.start(text)
        return self.result()

    def cpu(self):
        """Seconds of the processor that the backend has used."""
        with open(f"/proc/{self.pid}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9

    def close(self):
        self.client.stdin.close()
        self.client.wait()
        self.client.stdout.close()


class Wire:
    """A connection that speaks the protocol itself: values travel as text or in binary, as drivers send them."""

    def __init__(self, server):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{server.folder}/.s.PGSQL.{server.port}")
        self.file = self.socket.makefile("rb")
        body = struct.pack(">i", 196608) + b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack(">i", len(body) + 4) + body)
        self.replies()

    def message(self, kind, body):
        return kind + struct.pack(">i", len(body) + 4) + body

    def replies(self):
        """The messages up to the one that says that the server is ready."""
        all = []
        while not all or all[-1][0] != b"Z":
            kind, length = struct.unpack(">ci", self.file.read(5))
            all.append((kind, self.file.read(length - 4)))
        return all

    def prepare(self, name, query, type):
        self.socket.sendall(self.message(b"P", name.encode() + b"\0" + query.encode() + b"\0" + struct.pack(">hi", 1, type)) +
                            self.message(b"S", b""))
        errors = [body for kind, body in self.replies() if kind == b"E"]
        if errors:
            raise RuntimeError(errors[0].decode(errors="replace"))

    def ask(self, questions):
        """Of each (statement, is binary, value) the first column of the answer, or None if it was refused."""
        out = b""
        for name, binary, value in questions:
            out += self.message(b"B", b"\0" + name.encode() + struct.pack(">bhhhi", 0, 1, binary, 1, len(value)) + value + struct.pack(">h", 0))
            out += self.message(b"E", b"\0\0\0\0\0") + self.message(b"S", b"")
        self.socket.sendall(out)
        answers = []
        for _ in questions:
            rows = [body for kind, body in self.replies() if kind == b"D"]
            answers.append(rows[0][6:].decode() if rows else None)
        return answers

    def close(self):
        self.file.close()
        self.socket.close()
