"""What a person sees of training: a bar on a terminal, plain lines elsewhere, always on stderr."""

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

    def start_epoch(self, run, n_batches, limits):
        self.n_batches, self.limits = n_batches, limits
        self.last = self.began = time.monotonic()
        self.first_position = run.progress.position
        self.nll, self.words = 0.0, 0

    def update(self, run, nll, words):
        """nll None: nothing is predicted, so there is no loss to show."""
        self.nll += nll or 0.0
        self.words += words
        now = time.monotonic()
        if now - self.last < self.pause:
            return
        progress = run.progress
        elapsed = now - self.began
        done = progress.position - self.first_position
        epochs_left = run.settings.epochs - progress.epoch
        left = (self.n_batches * (epochs_left + 1) - progress.position) * elapsed / done
        left = max(0.0, min(left, self.limits.seconds_left()))
        text = (
            f"epoch {progress.epoch}/{run.settings.epochs}  batch {progress.position}/{self.n_batches}  "
            + (f"loss {self.nll / self.words:.3f}  " if nll is not None else "")
            + f"{self.words / elapsed:,.0f} words/s  {clock(left)} left"
        )
        if self.bar:
            self.clear()
            filled = 10 * progress.position // self.n_batches
            text = f"[{'#' * filled}{'.' * (10 - filled)}] {text}"[: shutil.get_terminal_size().columns - 1]
            print(text, end="", file=self.stream, flush=True)
        else:
            print(text, file=self.stream, flush=True)
        self.last = now

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


def clock(seconds):
    """3725 -> 1:02:05, 65 -> 1:05."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
