"""Where the time goes, by stage, seen from outside: the code that is looked at knows nothing of it.

FUNCTIONS says which functions belong to a stage. While a profile is taken, each of them is replaced by one that looks
at the clock before and after. What a function calls of another stage is that stage's time and not its own; only the
encoder keeps all it calls, for its GRUs are not the decoder's. Work that is handed to other threads is booked in these
threads, under the stage that hands it out, and waiting for them is nobody's time.
"""

import contextlib
import functools
import sys
import threading
import time
from importlib import import_module

FUNCTIONS = {
    "selection": (
        "minnmt.align.selector:Selector.lists",
        "minnmt.align.selector:FrequentSelector.lists",
        "minnmt.nn.list_softmax:gather_lists",
        "minnmt.train.dynamic:BatchWords.lists",
        "minnmt.train.dynamic:EpochWords.lists",
    ),
    "encoder": (
        "minnmt.model.encoder:encoder_forward",
        "minnmt.model.encoder:encoder_backward",
        "minnmt.nn.gru:gru_sequence_forward",
        "minnmt.nn.gru:gru_sequence_backward",
        "minnmt.nn.start_state:start_state_forward",
        "minnmt.nn.start_state:start_state_backward",
        "minnmt.search.fast:FastSteps.encode",
        "minnmt.search.fast:FastSteps.first_states",
    ),
    "GRU": (
        "minnmt.nn.gru:gru_inputs_forward",
        "minnmt.nn.gru:gru_inputs_backward",
        "minnmt.nn.gru:gru_step_forward",
        "minnmt.nn.gru:gru_step_backward",
        "minnmt.nn.gru:gru_add_weight_grads",
        "minnmt.nn.conditional_gru:context_cell_forward",
        "minnmt.nn.conditional_gru:context_cell_backward",
        "minnmt.nn.conditional_gru:context_cell_add_weight_grads",
        "minnmt.search.fast:FastSteps.first_cell",
        "minnmt.search.fast:FastSteps.second_cell",
    ),
    "attention": (
        "minnmt.nn.attention:attention_memory_forward",
        "minnmt.nn.attention:attention_memory_backward",
        "minnmt.nn.attention:attention_forward",
        "minnmt.nn.attention:attention_backward",
        "minnmt.search.fast:FastSteps.project",
        "minnmt.search.fast:FastSteps.attention",
    ),
    "readout": (
        "minnmt.nn.readout:readout_forward",
        "minnmt.nn.readout:readout_backward",
        "minnmt.search.fast:FastSteps.readout",
    ),
    "softmax": (
        "minnmt.nn.softmax:log_softmax",
        "minnmt.nn.softmax:softmax_loss_forward",
        "minnmt.nn.softmax:softmax_loss_backward",
        "minnmt.nn.list_softmax:list_log_softmax",
        "minnmt.search.fast:FastSteps.choose",
    ),
    "Adam": ("minnmt.train.adam:Adam.update",),
    "bookkeeping": (  # what is left of an update, and of a translation
        "minnmt.train.updates:Updater.shares",
        "minnmt.train.updates:Updater.update",
        "minnmt.train.adam:clip_gradients",
        "minnmt.train.run:Run.count",
        "minnmt.search.translate:Translator.translate",
        "minnmt.search.batch_beam:batch_beam_search",
        "minnmt.search.beam:beam_search",
    ),
}
KEEPS_ALL = "encoder"
IN_POOL = "minnmt.threads:in_pool"
WAITING = "waiting"


@contextlib.contextmanager
def take_profile(functions=FUNCTIONS, clock=time.perf_counter):
    """Yields a dictionary, which has {stage: seconds} at the end: all threads added up, the stages in their order."""
    profile, seconds = Profile(clock), {}
    with contextlib.ExitStack() as stack:
        for stage, names in functions.items():
            for name in names:
                stack.enter_context(replaced(name, functools.partial(profile.watched, stage=stage)))
        stack.enter_context(replaced(IN_POOL, profile.watched_pool))
        yield seconds
    seconds.update(profile.sums(functions))


class Profile:
    """Clocks, one for each thread."""

    def __init__(self, clock):
        self.clock, self.threads, self.thread = clock, [], threading.local()

    def watched(self, function, stage):
        """The function, with its time booked under the stage."""

        @functools.wraps(function)
        def call(*arguments, **named):
            before = self.stage()
            self.switch(before if before == KEEPS_ALL else stage)
            try:
                return function(*arguments, **named)
            finally:
                self.switch(before)

        return call

    def watched_pool(self, in_pool):
        """in_pool, with the work booked in the threads that do it."""

        def call(pool, function, *arguments):
            stage = self.stage()
            work = self.watched(function, stage) if stage else function
            return self.watched(in_pool, WAITING)(pool, work, *arguments)

        return call

    def stage(self):
        """What this thread is doing; None if it is nothing that is booked."""
        return getattr(self.thread, "stage", None)

    def switch(self, stage):
        """Book the time since the last switch under this thread's stage; go on with another."""
        now, before = self.clock(), self.stage()
        if not hasattr(self.thread, "seconds"):
            self.thread.seconds = {}
            self.threads.append(self.thread.seconds)
        if before:
            self.thread.seconds[before] = self.thread.seconds.get(before, 0.0) + now - self.thread.last
        self.thread.stage, self.thread.last = stage, now

    def sums(self, stages):
        """-> {stage: seconds} of those that were met."""
        met = [stage for stage in stages if any(stage in seconds for seconds in self.threads)]
        return {stage: sum(seconds.get(stage, 0.0) for seconds in self.threads) for stage in met}


@contextlib.contextmanager
def replaced(name, make):
    """Put make(function) in the place of the function "module:function" or "module:Class.method", for a while."""
    holder, function_name = find_holder(name)
    original = getattr(holder, function_name)
    new = make(original)
    swap(holder, original, new)
    try:
        yield
    finally:
        swap(holder, new, original)


def find_holder(name):
    """ "module:function" -> (module, "function"), "module:Class.method" -> (class, "method")."""
    module, path = name.split(":")
    *classes, function_name = path.split(".")
    return functools.reduce(getattr, classes, import_module(module)), function_name


def swap(holder, old, new):
    """In a class, or in all modules: those of minnmt that have imported a function, and a notebook."""
    holders = [holder]
    if not isinstance(holder, type):
        holders = [module for name, module in list(sys.modules.items()) if name.split(".")[0] in ("minnmt", "__main__")]
    for each in holders:
        for name in [name for name, value in vars(each).items() if value is old]:
            setattr(each, name, new)


def profile_table(seconds):
    """{stage: seconds} -> the lines of a table, with each stage's share."""
    total = sum(seconds.values())
    rows = [(stage, s, 100 * s / (total or 1.0)) for stage, s in [*seconds.items(), ("sum", total)]]
    return ["stage           seconds   share %", *(f"{stage:<14}{s:>9.3f}{share:>10.1f}" for stage, s, share in rows)]
