"""Where translations go: plain lines or n-best lists to a file or stdout, alignments to a file beside them."""

import json
import sys

from ..errors import UsageError, UserError
from ..files import is_stdout, read_lines, stream_lines, write_lines
from .translate import pharaoh_line, weights_record

# Lines read before translating: enough to sort by length, and with a batch size of 1 an answer for every line.
BATCHES_PER_CHUNK = 16


class Output:
    """Translates chunks of lines and writes what was asked for, in order."""

    def __init__(self, translator, path, alignments_path=None, alignment_format="pharaoh"):
        self.translator, self.model = translator, translator.model
        self.path = "-" if is_stdout(path) else path
        self.alignments_path, self.alignment_format = alignments_path, alignment_format
        self._check_stdout()  # now, not after all the work
        self.n_lines = 0
        self.kept, self.alignment_lines = [], []
        self.list_sizes, self.src_lengths = [], []  # of the lines that are not blank

    def _check_stdout(self):
        if self.path == "-" and sys.stdout is None:
            raise UserError("standard output is closed: name a file with -o")
        if self.alignments_path and is_stdout(self.alignments_path):
            raise UsageError("--alignments needs a file of its own: standard output carries the translations")

    def translate_stream(self, input_path):
        """Translate a file, or standard input as it arrives."""
        batch_size = self.translator.batch_size
        chunk = batch_size * (BATCHES_PER_CHUNK if batch_size > 1 else 1)
        if input_path == "-":
            chunks = stream_lines(chunk)
        else:
            text = read_lines(input_path)
            chunks = (text[i : i + chunk] for i in range(0, len(text), chunk))
        for lines in chunks:
            self.add(lines)
        self.close()

    def add(self, lines):
        """Translate lines; on stdout they appear at once, a file is written when all is done. Returns the best."""
        translations = self.translator.translate(lines)
        self.list_sizes += [t.list_size for t in translations if t.src_units]
        self.src_lengths += [len(t.src_units) for t in translations if t.src_units]
        printed = [line for t in translations for line in self._format(t)]
        if self.path == "-":
            write_lines("-", printed)
        else:
            self.kept += printed
        if self.alignments_path:
            self.alignment_lines += map(self._alignment, translations)
        return [t.best for t in translations]

    def close(self):
        """Write the files that were asked for, each complete or not at all."""
        if self.path != "-":
            write_lines(self.path, self.kept)
        if self.alignments_path:
            write_lines(self.alignments_path, self.alignment_lines)

    def list_report(self):
        """What the lists were like, in a line; "" without any."""
        if not self.translator.selector or not self.list_sizes:
            return ""
        per_word = sum(size / length for size, length in zip(self.list_sizes, self.src_lengths)) / len(self.list_sizes)
        mean, V = sum(self.list_sizes) / len(self.list_sizes), len(self.model.trg.vocab)
        return (
            f"lists: {mean:,.1f} words per sentence on average, {100 * mean / V:.2f} % of the vocabulary of {V:,}; "
            f"{per_word:.1f} candidates per source word (list size / source length)"
        )

    def _format(self, translation):
        number, self.n_lines = self.n_lines, self.n_lines + 1
        if self.translator.settings.n_best == 1:
            return [translation.best]
        if not translation.hypotheses:
            return [f"{number} |||  ||| 0"]
        return [
            f"{number} ||| {line} ||| {hypothesis.score:.4f}"
            for line, hypothesis in zip(translation.lines, translation.hypotheses)
        ]

    def _alignment(self, translation):
        if self.alignment_format == "pharaoh":
            return pharaoh_line(translation, self.model)
        return json.dumps(weights_record(translation, self.model), ensure_ascii=False)
