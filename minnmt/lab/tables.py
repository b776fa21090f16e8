"""Tables: texts for the reader, side by side with full records for JSON."""

import textwrap
from dataclasses import dataclass, field

WIDTH = 120  # of notes; a table is as wide as it has to be


@dataclass
class Table:
    """One table of a section. A row has a text for each heading and a record, a dictionary with all that is known."""

    section: str
    title: str
    headings: tuple
    notes: tuple = ()
    rows: list = field(default_factory=list)
    records: list = field(default_factory=list)

    def add(self, record, *cells):
        self.records.append(record)
        self.rows.append([str(cell) for cell in cells])

    def record(self):
        return {"section": self.section, "title": self.title, "notes": list(self.notes), "rows": self.records}


def format_table(table):
    """Table -> lines: title, notes, aligned columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(table.headings, *table.rows)]

    def line(cells):
        first, *others = (cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths)))
        return "  ".join([first, *others]).rstrip()

    yield f"== {table.section}: {table.title}"
    for note in table.notes:
        yield from textwrap.wrap(note, WIDTH)
    yield line(table.headings)
    yield "  ".join("-" * width for width in widths)
    yield from map(line, table.rows)
