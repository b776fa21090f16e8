"""course: what a class needs: the lessons' model, student editions, grades."""

import json
import os

import click

from ..errors import UserError
from . import options as opt


@click.group()
def course():
    """The lessons for a class: student editions, grades, and the model that lessons share.

    \b
    python cli.py course student 01 02 -o handed-out
    python cli.py course grade handed-in/*.ipynb
    """


@course.command()
@click.argument("lessons", nargs=-1, required=True, metavar="LESSON...")
@click.option("-o", "--output", type=opt.Path(), required=True, help="Directory to write the notebooks into.")
def student(lessons, output):
    """Write student editions: lessons with blanks in the place of their answers, outputs cleared.

    \b
    python cli.py course student 01 02 -o handed-out
    python cli.py course student tutorials/03_attention.ipynb -o handed-out

    LESSON is a number, a name or a notebook's path.
    """
    from ..course.edition import write_edition
    from ..course.notebooks import find_lesson

    for path in [find_lesson(name) for name in lessons]:
        click.echo(write_edition(path, output))


@course.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE.ipynb...", type=opt.FILE)
@click.option("--seed", type=opt.COUNT, default=1, show_default=True, help="Which random numbers; 0: the lesson's own.")
@click.option("--limit", type=opt.POSITIVE, default=120, show_default=True, help="Seconds that a cell may take.")
@click.option("--full", is_flag=True, help="Run the lesson in full, not in its short form.")
@click.option("--lesson", type=opt.FILE, help="The lesson's notebook. [default: the one that the file is of]")
@click.option("--json", "as_json", is_flag=True, help="A JSON object per file instead of text.")
def grade(files, seed, limit, full, lesson, as_json):
    """Run submitted notebooks, and print which of the lesson's checks are right.

    \b
    python cli.py course grade handed-in/*.ipynb
    python cli.py course grade anna.ipynb --seed 7 --json

    The lesson's own checks are run, with other random numbers than in the lesson, so that copied results do not
    pass. The notebooks' code runs with your rights: grade what you would run yourself.
    """
    from ..course.grading import grade as grade_notebook

    failed = 0
    for path in files:
        try:
            found = grade_notebook(path, seed, limit, not full, lesson)
        except UserError as error:
            if len(files) == 1:
                raise
            click.echo(f"error: {error}", err=True)  # the others are graded all the same
            failed += 1
            continue
        click.echo(json.dumps(found.record()) if as_json else found.text())
    if failed:
        raise UserError(f"{failed} of {len(files)} notebooks could not be graded")


@course.command()
@click.option("-o", "--output", type=opt.Path(), help="Where to. [default: runs/lesson-model]")
def model(output):
    """Unpack the lessons' model, as lessons do when they need it, and print its directory.

    \b
    python cli.py course model
    python cli.py decode -m runs/lesson-model < test.de
    """
    from ..course import lesson_model

    click.echo(lesson_model(output))


@course.command()
@click.argument("run", type=opt.Path())
@click.option("-o", "--output", type=opt.FILE, help="The file to write. [default: the package's own]")
def pack(run, output):
    """Make the package's file of the lessons' model again, from a run of training.

    \b
    python cli.py train -o runs/default && python cli.py course pack runs/default
    """
    from ..course.pack import PACKED
    from ..course.pack import pack as pack_run

    path = output or PACKED
    pack_run(run, path)
    click.echo(f"{path}: {os.path.getsize(path) / 1e6:.2f} MB", err=True)
