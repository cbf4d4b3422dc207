"""Runs commands of the suite with a fault at the n-th call, each in a forked process of its own.

    driver.py FILE

FILE is JSON: root (the checkout), template (a folder; each run gets a copy), work (a folder),
argv (command and words), faults (a list of [kind, n, which]; see `Faults`).  The first run has no
fault: it tells how many calls there are.  Prints JSON: {"calls": names in their order, "status",
"files", "err"} of the first, and a list of {"fault", "status", "files", "err", "hit", "name"}.
A fault [kind, "all", which] stands for one run for each call; [kind, "every M", which] for each
M-th one.  files: {name: digest}.
"""

import builtins
import fcntl
import hashlib
import importlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time

PATIENCE = 60


class Faults:
    """Counts calls that change files, and does harm at one of them.

    kind: limit (no file may be longer than n bytes), free (n pages left on the file system of
    `work`), inodes (n left there); or kill (before the call), killed (after it), half (a write of
    half the bytes, then kill), ENOSPC or EIO (once), full (ENOSPC from there on), short (half the
    bytes, then full), memory (MemoryError), or the name of a signal (before the call; with a
    trailing + after it).
    which: parts of names of calls that count, or "" for all; "lines FILE,..." counts steps of the
    interpreter in these files instead, and sends the signal there.
    """

    def __init__(self, kind, n, which, count):
        self.kind, self.n, self.which, self.count = kind, n, which, count
        self.seen = 0
        self.halved = False
        self.lock = threading.Lock()

    def hit(self, name):
        if (
            self.which
            and not self.which.startswith("lines")
            and not any(part in name for part in self.which.split(","))
        ):
            return False
        with self.lock:
            self.seen += 1
            if self.count is not None:
                with open_(self.count, "a") as file:
                    file.write(name + "\n")
            if self.seen == self.n:
                self.note(name)
            if self.kind in ("full", "short"):  # whoever frees space, or takes none, succeeds
                return (
                    self.n > 0
                    and self.seen >= self.n
                    and name != "write 1"
                    and name.startswith(("open", "write", "mkdir", "fsync"))
                )
            return self.seen == self.n

    def note(self, name):
        if self.n > 0:
            handle = open_os(self.mark, os.O_CREAT | os.O_WRONLY, 0o600)
            write_os(handle, name.encode())
            close_os(handle)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def signal(self):
        return getattr(signal, self.kind.rstrip("+")) if self.kind.startswith("SIG") else None

    def fail(self, name=""):
        import errno

        code = errno.EIO if self.kind == "EIO" else errno.ENOSPC
        raise OSError(code, os.strerror(code))

    def call(self, name, function, *args, **more):
        """`function(*args)`, with the fault if this is the one."""
        if not self.hit(name):
            return function(*args, **more)
        if self.kind in ("kill", "half"):
            self.die()
        if self.kind in ("ENOSPC", "EIO", "full", "short"):
            if "close" in name:  # it is closed whatever close says
                function(*args, **more)
            self.fail(name)
        if self.kind == "memory":
            raise MemoryError
        if self.kind.startswith("SIG") and not self.kind.endswith("+"):
            os.kill(os.getpid(), self.signal())
        try:
            return function(*args, **more)
        finally:
            if self.kind == "killed":
                self.die()
            if self.kind.endswith("+"):
                os.kill(os.getpid(), self.signal())

    def write(self, function, name, data):
        part = memoryview(data).cast("B")
        if self.kind in ("half", "short") and not self.which.startswith("lines"):
            if self.hit(name):
                if not self.halved:
                    self.halved = True
                    function(part[: len(part) // 2])
                    if self.kind == "half":
                        self.die()
                self.fail()
            return function(data)
        return self.call(name, function, data)


open_, open_os, write_os, close_os = builtins.open, os.open, os.write, os.close


def install(faults):
    """Put the counting calls in the place of the real ones."""
    for name in (
        "replace",
        "rename",
        "fsync",
        "fchmod",
        "fchown",
        "unlink",
        "remove",
        "mkdir",
        "rmdir",
        "link",
    ):
        real = getattr(os, name)
        setattr(
            os,
            name,
            lambda *args, real=real, name=name, **more: faults.call(
                f"{name} {base(args[0])}", real, *args, **more
            ),
        )

    def opening(path, flags, *args, **more):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return faults.call(f"open {base(path)}", open_os, path, flags, *args, **more)
        return open_os(path, flags, *args, **more)

    os.open = opening

    nowhere = os.stat(os.devnull).st_rdev

    class Raw(io.FileIO):
        def write(self, data):
            if os.fstat(self.fileno()).st_rdev == nowhere:
                return super().write(data)  # where a broken stream was led to
            return faults.write(super().write, f"write {base(self.name)}", data)

        def close(self):
            if self.closed:
                return None
            return faults.call(f"close {base(self.name)}", super().close)

    def opened(
        file,
        mode="r",
        buffering=-1,
        encoding=None,
        errors=None,
        newline=None,
        closefd=True,
        opener=None,
    ):
        if not set(mode) & set("wax+") or "+" in mode and opener is not None:
            return open_(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return (
            buffer
            if "b" in mode
            else io.TextIOWrapper(buffer, encoding or "utf-8", errors, newline, buffering == 1)
        )

    builtins.open = io.open = opened
    os.fdopen = lambda handle, mode="r", *args, **more: opened(handle, mode, *args, **more)

    sys.stdout = io.TextIOWrapper(io.BufferedWriter(Raw(1, "w", closefd=False)), "utf-8")


def base(name):
    name = os.path.basename(str(name))
    return "temporary" if name.startswith(".agfmc-") else name


def trace_lines(faults):
    """Count the steps of the interpreter in some files, and send the signal at one."""
    ends = tuple(faults.which.split(" ", 1)[1].split(","))

    def step(frame, event, argument):
        if event == "opcode":
            faults.seen += 1
            if faults.seen == faults.n:
                name = f"{base(frame.f_code.co_filename)}:{frame.f_lineno}"
                faults.note(name)
                os.kill(os.getpid(), faults.signal())
        return step

    def trace(frame, event, argument):
        if frame.f_code.co_filename.endswith(ends):
            frame.f_trace_opcodes = True
            return step
        return None

    sys._getframe().f_trace_opcodes = True  # Python 3.12 looks for one before it begins
    sys.settrace(trace)


def run(spec, fault, fresh=True, first=False):
    """-> the report of one run in a process of its own."""
    here = os.path.join(spec["work"], "here")
    if fresh:
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(spec["template"], here, symlinks=True)
    mark, count, steps, filler = (
        os.path.join(spec["work"], name) for name in ("mark", "count", "steps", "filler")
    )
    for path in (mark, count, steps):
        if os.path.exists(path):
            os.unlink(path)
    shutil.rmtree(filler, ignore_errors=True)
    os.mkdir(filler)
    fill(filler, fault)
    streams = [os.pipe(), os.pipe()]
    for _, end in streams:
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 1 << 20)  # all that is printed
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            os.chdir(here)
            for place, ends in enumerate(streams, 1):
                os.dup2(ends[1], place)
                os.close(ends[0])
                os.close(ends[1])
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            sys.stderr = io.TextIOWrapper(
                io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
                "utf-8",
                "backslashreplace",
                write_through=True,
            )
            main = importlib.import_module("agfmc.cli").main_of(spec["argv"][0])
            faults = Faults(*fault, count if first else None)
            faults.mark = mark
            if fault[0] in ("limit", "free", "inodes"):
                if fault[0] == "limit":
                    resource.setrlimit(resource.RLIMIT_FSIZE, (fault[1], fault[1]))
            elif faults.which.startswith("lines"):
                trace_lines(faults)
            else:
                install(faults)
            try:
                status = main(spec["argv"][1:])
            finally:
                sys.settrace(None)
                if first:
                    with open_(steps, "w") as file:
                        file.write(str(faults.seen))
            sys.stdout.flush()
        except BaseException:
            import traceback

            status = 98
            write_os(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    end = time.monotonic() + PATIENCE
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            status = -1000
            break
        time.sleep(0.0005)
    shutil.rmtree(filler)
    printed = [read_all(ends) for ends in streams]
    report = {
        "status": os.waitstatus_to_exitcode(status) if status >= 0 else "hangs",
        "files": files(here),
        "err": printed[1].decode(errors="replace"),
        "out": hashlib.sha1(printed[0]).hexdigest(),
    }
    if first:
        report["calls"] = open_(count).read().split("\n")[:-1] if os.path.exists(count) else []
        report["steps"] = int(open_(steps).read()) if os.path.exists(steps) else 0
    else:
        report["fault"] = fault
        report["hit"] = open_(mark).read() if os.path.exists(mark) else None
        if spec.get("again") and fresh:
            again = run(spec, ("none", -1, ""), fresh=False)
            report["again"] = {
                "status": again["status"],
                "files": again["files"],
                "err": again["err"],
                "out": again["out"],
            }
    return report


def fill(folder, fault):
    """Take the space of a small file system, or its inodes, but for some."""
    if fault[0] == "free" and fault[1] >= 0:
        with open_(os.path.join(folder, "filler"), "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)) == 4096:
                    pass
            except OSError:
                pass
            file.truncate(max(0, file.tell() // 4096 - fault[1]) * 4096)
    elif fault[0] == "inodes" and fault[1] >= 0:
        number = 0
        try:
            while True:
                close_os(open_os(os.path.join(folder, str(number)), os.O_CREAT, 0o600))
                number += 1
        except OSError:
            pass
        for i in range(max(0, number - fault[1]), number):
            os.unlink(os.path.join(folder, str(i)))


def read_all(ends):
    os.close(ends[1])
    with os.fdopen(ends[0], "rb") as file:
        return file.read()


def files(folder):
    """{name: digest} of all files below a folder; folders end in a slash."""
    found = {}
    for path, folders, names in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(path, name), folder) + "/"] = ""
        for name in names:
            place = os.path.join(path, name)
            with open_(place, "rb") as file:
                found[os.path.relpath(place, folder)] = hashlib.sha1(file.read()).hexdigest()
    return found


def main():
    with open_(sys.argv[1]) as file:
        spec = json.load(file)
    sys.path.insert(0, spec["root"])
    # load everything once: forked processes begin with it
    here = os.path.join(spec["work"], "here")
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(spec["template"], here, symlinks=True)
    os.chdir(here)
    kept = os.dup(1), os.dup(2)
    null = open_os(os.devnull, os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)
    importlib.import_module("agfmc.cli").main_of(spec["argv"][0])(spec["argv"][1:])
    os.dup2(kept[0], 1), os.dup2(kept[1], 2)
    reports = []
    first = None
    for kind, n, which in spec["faults"]:
        if first is None and kind in ("limit", "free", "inodes"):
            first = run(spec, ("none", -1, ""), first=True)
            reports.append({**first, "fault": ["none", 0, ""]})
        if first is None or n in ("all",) or str(n).startswith("every"):
            first = run(
                spec,
                ("none" if not which.startswith("lines") else "SIGTERM", -1, which),
                first=True,
            )
            reports.append({**first, "fault": ["none", 0, which]})
            total = len(first["calls"]) or first["steps"]
            step = 1 if n == "all" else int(str(n).split()[1])
            for number in range(1 + spec.get("offset", 0) % step, total + 1, step):
                reports.append(run(spec, (kind, number, which)))
        else:
            reports.append(run(spec, (kind, n, which)))
    json.dump(reports, sys.stdout)


main()
