"""Tables as text: columns, blocks where a cell is long, and the tables that belong to one."""

from minnmt.lab.tables import Table, format_table


def make(*rows):
    table = Table("name", "title", ("a", "longer"), ("a note",))
    for row in rows:
        table.add({}, *row)
    return table


def test_columns():
    assert list(format_table(make(("x", 1), ("yyy", 22)))) == [
        "== name: title", "a note", "a    longer", "---  ------", "x         1", "yyy      22",
    ]  # fmt: skip


def test_rows_with_long_texts_become_blocks():
    lines = list(format_table(make(("x", "word " * 40))))
    assert lines[2] == "x" and lines[3].startswith("    longer: word word") and len(lines) == 5
    assert " ".join(lines).count("word") == 40 and max(map(len, lines)) <= 120


def test_tables_that_belong_to_one_follow_it():
    table, more = make(("x", 1)), make(("y", 2))
    table.more = (more,)
    lines = list(format_table(table))
    assert lines[lines.index("") + 1 :] == list(format_table(more))
    assert table.record()["more"] == [more.record()] and "more" not in more.record()
