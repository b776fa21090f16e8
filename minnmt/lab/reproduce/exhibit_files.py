"""An exhibit on paper: Markdown for readers, TSV for spreadsheets, JSON with everything, PNG for the figure."""

import io
import json
from dataclasses import asdict
from pathlib import Path

from ...files import write_atomically, write_bytes
from ...search.beam import SearchSettings
from .laboratory import ITERATIONS
from .measure import BATCH, UPDATES

FIXED = {  # what has no option
    "search": asdict(SearchSettings()), "speed_batch": BATCH, "updates_a_repeat": UPDATES,
    "aligner_iterations": ITERATIONS,
}  # fmt: skip


def write_exhibit(table, name, directory, lab, command):
    """Write DIR/NAME.md, .tsv and .json; the figure has a .png as well."""
    write_atomically(directory / f"{name}.md", markdown(table, command))
    rows = [table.headings, *table.rows]
    write_atomically(directory / f"{name}.tsv", "".join("\t".join(row) + "\n" for row in rows))
    record = {"command": command, "machines": lab.machines, **portable(lab.setup), **FIXED, **table.record()}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(directory / f"{name}.json", text + "\n")
    if name == "epochs-figure":
        write_bytes(directory / f"{name}.png", epochs_png(table))


def portable(setup):
    """The setup with the names of texts instead of their places on this machine."""
    settings = {
        name: Path(value).name if value and name.endswith(("src", "trg")) else value
        for name, value in setup["settings"].items()
    }
    return {**setup, "settings": settings}


def markdown(table, command):
    """The table with its notes, and the command that makes it."""
    lines = [f"## {table.title}", "", row_line(table.headings), row_line(["---"] * len(table.headings))]
    lines += [row_line(row) for row in table.rows]
    lines += ["", *(note + "\n" for note in table.notes), "Made by", "", "```", command, "```", ""]
    return "\n".join(lines)


def row_line(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def epochs_png(table):
    """BLEU and candidates by the epoch of the counts."""
    from ..figures import epochs_curve

    data = io.BytesIO()
    epochs = [record["epoch"] for record in table.records]
    bleu, candidates = ([record[key] for record in table.records] for key in ("bleu", "candidates"))
    epochs_curve(epochs, bleu, candidates, table.records[0]["full_bleu"]).savefig(data, format="png", dpi=150)
    return data.getvalue()
