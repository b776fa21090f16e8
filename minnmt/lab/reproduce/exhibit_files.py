"""An exhibit on paper: Markdown for readers, TSV for spreadsheets, JSON with everything, PNG for the figure."""

import io
import json
from dataclasses import asdict
from pathlib import Path

from ...files import write_atomically, write_bytes
from ...search.beam import SearchSettings
from .count_sources import ITERATIONS
from .measure import BATCH, UPDATES

FIXED = {  # what has no option
    "search": asdict(SearchSettings()), "speed_batch": BATCH, "updates_a_repeat": UPDATES,
    "aligner_iterations": ITERATIONS,
}  # fmt: skip


def write_exhibit(table, name, directory, lab, command):
    """Write DIR/NAME.md, .tsv and .json; the figure has a .png as well."""
    write_atomically(directory / f"{name}.md", markdown(table, command, lab.machines[-1]))
    rows = [table.headings, *table.rows]
    write_atomically(directory / f"{name}.tsv", "".join("\t".join(row) + "\n" for row in rows))
    record = {"command": command, "machines": lab.machines, **portable(lab.setup), **FIXED, **table.record()}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(directory / f"{name}.json", text + "\n")
    if name == "epochs-figure":
        write_bytes(directory / f"{name}.png", epochs_png(table))


def write_logs(directory, lab):
    """The logs of the models' trainings, DIR/log.NAME.tsv."""
    for name in lab.models:
        rows = lab.found[f"training of {name}"]
        lines = [rows[0], *([f"{value:.6g}" for value in row.values()] for row in rows)] if rows else []
        write_atomically(directory / f"log.{name}.tsv", "".join("\t".join(line) + "\n" for line in lines))


def portable(value):
    """The setup, or a part of it, with the names of texts instead of their places on this machine."""
    if isinstance(value, dict):
        return {
            key: Path(part).name if part and key.endswith(("src", "trg")) else portable(part)
            for key, part in value.items()
        }
    return [portable(part) for part in value] if isinstance(value, list) else value


def markdown(table, command, machine):
    """The table with its notes, and the command and the machine that made it."""
    lines = [f"## {table.title}", "", *grid(table), ""]
    for part in table.more:
        lines += [f"**{part.title}**", "", *grid(part), ""]
    lines += [*(note + "\n" for note in table.notes), "Made by", "", "```", command, "```", ""]
    lines += [machine_line(machine), ""]
    return "\n".join(lines)


def grid(table):
    """Headings and rows."""
    return [row_line(table.headings), row_line(["---"] * len(table.headings)), *map(row_line, table.rows)]


def machine_line(machine):
    """Where it was measured."""
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "numpy", "numba", "sacrebleu", "minnmt"))
    return f"on {machine['cpu']}, {machine['usable_processors']} of {machine['processors']} cores; {versions}."


def row_line(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def epochs_png(table):
    """BLEU and candidates by the epoch of the counts."""
    from ..figures import epochs_curves

    data = io.BytesIO()
    epochs_curves(table.records).savefig(data, format="png", dpi=150)
    return data.getvalue()
