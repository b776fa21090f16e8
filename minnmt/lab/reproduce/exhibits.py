"""The exhibits: each takes a Lab, has it measure what is missing, and returns a Table.

Table 1 of the paper is deen-table, its Figure 1 epochs-figure, Table 2 threshold-table, Table 3 iten-table. More:
dynamic-table, which the paper proposes, lists-table, which compares lists of other origins, and aligner-table, which
looks at what attention and fast_align link, and claims-table, which sums up. Notebook 10.
"""

from .aligner_table import aligner_table
from .claims_table import claims_table
from .dynamic_table import dynamic_table
from .epochs_figure import epochs_figure
from .list_tables import deen_table, iten_table
from .lists_exhibit import lists_table
from .threshold_table import threshold_table

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
