"""The front door of minnmt: the list of commands, and what becomes of an error."""

import os
import signal
import sys
import time

import click

from minnmt import __version__, errors, guard
from minnmt.commands.align_command import align
from minnmt.commands.audit_command import audit
from minnmt.commands.bench_command import bench
from minnmt.commands.candidates_command import candidates
from minnmt.commands.course_command import course
from minnmt.commands.decode_command import decode
from minnmt.commands.explore_command import explore
from minnmt.commands.reproduce_command import reproduce
from minnmt.commands.text_command import corpus, score
from minnmt.commands.train_command import train
from minnmt.errors import UserError

import kernels  # isort: skip  (minnmt sees to it that this is its own)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="minnmt")
def cli():
    """Neural machine translation by hand.

    \b
    Train on the embedded German-English corpus, then translate its test set:
      python cli.py train
      python cli.py decode --topn 100
    \b
    With your own text:
      python cli.py train --src train.de --trg train.en --dev-src dev.de --dev-trg dev.en -o runs/deen
      python cli.py decode -m runs/deen < test.de > test.hyp
      python cli.py score test.hyp test.en
    """


for command in (train, decode, explore, score, align, candidates, audit, bench, reproduce, corpus, course):
    cli.add_command(command)


def main():
    """Run a command; a user's mistake ends in one sentence and an exit code, never in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    if os.path.basename(sys.argv[0]) != "cli.py":  # the installed script
        errors.program = os.path.basename(sys.argv[0])
    signal.signal(signal.SIGTERM, interrupt)
    kernels.on_compile = say_once("compiling kernels for this machine; the next start finds them ready ...")
    try:
        if guard.n_ranks() > 1:
            from minnmt import ranks

            ranks.begin(sys.argv[1:])
        cli.main(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        let_first_rank_speak()
        error.show()
        leave(error.exit_code)
    except UserError as error:
        fail(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted", 130)
    except BrokenPipeError:
        drop_stdout()  # nobody reads: say nothing more
        leave(1)
    except MemoryError:
        fail("not enough memory: try a smaller --batch-size", 1)
    except OSError as error:
        drop_stdout()
        fail(f"{error.filename or 'output'}: {error.strerror or error}", 1)
    except Exception as error:
        if from_interrupt(error):
            fail("interrupted", 130)
        if type(error).__module__ != "mpi4py.MPI":
            raise
        time.sleep(3)  # another rank has died; its guard will say so and end this one
        fail(f"another rank does not answer: {error}", 1)


def drop_stdout():
    """What waits to be written there is lost, or Python would try again at its end, and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def from_interrupt(error):
    """Did an interruption become this error on its way? It does inside Numba, while a kernel is loaded."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def interrupt(number, frame):
    """A polite kill is a Ctrl-C."""
    raise KeyboardInterrupt


def say_once(message):
    """A function that prints the message to stderr when it is first called."""
    messages = [message]

    def say():
        if messages:
            click.echo(messages.pop(), err=True)

    return say


def fail(message, code):
    let_first_rank_speak()
    click.echo(f"error: {message}", err=True)
    leave(code)


def let_first_rank_speak():
    """Of several ranks, most often all have the same to say: what the first says then ends the others."""
    if guard.rank() > 0:
        time.sleep(1)


def leave(code):
    """End this process, and with it all other ranks."""
    if guard.n_ranks() > 1:
        sys.stderr.flush()
        guard.abort(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
