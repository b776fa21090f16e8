"""The paper's tables and figure, and two more, each on one command: `python cli.py reproduce`.

    paper      what the paper reports
    lab        models, counts and measurements, each made once and kept
    measure    quality and speed
    exhibits   from measurements to tables
    output     Markdown, TSV, JSON and PNG
"""

from ...errors import UsageError
from .exhibit_files import write_exhibit
from .exhibits import EXHIBITS
from .laboratory import Lab


def run_exhibits(names, lab, results, command):
    """Make each exhibit and write it into the directory `results`; yields (name, Table)."""
    for name in names:
        table = EXHIBITS[name](lab)
        if lab.settings.src and not lab.settings.test_src:
            table.notes += ("No test text was given: test is the dev text, by which the models were chosen.",)
        write_exhibit(table, name, results, lab, command)
        yield name, table


def chosen_exhibits(names, settings):
    """The exhibits that are meant, in their order; for a text of one's own, "all" has no second language pair."""
    if "all" in names:
        if len(names) > 1:
            raise UsageError("all stands alone: it means every exhibit")
        names = [name for name in EXHIBITS if not (settings.src and name == "iten-table")]
    if settings.epochs < 2 and (settings.dynamic_vocab or "dynamic-table" in names):
        raise UsageError("training with lists needs --epochs 2 or more: they come from the counts of an earlier epoch")
    return [name for name in EXHIBITS if name in names]


__all__ = ["EXHIBITS", "Lab", "chosen_exhibits", "run_exhibits"]
