"""The exhibits: each takes a Lab, has it measure what is missing, and returns a Table.

Table 1 of the paper is deen-table, its Figure 1 epochs-figure, Table 2 threshold-table, Table 3 iten-table. More:
dynamic-table, which the paper proposes, lists-table, which compares lists of other origins, and aligner-table, which
looks at what attention and fast_align link, and claims-table, which sums up. Notebook 09.
"""

from dataclasses import asdict

from ...report.audit import audit, decode_both
from ...report.coverage import ALL, negation_words
from ...report.scores import bleu_difference
from ...search.translate import Translator
from ..tables import Table
from .aligner_table import aligner_table
from .claims_table import claims_table
from .comparing import AGAINST_FULL, against_full
from .dynamic_table import dynamic_table
from .epochs_figure import epochs_figure
from .list_tables import deen_table, iten_table
from .paper import TOPN
from .threshold_table import threshold_table

ORIGINS = ("scratch", "model1", "fastalign", "cooc", "frequent", "random")


def lists_table(lab, name="bpe"):
    """Lists of other origins at the same n."""
    kinds = ("numbers", "capitalised, elsewhere", "negations")
    table = Table(
        "lists-table", f"Lists of {TOPN} candidates a source word, by their origin",
        ("lists from", "words", "identical, %", "BLEU", "against full", "mass kept", "covered, %", *kinds),
        (
            "Identical: outputs that are those of full decoding. Mass: the mean probability that listed words have at "
            "a step of the full softmax. Covered: words of the references that the lists can write, all and by kind.",
            AGAINST_FULL,
        ),
    )  # fmt: skip
    for origin in ORIGINS:
        found = lab.once(f"{name}: audit of {origin}", audited, lab, name, origin)
        bleu = next(score for score in found["scores"] if score["name"] == "BLEU")
        rows = {row["name"]: row for row in found["coverage"]["rows"]}
        chosen = [rows[kind] for kind in (ALL, *kinds)]
        covered = [f"{share(row['words_covered'], row['words'])} of {row['words']:,}" for row in chosen]
        table.add(
            {"origin": origin, **found}, "attention (training)" if origin == "scratch" else origin,
            f"{found['lists']['words_per_sentence']:,.0f}", share(found["identical"], found["sentences"]),
            f"{bleu['list']:.2f}", against_full(found), f"{found['mass_output']['mean']:.4f}", *covered,
        )  # fmt: skip
    return table


def share(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def audited(lab, name, origin):
    """An audit's numbers, without its sentences."""
    model, split, threads = lab.model(name), lab.split(name, "test"), lab.settings.threads
    selector = lab.selector(name, origin, TOPN)
    full = Translator(model, n_threads=threads, precision="float32")
    listed = Translator(model, n_threads=threads, selector=selector, engine=full.engine)
    decodings = decode_both(split.src, (full, listed))
    found = asdict(audit(split, decodings, model, selector, None, negation_words(), threads))
    listed, full = ([t.best for t in side] for side in (decodings.listed, decodings.full))
    found["against_full"] = bleu_difference(listed, full, split.trg)
    return {key: value for key, value in found.items() if key not in ("divergences", "summary")}


EXHIBITS = {
    "deen-table": deen_table,
    "epochs-figure": epochs_figure,
    "threshold-table": threshold_table,
    "iten-table": iten_table,
    "dynamic-table": dynamic_table,
    "lists-table": lists_table,
    "aligner-table": aligner_table,
    "claims-table": claims_table,
}
OF_ONE_MODEL = ("epochs-figure", "threshold-table", "lists-table", "aligner-table")  # which is their second argument
