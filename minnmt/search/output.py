"""Where translations go: plain lines or n-best lists to a file or stdout, alignments to a file beside them."""

import contextlib
import json
import sys

from ..errors import UsageError, UserError
from ..files import is_stdout
from ..streams import PATIENCE, Copied, line_chunks, line_writer, resumable_writer
from .screen import Screen
from .translate import pharaoh_line, weights_record
from .verified import Effort

BATCHES_PER_CHUNK = 16  # lines read before translating: enough to sort by length, and for every thread
LONG = 5000  # characters of a line that will take a while


class Output:
    """Translates chunks of lines and writes what was asked for, in order. Use it in a `with`.

    On stdout lines appear at once; a file appears when all is done, and not at all after an error. `partial`, for a
    plain file, keeps what there is if it is interrupted: "begin" writes it anew, "resume" goes on behind its last line.
    `crew` is who translates: the translator, unless several ranks do (minnmt/tasks/translating.py).
    """

    def __init__(self, translator, path, alignments_path=None, alignment_format="pharaoh", partial=None, crew=None):
        self.translator, self.model, self.crew = translator, translator.model, crew or alone(translator)
        self.partial = partial
        self.path = "-" if is_stdout(path) else path
        self.alignments_path, self.alignment_format = alignments_path, alignment_format
        self._check_stdout()  # now, not after all the work
        self.n_lines = self.n_before = 0  # lines written; those that were there already
        self.n_listed, self.words_listed, self.candidates = 0, 0, 0.0  # sums over the lines that are not blank
        self.effort = Effort()

    def _check_stdout(self):
        if self.path == "-" and sys.stdout is None:
            raise UserError("standard output is closed: name a file with -o")
        if self.alignments_path and is_stdout(self.alignments_path):
            raise UsageError("--alignments needs a file of its own: standard output carries the translations")

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            if self.partial:
                writer = resumable_writer(self.path, self.partial == "resume")
                self.write, self.n_lines = stack.enter_context(writer)
                self.n_before = self.n_lines
            else:
                self.write = stack.enter_context(line_writer(self.path))
            self.write_alignments = self.alignments_path and stack.enter_context(line_writer(self.alignments_path))
            self.files = stack.pop_all()
        return self

    def __exit__(self, *exception):
        return self.files.__exit__(*exception)

    def translate_stream(self, input_path, on_bad_line="stop"):
        """Translate a file, or standard input as it arrives."""
        size = self.translator.batch_size
        patience, skip = PATIENCE if size > 1 else 0.0, self.n_lines
        for _ in self._translate(line_chunks(input_path, BATCHES_PER_CHUNK * size, on_bad_line, say, patience, skip)):
            pass

    def add(self, lines):
        """Translate lines and write them -> the best translations."""
        size = BATCHES_PER_CHUNK * self.translator.batch_size
        return list(self._translate([lines[i : i + size] for i in range(0, len(lines), size)]))

    def _translate(self, chunks):
        """Lists of lines are translated and written, one after the other; yields the best translations."""
        for lines, translations in self.crew(self._announced(chunks)):
            self._write(lines, translations)
            yield from (translation.best for translation in translations)

    def _write(self, lines, translations):
        for number, translation in enumerate(translations, start=self.n_lines + 1):
            if translation.n_cut:
                say(f"warning: line {number} is too long: the last {translation.n_cut:,} of its units are left out")
            if translation.src_units:
                self.n_listed += 1
                self.words_listed += translation.list_size
                self.candidates += translation.list_size / len(translation.src_units)
                self.effort += translation.effort or Effort()
        numbered = enumerate(zip(lines, translations), start=self.n_lines)
        self.write([text for number, pair in numbered for text in self._format(number, *pair)])
        self.n_lines += len(translations)
        if self.write_alignments:
            self.write_alignments(map(self._alignment, translations))

    def _announced(self, chunks):
        """The same chunks, with a sign of life before a very long line."""
        n_read = self.n_lines
        for lines in chunks:
            for number, line in enumerate(lines, start=n_read + 1):
                if len(line) > LONG:
                    say(f"line {number} has {len(line):,} characters: it will take a while")
            n_read += len(lines)
            yield lines

    def list_record(self):
        """What the lists were like, and what --verify came to, as a dictionary; empty without lists."""
        if not self.translator.selector or not self.n_listed:
            return {}
        mean, record = self.words_listed / self.n_listed, {"sentences": self.n_listed}
        record["vocabulary"] = len(self.model.trg.vocab)
        if isinstance(self.translator.selector, Screen):
            return {**record, "words_per_step": mean}
        record |= {"words_per_sentence": mean, "candidates_per_source_word": self.candidates / self.n_listed}
        if self.translator.verify:
            effort = self.effort
            record["verify"] = {
                "level": self.translator.verify, "drafted_steps": effort.drafted, "kept_steps": effort.kept,
                "redone_steps": effort.redone, "misses": effort.misses, "words_added": effort.added,
                "sentences_touched": effort.touched, "share_touched": effort.touched / self.n_listed,
                "sentences_again": effort.again,
            }  # fmt: skip
        return record

    def list_report(self):
        """The same as text; "" without lists."""
        record = self.list_record()
        if not record:
            return ""
        by_step, V = "words_per_step" in record, record["vocabulary"]
        mean = record["words_per_step" if by_step else "words_per_sentence"]
        share = f"on average, {100 * mean / V:.2f} % of the vocabulary of {V:,}"
        if by_step:
            return f"screen: {mean:,.1f} words per step {share}"
        lines = [
            f"lists: {mean:,.1f} words per sentence {share}; "
            f"{record['candidates_per_source_word']:.1f} candidates per source word (list size / source length)"
        ]
        if found := record.get("verify"):
            lines.append(
                f"verify {found['level']}: {found['drafted_steps']:,} steps drafted, {found['kept_steps']:,} kept, "
                f"{found['redone_steps']:,} redone; {found['words_added']:,} words added; "
                f"{100 * found['share_touched']:.1f} % of the sentences touched"
                + f"; {found['sentences_again']:,} searched again with exact numbers" * bool(found["sentences_again"])
            )
        return "\n".join(lines)

    def _format(self, number, line, translation):
        best = line if isinstance(line, Copied) else translation.best
        if self.translator.settings.n_best == 1:
            return [best]
        if not translation.hypotheses:
            return [f"{number} ||| {best} ||| 0"]
        return [
            f"{number} ||| {line} ||| {hypothesis.score:.4f}"
            for line, hypothesis in zip(translation.lines, translation.hypotheses)
        ]

    def _alignment(self, translation):
        if self.alignment_format == "pharaoh":
            return pharaoh_line(translation, self.model)
        return json.dumps(weights_record(translation, self.model), ensure_ascii=False)


def alone(translator):
    """Who translates: a function from lists of lines to (lines, their translations), one after the other."""

    def crew(chunks):
        for lines in chunks:
            yield lines, translator.translate(as_text(lines))

    return crew


def as_text(lines):
    """Lines that are copied are not translated."""
    return ["" if isinstance(line, Copied) else line for line in lines]


def say(text):
    print(text, file=sys.stderr, flush=True)
