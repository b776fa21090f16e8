"""Reports: scores of translations and of alignments."""
