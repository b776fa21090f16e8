"""The first code cell of every notebook, the same in all of them: it finds the package, or fetches it.

    python -m minnmt.course.first_cell tutorials/*.ipynb tutorials/solutions/*.ipynb

writes it into notebooks: after a change of SOURCE, for instance. Needs the extra `tutorials`.
"""

import sys

SOURCE = ".."  # what pip installs unless MINNMT_SOURCE says otherwise; best the repository's address, git+https://...
CELL_ID = "find-minnmt"

FIRST_CELL = f"""\
try:
    import minnmt  # noqa: F401 (first: it gives BLAS one thread)
except ImportError:  # a notebook alone: fetch the package; MINNMT_SOURCE may name a folder or an address (git+https://...)
    import os
    get_ipython().run_line_magic("pip", "install -q matplotlib " + os.environ.get("MINNMT_SOURCE", "{SOURCE}"))"""


def write_first_cell(path):
    """Put the cell before all other code, or bring it up to date; nothing else changes but the numbers of runs."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if code[0].id == CELL_ID:
        code[0].source = FIRST_CELL
    else:
        first = nbformat.v4.new_code_cell(FIRST_CELL, id=CELL_ID, execution_count=0)
        notebook.cells.insert(notebook.cells.index(code[0]), first)
        for cell in [first, *code]:
            number_again(cell, cell.execution_count + 1)
    nbformat.write(notebook, path)


def number_again(cell, number):
    """As if it had been run as the number-th cell."""
    cell.execution_count = number
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = number


if __name__ == "__main__":
    for path in sys.argv[1:]:
        write_first_cell(path)
