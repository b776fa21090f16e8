"""Where the time goes: a clock per thread whose laps are booked under the name of a stage.

`lap("attention")` books the time since this thread's last lap. Code calls it after each piece of work, whether or not
anybody looks: switched off, as it is by default, a lap costs a function call and no more.
"""

import threading
import time

STAGES = ("selection", "encoder", "GRU", "attention", "readout", "softmax", "bookkeeping")

_thread = threading.local()
_totals = None  # {thread: {stage: seconds}} while a profile is taken


def start_profile():
    """Begin to book laps, in every thread; the first lap of a thread starts its clock."""
    global _totals
    _totals = {}
    _thread.__dict__.clear()
    _thread.last = time.perf_counter()


def lap(stage):
    """Book the time since this thread's last lap under `stage`."""
    if _totals is None:
        return
    now = time.perf_counter()
    seconds = _totals.setdefault(threading.get_ident(), {})
    seconds[stage] = seconds.get(stage, 0.0) + now - getattr(_thread, "last", now)
    _thread.last = now


def restart_lap():
    """Start this thread's clock anew: what went before is nobody's."""
    if _totals is not None:
        _thread.last = time.perf_counter()


def end_profile():
    """Stop booking -> {stage: seconds}, all threads added up, the stages in their order."""
    global _totals
    booked, _totals = _totals or {}, None
    names = [*STAGES, *sorted({stage for seconds in booked.values() for stage in seconds} - set(STAGES))]
    sums = {stage: sum(seconds.get(stage, 0.0) for seconds in booked.values()) for stage in names}
    return {stage: seconds for stage, seconds in sums.items() if seconds}


def profile_table(seconds):
    """{stage: seconds} -> the lines of a table, with each stage's share."""
    total = sum(seconds.values())
    rows = [(stage, s, 100 * s / (total or 1.0)) for stage, s in [*seconds.items(), ("sum", total)]]
    return ["stage           seconds   share %", *(f"{stage:<14}{s:>9.3f}{share:>10.1f}" for stage, s, share in rows)]
