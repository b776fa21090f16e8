"""The command line in a forked child: a crash, a hang or a flood of memory is an outcome, and does not end the tests.

Everything is imported and compiled once, in the parent; a case then costs a fork.
"""

import faulthandler
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from typing import NamedTuple

import cli

SECONDS = 60  # more is a hang
MEMORY = 2 << 30  # bytes, beyond what the parent has
BASE = 400 << 20  # what the parent has
TRACEBACK = 99  # the exit code of an exception that nothing caught


class Outcome(NamedTuple):
    code: int  # an exit code, or the number of a signal below 0
    out: bytes
    err: str
    seconds: float
    peak: int  # bytes in memory at the most


def run_forked(*arguments, stdin=b""):
    """`python cli.py ARGUMENTS` in a child -> its Outcome."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        began = time.monotonic()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            _be_the_command([given, out, err], list(map(str, arguments)))
        _, status, usage = os.wait4(child, 0)
        seconds = time.monotonic() - began
        for file in (out, err):
            file.seek(0)
        said = err.read().decode("utf-8", "replace")
        return Outcome(os.waitstatus_to_exitcode(status), out.read(), said, seconds, usage.ru_maxrss * 1024)


def _be_the_command(files, arguments):
    """Never returns."""
    code = TRACEBACK
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (open(number, mode, closefd=False) for number, mode in enumerate("rww"))
        faulthandler.disable()  # pytest's would write to the terminal
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        warnings.resetwarnings()
        warnings.showwarning = _show_warning
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit = address_space() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        sys.argv = ["cli.py", *arguments]
        code = _exit_code(cli.main)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _exit_code(main):
    try:
        main()
        return 0
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return TRACEBACK


def _show_warning(message, category, *rest):
    if category in (RuntimeWarning, UserWarning):
        print(f"{category.__name__}: {message} ({rest[0]}, line {rest[1]})", file=sys.stderr)


def address_space():
    """Of this process, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def verdict(outcome):
    """What became of a command: "done", "refused", "usage", "no memory", or a fault in capital letters."""
    lines = outcome.err.splitlines()
    errors = [line for line in lines if line.startswith(("error: ", "Error: "))]
    if outcome.code < 0:
        return "HANG" if outcome.code == -signal.SIGALRM else f"CRASH {signal.Signals(-outcome.code).name}"
    if outcome.code == TRACEBACK or "Traceback" in outcome.err:
        return "TRACEBACK"
    if outcome.code not in (0, 1, 2):
        return f"EXIT CODE {outcome.code}"
    if outcome.peak > MEMORY + BASE:
        return "MEMORY"
    if "Warning: " in outcome.err:
        return "WARNING"
    if outcome.code == 0:
        return "done"
    if len(errors) != 1 or lines[-1] != errors[0]:
        return "NOT ONE SENTENCE"
    if len(errors[0]) > 2000:
        return "ENDLESS SENTENCE"
    if "not enough memory" in errors[0]:
        return "no memory"
    return "refused" if outcome.code == 1 else "usage"


def is_fault(name):
    return name.isupper() or name.startswith(("CRASH", "EXIT"))
