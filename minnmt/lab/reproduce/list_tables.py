"""Tables 1 and 3: decoding with lists of 20 to 200 candidates, learned in three ways, against all words."""

from ...align.inspect import number_of
from ...search.packed import fastest_precision
from ..tables import Table
from ..timing import ratios, spread
from .comparing import AGAINST_FULL, against_full, score, translated
from .measure import BATCH, decoding_seconds, unknown_share
from .paper import BPE, LISTS, UNKNOWN, WORDS, decoding_rows, vocabulary

SOURCES = {
    "full": "none: all words", "scratch": "training", "continued": "one more epoch", "fastalign": "fast_align",
}  # fmt: skip
COLUMNS = (
    "units", "lists from", "n", "speedup", "paper: speedup", "in batches", "in float32", "candidates",
    "paper: candidates", "% of words", "BLEU", "paper: BLEU", "against full", "TER", "paper: TER",
)  # fmt: skip
PAPERS = {
    "deen": "The paper's: newstest2015 of WMT, {bpe:,} BPE units and {words:,} words, embedding 620, 1,000 cells.",
    "iten": "The paper's: Italian to English, newstest2009 of WMT, {bpe:,} BPE units, embedding 620, 1,000 cells.",
}


def deen_table(lab):
    """Table 1."""
    models = {name: name for name in lab.units}
    return lists_exhibit(lab, "deen-table", "Decoding with lists and with all words", models, "deen")


def iten_table(lab):
    """Table 3: another language pair; without a text of its own, the embedded corpus from English to German."""
    title, model = "Decoding with lists: another language pair", lab.main
    if not lab.settings.src:
        title, model = "Decoding with lists: the embedded corpus, English to German", "reversed"
    return lists_exhibit(lab, "iten-table", title, {model: BPE}, "iten")


def lists_exhibit(lab, section, title, models, pair):
    """The table of these models {name: BPE or WORDS}, beside the paper's for its language pair."""
    n_sentences = len(speed_lines(lab, next(iter(models))))
    more = [f"{test}: {column}" for test in lab.also for column in ("BLEU", "against full", "TER")]
    notes = (
        f"Speedup: time of full decoding / time with lists, one sentence at a time, products in {fastest_precision()}; "
        f"in batches: up to {BATCH} at a time; in float32: one at a time. {n_sentences} test sentences, beam 5, "
        f"{number_of(lab.settings.threads, 'thread')}, medians of {lab.repeats} runs in turns, with quartiles. Scores "
        "are those of float32. Candidates: words in the list / source units, the mean over sentences.",
        AGAINST_FULL,
        PAPERS[pair].format(bpe=vocabulary(BPE, pair), words=vocabulary(WORDS)),
    )
    table = Table(section, title, (*COLUMNS, *more), notes)
    if lab.settings.dynamic_vocab:
        table.notes += (
            "After its first epoch the model was trained with a softmax over lists: it learned nothing more about the "
            "other words, but full decoding still has to rule them out.",
        )
    for name, units in models.items():
        table.notes += lab.count_notes(name)
        if units == WORDS:
            table.notes += unknown_notes(lab, name)
        add_list_rows(table, lab, name, units, pair)
    return table


def add_list_rows(table, lab, name, units, pair):
    """The rows of one model: those of the paper."""
    V = len(lab.model(name).trg.vocab)
    replacer = lab.replacer(name) if units == WORDS else None
    label = f"{name}: speed of decoding, {lab.n_speed} sentences, {lab.repeats} runs"
    seconds = lab.once(label, measure_speed, lab, name, replacer)
    for source, n in (("full", None), *LISTS):
        origin = None if source == "full" else source
        tests = {which: translated(lab, name, origin, n, which, replacer) for which in ("test", *lab.also)}
        times = seconds[f"{source} {n}" if origin else "full"]
        paper = decoding_rows(pair).get((units, source, n))
        record = {"model": name, "units": units, "lists": source, "n": n, "vocabulary": V, "seconds": times}
        record |= {**tests["test"], "also": {which: tests[which] for which in lab.also}}
        record["speedup"] = {how: ratios(seconds["full"][how], times[how]).tolist() for how in times}
        record["paper"] = paper and paper._asdict()
        table.add(record, *list_cells(record, paper), *also_cells(record["also"]))


def list_cells(record, paper):
    """A row's texts in the order of COLUMNS."""
    full, theirs = record["lists"] == "full", paper.texts() if paper else {}
    V, gains = record["vocabulary"], record["speedup"]
    ours = {
        "units": f"{record['model']}, {V:,}", "lists from": SOURCES[record["lists"]], "n": record["n"] or "-",
        "speedup": "1" if full else spread(gains["alone"]), "in batches": "1" if full else spread(gains["batches"]),
        "in float32": "1" if full else spread(gains["float32"]),
        "candidates": f"{V:,}" if full else f"{record['candidates']:.1f}",
        "% of words": "100" if full else f"{100 * record['list'] / V:.2g}",
        "BLEU": score(record["bleu"]), "against full": against_full(record), "TER": score(record["ter"]),
    }  # fmt: skip
    ours |= {f"paper: {column}": text for column, text in theirs.items()}
    return [ours.get(column, "-") for column in COLUMNS]


def also_cells(tests):
    """BLEU, difference and TER of every further test set."""
    return [text for q in tests.values() for text in (score(q["bleu"]), against_full(q), score(q["ter"]))]


def measure_speed(lab, name, replacer):
    """Full decoding and decoding with all the lists, in turns."""
    selectors = {"full": None, **{f"{source} {n}": lab.selector(name, source, n) for source, n in LISTS}}
    lines = speed_lines(lab, name)
    return decoding_seconds(lab.model(name), lines, selectors, lab.repeats, lab.settings.threads, replacer)


def speed_lines(lab, name):
    """The lines whose decoding is timed."""
    return [line for line in lab.split(name, "test").src if line.strip()][: lab.n_speed]


def unknown_notes(lab, name):
    """How unknown words are replaced, and how many there are, beside the paper's rates."""
    rates = lab.once(f"{name}: unknown words", measure_unknown, lab, name)
    texts = [
        f"{which} {rates[which]['src']:.1f} % of the source, {rates[which]['trg']:.1f} % of the references"
        + (f" (the paper: {UNKNOWN[which]} %)" if which in UNKNOWN else "")
        for which in rates
    ]
    return (
        "UNK in a translation is replaced as in the paper: attention finds its source word; Model 1, trained on the "
        "words of the parallel text whether the vocabulary has them or not, gives that word's likeliest translation; "
        "a word that Model 1 does not know is copied.",
        f"Words and punctuation marks that the vocabularies lack: {'; '.join(texts)}.",
    )


def measure_unknown(lab, name):
    model = lab.model(name)
    return {which: unknown_share(lab.split(name, which), model) for which in ("dev", "test", *lab.also)}
