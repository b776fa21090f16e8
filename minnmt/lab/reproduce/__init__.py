"""The paper's tables and figure, and more, each on one command: `python cli.py reproduce`.

    paper           what the paper reports
    laboratory      models, counts and measurements, each made once and kept
    measure         quality and speed
    comparing       translations with lists beside those with all words
    exhibits        from measurements to tables; each has a file of its own
    exhibit_files   Markdown, TSV, JSON and PNG
"""

from ...errors import UsageError
from .exhibit_files import write_exhibit, write_logs
from .exhibits import EXHIBITS, OF_ONE_MODEL
from .laboratory import Given, Lab


def run_exhibits(names, lab, results, command):
    """Make each exhibit and write it into the directory `results`; yields (name, Table)."""
    for name in names:
        table = EXHIBITS[name](lab, lab.main) if name in OF_ONE_MODEL else EXHIBITS[name](lab)
        if any(lab.variant(model).src and not lab.variant(model).test_src for model in lab.units):
            table.notes += ("No test text was given: test is the dev text, by which the models were chosen.",)
        write_exhibit(table, name, results, lab, command)
        write_logs(results, lab)
        yield name, table


def chosen_exhibits(names, settings, given=False, max_minutes=None):
    """The exhibits that are meant, in their order.

    For a text of one's own, "all" has no second language pair; for a model that is trained already, no other training
    either, unless --max-minutes limits it.
    """
    if "all" in names:
        if len(names) > 1:
            raise UsageError("all stands alone: it means every exhibit")
        without = ["iten-table"] if settings.src else []
        without += ["dynamic-table"] if given and not max_minutes else []
        names = [name for name in EXHIBITS if name not in without]
    if "dynamic-table" in names and given and not max_minutes:
        raise UsageError("dynamic-table trains two more models with the settings of --model: limit it by --max-minutes")
    if settings.epochs < 2 and (settings.dynamic_vocab or "dynamic-table" in names):
        raise UsageError("training with lists needs --epochs 2 or more: they come from the counts of an earlier epoch")
    return [name for name in EXHIBITS if name in names]


__all__ = ["EXHIBITS", "Given", "Lab", "chosen_exhibits", "run_exhibits"]
