"""The guard of a rank: a tiny process that says which rank has died, and ends the job (minnmt/ranks.py).

mpiexec starts a process for each rank. It splits in two: the child becomes the rank, and the parent its guard, a Python
that runs nothing but this file. If the rank is killed, the guard says so, with the command to continue with, and has
mpiexec end all others and return 1. mpiexec alone would only report a "bad termination" and return 9.
If the guard is killed, mpiexec ends the job by itself, and the rank ends with its guard.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time

SIZES, RANKS = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "OMPI_COMM_WORLD_RANK")  # of MPICH, of Open MPI
GRACE = 0.3  # seconds that mpiexec has for what it is told


def n_ranks():
    """How many processes mpiexec has started; 1 without it."""
    return told(SIZES, 1)


def rank():
    """Which of them this one is."""
    return told(RANKS, 0)


def told(names, default):
    """What mpiexec has told its processes by environment variables of such names."""
    return max([int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()], default=default)


class Line:
    """The rank's end of the line to its guard; without a guard it leads nowhere."""

    def __init__(self, ours=None):
        self.ours, self.said = ours, [f"rank {rank()}", "Start it again."]

    def tell(self, name, remedy):
        """What to say, should the rank die."""
        self.said = [name, remedy]
        if self.ours:
            self.ours.sendall(f"{name}\n{remedy}\n".encode())

    def end_with_guard(self):
        """Wait for the guard's end, and end."""
        with contextlib.suppress(OSError):
            while self.ours.recv(1):
                pass
        end_all(f"the guard of {self.said[0]} was killed", self.said[1])


def split():
    """The process becomes a rank and its guard; only the rank returns from here -> its Line."""
    if not hasattr(os, "fork"):
        return Line()
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        ours.close()
        theirs.set_inheritable(True)
        os.execv(sys.executable, [sys.executable, "-I", "-S", __file__, str(pid), str(theirs.fileno())])
    theirs.close()
    line = Line(ours)
    threading.Thread(target=line.end_with_guard, daemon=True).start()
    return line


def end_all(what, remedy):
    """Say what has happened, and have mpiexec end all ranks."""
    with contextlib.suppress(OSError):
        os.write(2, f"error: {what}: all ranks end. {remedy}\n".encode())
    abort(1)
    os._exit(1)


def abort(code):
    """Have mpiexec end all ranks, this one too, and return the code; if it is not MPICH's, nothing happens."""
    time.sleep(GRACE)  # mpiexec passes on what was said, if it is given the time
    with contextlib.suppress(KeyError, ValueError, OSError):
        os.write(int(os.environ["PMI_FD"]), b"cmd=abort exitcode=%d\n" % code)  # the language of MPICH's mpiexec, PMI 1
        time.sleep(GRACE)


def main(pid, line):
    """The guard: wait for the rank, and say how it ended. Signals of mpiexec reach the rank as well."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        os._exit(os.WEXITSTATUS(status))
    *_, name, remedy = heard(socket.socket(fileno=line))
    end_all(f"{name} was killed by signal {os.WTERMSIG(status)}", remedy)


def heard(line):
    """What the rank has said, line by line."""
    line.setblocking(False)
    data = b""
    with contextlib.suppress(OSError):
        while part := line.recv(1 << 16):
            data += part
    return data.decode(errors="replace").splitlines() or Line().said


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
