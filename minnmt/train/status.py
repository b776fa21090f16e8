"""What a person sees of training: a bar on a terminal, plain lines elsewhere, always on stderr."""

import os
import shutil
import sys
import time


class Status:
    """Told by the loop what happens; writes it down."""

    def __init__(self, stream=None, seconds_between_lines=10.0):
        self.stream = stream or sys.stderr
        self.bar = self.stream.isatty()
        self.pause = 0.2 if self.bar else seconds_between_lines

    def line(self, text):
        """A line that stays."""
        self.clear()
        print(text, file=self.stream, flush=True)

    def start_epoch(self, epoch, n_epochs, n_batches, position=0, limits=None):
        """Batches are done from `position` on; `limits` may end the run before its last epoch."""
        self.epoch, self.n_epochs, self.n_batches, self.limits = epoch, n_epochs, n_batches, limits
        self.first_position = self.position = position
        self.last = self.began = time.monotonic()
        self.nll, self.words = 0.0, 0

    def update(self, nll, words):
        """One batch more; nll None: nothing is predicted, so there is no loss to show."""
        self.position += 1
        self.nll += nll or 0.0
        self.words += words
        now = time.monotonic()
        if now - self.last < self.pause:
            return
        elapsed = now - self.began
        text = (
            f"epoch {self.epoch}/{self.n_epochs}  batch {self.position}/{self.n_batches}  "
            + (f"loss {self.nll / self.words:.3f}  " if nll is not None else "")
            + f"{self.words / elapsed:,.0f} words/s  {clock(self.seconds_left(elapsed))} left"
        )
        if self.bar:
            self.clear()
            filled = 10 * self.position // self.n_batches
            text = f"[{'#' * filled}{'.' * (10 - filled)}] {text}"[: shutil.get_terminal_size().columns - 1]
            print(text, end="", file=self.stream, flush=True)
        else:
            print(text, file=self.stream, flush=True)
        self.last = now

    def seconds_left(self, elapsed):
        """Until the last epoch ends, or a limit does."""
        batches_left = self.n_batches * (self.n_epochs - self.epoch + 1) - self.position
        left = batches_left * elapsed / (self.position - self.first_position)
        return max(0.0, left if self.limits is None else min(left, self.limits.seconds_left()))

    def end_epoch(self, row, better, learning_rate):
        note = "best so far" if better else f"learning rate now {learning_rate:g}"
        self.line(
            f"epoch {row['epoch']} done: train loss {row['train_loss']:.3f}, dev perplexity "
            f"{row['dev_perplexity']:.2f}, dev BLEU {row['dev_bleu']:.2f} ({note}), {clock(row['seconds'])} so far"
        )

    def clear(self):
        """Take the bar away."""
        if self.bar:
            print("\r\x1b[K", end="", file=self.stream)


def silent_status():
    """For all ranks but the first."""
    return Status(open(os.devnull, "w"))


def clock(seconds):
    """3725 -> 1:02:05, 65 -> 1:05."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
