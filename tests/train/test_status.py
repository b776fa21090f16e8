"""What a person sees of training."""

import io

from minnmt.train.loop import Limits, train
from minnmt.train.status import Status, clock
from tests.train.toy import scripted, toy_run


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, tmp_path):
    status = Status(stream, seconds_between_lines=0.0)
    status.pause = 0.0
    train(toy_run(tmp_path, epochs=2), scripted(10, 5), status, Limits(max_minutes=1))
    return stream.getvalue()


def test_plain_lines_have_loss_speed_and_time_left(tmp_path):
    lines = shown(io.StringIO(), tmp_path).splitlines()
    assert lines[0].startswith("epoch 1/2  batch 1/8  loss ") and "words/s" in lines[0] and lines[0].endswith(" left")
    assert "dev BLEU 10.00 (best so far)" in lines[8] and "dev BLEU 5.00 (learning rate now" in lines[17]
    assert len(lines) == 18


def test_a_terminal_gets_one_line_that_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    text = shown(Terminal(), tmp_path)
    assert text.count("\n") == 2  # the two that stay: one per epoch
    bars = [part for part in text.replace("\n", "\r\x1b[K").split("\r\x1b[K") if part.startswith("[")]
    assert len(bars) == 16 and max(map(len, bars)) < 50 and bars[7].startswith("[##########]")


def test_clock():
    assert [clock(s) for s in (0, 65, 3725.9)] == ["0:00", "1:05", "1:02:05"]
