"""Tables: texts for the reader, side by side with full records for JSON."""

import textwrap
from dataclasses import dataclass, field

WIDTH = 120  # of notes; a table is as wide as it has to be
LONGEST = 60  # text of a column


@dataclass
class Table:
    """One table of a section. A row has a text for each heading and a record, a dictionary with all that is known."""

    section: str
    title: str
    headings: tuple
    notes: tuple = ()
    rows: list = field(default_factory=list)
    records: list = field(default_factory=list)
    more: tuple = ()  # Tables that belong to it, such as examples

    def add(self, record, *cells):
        self.records.append(record)
        self.rows.append([str(cell) for cell in cells])

    def record(self):
        record = {"section": self.section, "title": self.title, "notes": list(self.notes), "rows": self.records}
        return record | ({"more": [table.record() for table in self.more]} if self.more else {})


def format_table(table):
    """Table -> lines: title, notes, and the rows in columns; rows with long texts become blocks of lines."""
    yield f"== {table.section}: {table.title}"
    for note in table.notes:
        yield from textwrap.wrap(note, WIDTH)
    is_long = any(len(cell) > LONGEST for row in table.rows for cell in row)
    yield from format_blocks(table) if is_long else format_columns(table)
    for part in table.more:
        yield ""
        yield from format_table(part)


def format_columns(table):
    """Aligned columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(table.headings, *table.rows)]

    def line(cells):
        first, *others = (cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths)))
        return "  ".join([first, *others]).rstrip()

    yield line(table.headings)
    yield "  ".join("-" * width for width in widths)
    yield from map(line, table.rows)


def format_blocks(table):
    """A line for the first cell of a row, and the others below it, each with its heading."""
    for first, *others in table.rows:
        yield from textwrap.wrap(first, WIDTH)
        for heading, cell in zip(table.headings[1:], others):
            yield from textwrap.wrap(f"{heading}: {cell}", WIDTH, initial_indent="    ", subsequent_indent="      ")
