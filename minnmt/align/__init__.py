"""Word alignments: links from attention weights, the Pharaoh format, alignment error rate."""
