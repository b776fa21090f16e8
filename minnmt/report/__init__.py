"""Reports: scores of translations and of alignments, audits of lists, and commands as a user sees them."""
