"""Make the package's corpus again, byte for byte, or another one as text. Run it from the root of the repository:

    python -m tutorials.corpus                         writes minnmt/text/embedded.tsv.bz2
    python -m tutorials.corpus --check                 compares with it instead; exit code 1 if they differ
    python -m tutorials.corpus --text other --seed 2   writes text files, here with other sentences
"""

import sys

import click

from minnmt.errors import UserError
from minnmt.files import read_bytes, write_bytes
from minnmt.text.embedded import PACKED, pack, write_corpus

from .generate import generate


@click.command()
@click.option("-o", "--output", default=str(PACKED), help="The packed file. [default: the package's own]")
@click.option("--check", is_flag=True, help="Compare with the packed file instead of writing it.")
@click.option("--text", help="Write text files into this directory instead, as `cli.py corpus` does.")
@click.option("--seed", default=1, show_default=True, help="Of the text files' sentences; 1 for the package's own.")
@click.option("--overwrite", is_flag=True, help="Replace text files of the same names.")
def main(output, check, text, seed, overwrite):
    """Generate the corpus, and pack it or write it as text files."""
    if seed != 1 and not text:
        raise click.UsageError("--seed needs --text: the packed corpus is always the same")
    corpus = generate(seed=seed)
    try:
        if text:
            click.echo(write_corpus(text, corpus, overwrite=overwrite))
        else:
            click.echo(compare(corpus, output) if check else save(corpus, output))
    except UserError as error:
        sys.exit(f"error: {error}")


def save(corpus, path):
    """Write the packed file -> what was written, as a sentence."""
    data = pack(corpus)
    write_bytes(path, data)
    return f"{path}: {len(data):,} bytes"


def compare(corpus, path):
    """A sentence if the packed file is what the generator makes, else an error."""
    if read_bytes(path) != pack(corpus):
        raise UserError(f"{path} is not what the generator makes: `python -m tutorials.corpus` makes it again")
    return f"{path} is what the generator makes, byte for byte"


if __name__ == "__main__":
    main()
