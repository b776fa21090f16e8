"""The front door of minnmt: commands, argument checking, and nothing else.

Heavy modules are imported inside the commands, so that --help answers at once.
"""

import math
import os
import sys

import click

from minnmt import __version__
from minnmt.errors import UsageError, UserError
from minnmt.train.settings import Settings

DEFAULTS = Settings()


class Path(click.Path):
    """A path; an empty one, as an unset shell variable gives, is none."""

    def convert(self, value, param, ctx):
        if not value:
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


FILE = Path()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="minnmt")
def cli():
    """Neural machine translation by hand.

    \b
    Train on the embedded German-English corpus, then translate its test set:
      python cli.py train
      python cli.py decode --topn 100
    \b
    With your own text:
      python cli.py train --src train.de --trg train.en --dev-src dev.de --dev-trg dev.en -o runs/deen
      python cli.py decode -m runs/deen < test.de > test.hyp
      python cli.py score test.hyp test.en
    """


def setting(name, help, **kwargs):
    """An option for one field of Settings, with that field's default."""
    return click.option(
        "--" + name.replace("_", "-"), name, default=getattr(DEFAULTS, name), show_default=True, help=help, **kwargs
    )


class Number(click.FloatRange):
    """A number within limits; "nan" and "inf" are none."""

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


POSITIVE = click.IntRange(min=1)
COUNT = click.IntRange(min=0)


@cli.command()
@click.option("--src", type=FILE, help="Source training text, a sentence a line (.gz too). [default: embedded corpus]")
@click.option("--trg", type=FILE, help="Target training text, line by line the translation of --src.")
@click.option("--dev-src", type=FILE, help="Source text to validate on after each epoch.")
@click.option("--dev-trg", type=FILE, help="Its translation.")
@click.option("--test-src", type=FILE, help="Source text to score when training ends. [default: the dev text]")
@click.option("--test-trg", type=FILE, help="Its translation.")
@click.option("-o", "--output", type=Path(), default="runs/default", show_default=True, help="Directory of the run.")
@click.option("--resume", is_flag=True, help="Continue the run in the output directory.")
@click.option("--overwrite", is_flag=True, help="Replace a run that is already in the output directory.")
@setting("bpe", "BPE merges on each side, 0 = whole words.", type=COUNT)
@setting("vocab_size", "Words in each vocabulary, eos and UNK included, 0 = all.", type=COUNT)
@click.option("--shared", is_flag=True, help="One set of BPE codes and one vocabulary for both languages.")
@click.option("--pretokenized", is_flag=True, help="The text is tokenized already: cut it at spaces only.")
@setting("max_train_length", "Leave out training pairs with more units than this on a side.", type=POSITIVE)
@setting("embedding", "Size of the word embeddings.", type=POSITIVE)
@setting("hidden", "Size of the recurrent states.", type=POSITIVE)
@setting("init", "How the parameters start.", type=click.Choice(["glorot", "dl4mt"]))
@setting("dropout", "Share of values dropped while training.", type=Number(0, 1, max_open=True))
@setting("batch_size", "Sentence pairs per update.", type=POSITIVE)
@setting("pool", "Batches that are sorted by length together.", type=POSITIVE)
@setting("learning_rate", "Adam's step size.", type=Number(0, min_open=True))
@setting("clip", "Limit of the gradient's global norm, 0 = none.", type=Number(0))
@setting("epochs", "Passes over the training text.", type=POSITIVE)
@setting("patience", "Stop after so many epochs without a better dev BLEU.", type=POSITIVE)
@setting("halve_after", "Halve the learning rate after so many epochs without a better dev BLEU.", type=POSITIVE)
@setting("seed", "Of every random number.", type=COUNT)
@click.option("--threads", type=POSITIVE, help="Threads that share each batch. [default: all processors]")
@click.option("--max-minutes", type=Number(0, min_open=True), help="Pause when training has gone on for so long.")
@click.option("--max-updates", type=POSITIVE, help="Pause when the run has had so many updates.")
@click.option("--save-every", type=POSITIVE, default=500, show_default=True, help="Updates between checkpoints.")
@click.pass_context
def train(context, output, resume, overwrite, max_minutes, max_updates, save_every, **options):
    """Train a model; with no arguments, on the embedded German-English corpus.

    \b
    python cli.py train
    python cli.py train --src train.de --trg train.en --dev-src dev.de --dev-trg dev.en -o runs/deen
    python cli.py train -o runs/deen --resume

    Progress goes to stderr. Ctrl-C saves the state; --resume continues from it, or from the last checkpoint
    after a crash, to the same parameters as a run without a break.
    """
    from minnmt.report.training import run_training
    from minnmt.train.loop import Limits
    from minnmt.train.run import new_run, resume_run
    from minnmt.train.status import Status

    status = Status()
    if resume and overwrite:
        raise UsageError("--resume continues a run and --overwrite replaces it: choose one")
    if resume:
        run = resume_run(output, changes_on_resume(context, options))
    else:
        options["threads"] = options["threads"] or min(available_processors(), max(1, options["batch_size"] // 8))
        check_text_options(options)
        run = new_run(output, Settings(**options), status.line, overwrite)
    raise SystemExit(run_training(run, status, Limits(max_minutes, max_updates, save_every)))


def available_processors():
    from minnmt.threads import n_processors

    return n_processors()


def check_text_options(options):
    """Parallel files come in pairs, and training text needs dev text."""
    for side, other in (("src", "trg"), ("dev_src", "dev_trg"), ("test_src", "test_trg")):
        for a, b in ((side, other), (other, side)):
            if options[a] and not options[b]:
                raise UsageError(f"--{a.replace('_', '-')} needs --{b.replace('_', '-')}: give both sides")
    texts = [name for name in options if name.endswith(("src", "trg")) and options[name]]
    if [options[name] for name in texts].count("-") > 1:
        names = " and ".join("--" + name.replace("_", "-") for name in texts if options[name] == "-")
        raise UsageError(f"{names}: only one text can come from standard input (-)")
    for name in texts:
        if options[name] != "-":
            options[name] = os.path.abspath(options[name])  # so that --resume works from anywhere
    if options["src"] and not options["dev_src"]:
        raise UsageError("--src and --trg need --dev-src and --dev-trg: text to validate on, kept out of training")
    if not options["src"] and (options["dev_src"] or options["test_src"]):
        raise UsageError("--dev-src and --test-src need --src and --trg: the embedded corpus has its own")


def changes_on_resume(context, options):
    """The settings that --resume may change; any other that was given is refused."""
    given = {name for name in options if context.get_parameter_source(name).name == "COMMANDLINE"}
    refused = sorted(given - {"epochs", "patience", "learning_rate", "clip"})
    if refused:
        names = ", ".join("--" + name.replace("_", "-") for name in refused)
        raise UsageError(
            f"{names} cannot change with --resume: only --epochs, --patience, --learning-rate and --clip can"
        )
    return {name: options[name] for name in given}


@cli.command()
@click.option("-m", "--model", "directory", type=Path(), help="A model directory. [default: runs/default]")
@click.option("--npz", type=FILE, help="Instead of -m: a single .npz of Nematus or dl4mt.")
@click.option("--vocab-src", type=FILE, help="With --npz: the source vocabulary, JSON.")
@click.option("--vocab-trg", type=FILE, help="With --npz: the target vocabulary, JSON.")
@click.option("--bpe-src", type=FILE, help="With --npz: BPE codes of the source side.")
@click.option("--bpe-trg", type=FILE, help="With --npz: BPE codes of the target side.")
@click.option("--any-vocab-size", is_flag=True, help="With --npz: take vocabularies of another size, as Nematus does.")
@click.option("--pretokenized", is_flag=True, help="With --npz: the text is tokenized already.")
@click.option("-i", "--input", "input_path", type=FILE, default="-", help="Text to translate. [default: stdin]")
@click.option("-o", "--output", "output_path", type=FILE, default="-", help="Where to write. [default: stdout]")
@click.option("--topn", type=COUNT, default=0, help="Candidates per source word, 0 = the full vocabulary.")
@click.option("--beam", type=POSITIVE, default=5, show_default=True, help="Hypotheses kept; 1 is greedy search.")
@click.option("--n-best", type=POSITIVE, default=1, help="Print the N best: number ||| translation ||| score.")
@click.option("--length-penalty", type=Number(0, 10), default=1.0, help="Score = log p / length^penalty. [default: 1]")
@click.option("--max-length", type=COUNT, help="Longest translation in units. [default: 2 * source + 10]")
@click.option("--alignments", type=FILE, help="Write the attention of each line's best translation to this file.")
@click.option(
    "--alignment-format", type=click.Choice(["pharaoh", "weights"]),
    help="Word links i-j a line, or all weights as a JSON object a line. [default: pharaoh]",
)  # fmt: skip
@click.option("--batch-size", type=POSITIVE, default=32, show_default=True, help="Sentences translated together.")
@click.option("--threads", type=POSITIVE, help="Batches translated side by side. [default: one per processor]")
def decode(directory, input_path, output_path, topn, batch_size, threads, alignments, alignment_format, **options):
    """Translate text: a line out for every line in.

    \b
    python cli.py decode < test.de > test.en
    python cli.py decode -m runs/deen -i test.de -o test.en --beam 12
    python cli.py decode --npz model.npz --vocab-src vocab.de.json --vocab-trg vocab.en.json < test.de

    With nothing to read (a terminal, or the null device) it translates the test set that the model was
    trained with and prints the scores to stderr.
    """
    from minnmt.files import nothing_to_read
    from minnmt.search.beam import SearchSettings
    from minnmt.search.output import Output

    if options["n_best"] > options["beam"]:
        raise UsageError(f"--n-best {options['n_best']} needs --beam {options['n_best']} or more")
    if alignment_format and not alignments:
        raise UsageError("--alignment-format needs --alignments FILE")
    if topn:
        click.echo("note: --topn is not there yet; translating with the full vocabulary", err=True)
    settings = SearchSettings(
        options["beam"], options["length_penalty"], options["max_length"], options["n_best"], bool(alignments)
    )
    model = model_from_options(directory, options)
    threads = threads or available_processors()
    for path in (output_path, alignments):
        if path and input_path != "-" and os.path.realpath(path) == os.path.realpath(input_path):
            raise UsageError(f"{path} is the input: writing to it would destroy it")
    output = Output(model, settings, output_path, alignments, alignment_format or "pharaoh", batch_size, threads)
    if input_path == "-" and nothing_to_read():
        from minnmt.report.validation import decode_test_set

        click.echo(decode_test_set(model, output), err=True)
    else:
        output.translate_stream(input_path)


def model_from_options(directory, options):
    """The model of a directory, or of the single files that --npz names."""
    from minnmt.model.directory import load_model, load_npz_model

    single = ("vocab_src", "vocab_trg", "bpe_src", "bpe_trg", "any_vocab_size", "pretokenized")
    if options["npz"] is None:
        for name in single:
            if options[name]:
                raise UsageError(f"--{name.replace('_', '-')} goes with --npz; a model directory (-m) has its own")
        return load_model(directory or "runs/default")
    if directory:
        raise UsageError("-m names a model directory and --npz a single file: choose one")
    if not (options["vocab_src"] and options["vocab_trg"]):
        raise UsageError("--npz needs --vocab-src and --vocab-trg, the model's two JSON vocabularies")
    return load_npz_model(options["npz"], **{name: options[name] for name in single})


@cli.command()
@click.argument("hypotheses", type=FILE)
@click.argument("references", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="A JSON object instead of text.")
def score(hypotheses, references, as_json):
    """BLEU, TER and chrF of translations, with sacrebleu's signatures.

    \b
    python cli.py score test.hyp test.en
    python cli.py decode < test.de | python cli.py score - test.en --json
    """
    from minnmt.report.scores import format_scores, score_files

    if hypotheses == references == "-":
        raise UsageError("only one of the two files can be standard input (-)")
    text = format_scores(score_files(hypotheses, references), as_json)
    if sys.stdout is None:
        raise UserError("standard output is closed: there is nowhere to write the scores to")
    click.echo(text)


@cli.command()
@click.option("-o", "--output", type=Path(), required=True, help="Directory to write train, dev and test files into.")
@click.option("--overwrite", is_flag=True, help="Replace files of the same names.")
@click.option("--seed", type=COUNT, default=DEFAULTS.seed, show_default=True, help="Of the generator.")
@click.option("--tokenized", is_flag=True, help="Write tokens with spaces between them, as the alignments count them.")
def corpus(output, overwrite, seed, tokenized):
    """Write the embedded German-English corpus: raw text and gold word alignments.

    \b
    python cli.py corpus -o corpus

    DIR/train.de, train.en, train.align (Pharaoh: i-j, source-target, counted from 0 over tokens), and the same
    for dev and test.
    """
    from minnmt.text.corpus.write import write_corpus

    click.echo(write_corpus(output, seed, tokenized, overwrite), err=True)


def main():
    """Run a command; a user's mistake ends in one sentence and an exit code, never in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    try:
        cli.main(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except UserError as error:
        fail(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads: say nothing more
        sys.exit(1)
    except MemoryError:
        fail("not enough memory: try a smaller --batch-size", 1)
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}", 1)


def fail(message, code):
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
