"""course: what a class needs: the lessons' model, student editions, grades."""

import os

import click

from . import options as opt


@click.group()
def course():
    """The lessons for a class: student editions, grades, and the model that lessons share.

    \b
    python cli.py course model
    """


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
