"""Where the time goes, by stage, seen from outside: the code that is looked at knows nothing of it.

FUNCTIONS says which functions belong to a stage. While a profile is taken, each of them is replaced by one that looks
at the clock before and after. What a function calls of another stage is that stage's time and not its own; only the
encoder keeps all it calls, for its GRUs are not the decoder's. Work that is handed to other threads is booked in these
threads, under the stage that hands it out, and waiting for them is nobody's time. Not booked: threads that help
with a single sentence's encoder and its new words.
"""

import contextlib
import functools
import inspect
import pkgutil
import sys
import threading
import time
from collections import Counter
from fnmatch import fnmatch
from importlib import import_module
from itertools import chain

from . import threads
from .compiled import reading_mode

FUNCTIONS = {  # "module:function" or "module:Class.method", of minnmt; * stands for any letters
    "selection": (
        "align.selector:Selector.lists",
        "align.selector:FrequentSelector.lists",
        "align.copying:CopySelector.lists",
        "align.phrases:PhraseSelector.lists",
        "search.neural_selector:NeuralSelector.lists",
        "nn.list_softmax:gather_lists",
        "search.fast:FastSteps.choose_words",
        "train.dynamic:BatchWords.lists",
        "train.dynamic:EpochWords.lists",
    ),
    "encoder": ("model.encoder:*", "nn.start_state:*", "search.fast:FastSteps.encode"),
    # of words, annotations and states, fused as the fast engine has them
    "products": ("search.packed:product", "search.packed:shared_product"),
    "GRU": ("nn.gru:*", "nn.conditional_gru:*", "search.stages:gru_cell"),
    "attention": ("nn.attention:*", "search.stages:attend"),
    "readout": ("nn.readout:*", "search.stages:readout"),
    "softmax": (
        "nn.softmax:*",
        "nn.list_softmax:list_*",
        "search.stages:word_logits",
        "search.stages:best_words",
        "search.checking:*",
    ),
    "Adam": ("train.adam:Adam.update",),
    "bookkeeping": (  # what is left of an update, and of a translation
        "train.updates:Updater.shares",
        "train.updates:Updater.update",
        "train.adam:clip_gradients",
        "train.run:Run.count",
        "search.translate:Translator.translate",
        "search.batch_beam:batch_beam_search",
        "search.batch_verified:verified_batch_search",
        "search.batch_verified:checked_batch_search",
        "search.beam:beam_search",
        "search.verified:verified_search",
        "search.verified:checked_search",
    ),
}
# Compiled as a whole. While a profile is taken its plain function runs instead, and calls the parts, compiled or not.
IN_ONE_PIECE = ("search.stages:decoder_step",)
KEEPS_ALL = "encoder"
WAITING = "waiting"


@contextlib.contextmanager
def take_profile(functions=FUNCTIONS, clock=time.perf_counter):
    """Yields a dictionary, which has {stage: seconds} at the end: all threads added up, the stages in their order."""
    each_thread, seconds = [], {}
    profile = Profile(clock, each_thread)
    if not reading_mode():
        for module in pkgutil.iter_modules(import_module("kernels").__path__):
            import_module(f"kernels.{module.name}")  # now, not on the first stage's account
    with contextlib.ExitStack() as stack:

        def replace(holder, old, new):
            swap(holder, old, new)
            stack.callback(swap, holder, new, old)

        for stage, places in functions.items():
            for holder, function in chain.from_iterable(map(find_functions, places)):
                replace(holder, function, profile.watched(function, stage))
        replace(threads, threads.in_pool, profile.watched_pool(threads.in_pool))
        for holder, function in chain.from_iterable(map(find_functions, IN_ONE_PIECE)):
            replace(holder, function, function.plain)
        yield seconds
    total = sum(each_thread, Counter())
    seconds.update({stage: total[stage] for stage in functions if stage in total})


class Profile(threading.local):
    """What a thread is doing, since when, and the seconds of what it did before; every thread has its own."""

    def __init__(self, clock, each_thread):
        self.clock, self.stage, self.since, self.seconds = clock, None, 0.0, Counter()
        each_thread.append(self.seconds)

    def watched(self, function, stage):
        """The function, with its time booked under the stage."""

        @functools.wraps(function)
        def call(*arguments, **named):
            before = self.stage
            if before in (stage, KEEPS_ALL):
                return function(*arguments, **named)
            self.switch(stage)
            try:
                return function(*arguments, **named)
            finally:
                self.switch(before)

        return call

    def watched_pool(self, in_pool):
        """in_pool, with the work booked in the threads that do it."""

        def call(pool, function, *arguments):
            work = self.watched(function, self.stage) if self.stage else function
            return self.watched(in_pool, WAITING)(pool, work, *arguments)

        return call

    def switch(self, stage):
        """Book the time since the last switch under this thread's stage; go on with another."""
        now = self.clock()
        if self.stage:
            self.seconds[self.stage] += now - self.since
        self.stage, self.since = stage, now


def find_functions(place):
    """A place as in FUNCTIONS -> [(module or class, function)]; what a module has imported is not its own."""
    module_name, path = place.split(":")
    *classes, pattern = path.split(".")
    module = import_module(f"{__package__}.{module_name}")
    holder = functools.reduce(getattr, classes, module)
    own = [f for f in vars(holder).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    return [(holder, function) for function in own if fnmatch(function.__name__, pattern)]


def swap(holder, old, new):
    """In a class, or in all modules: those of minnmt that have imported a function, and a notebook."""
    modules = [module for name, module in list(sys.modules.items()) if name.split(".")[0] in ("minnmt", "__main__")]
    for each in [holder, *modules]:
        for name in [name for name, value in vars(each).items() if value is old]:
            setattr(each, name, new)


def profile_table(seconds):
    """{stage: seconds} -> the lines of a table, with each stage's share."""
    total = sum(seconds.values())
    rows = [(stage, s, 100 * s / (total or 1.0)) for stage, s in [*seconds.items(), ("sum", total)]]
    return ["stage           seconds   share %", *(f"{stage:<14}{s:>9.3f}{share:>10.1f}" for stage, s, share in rows)]
