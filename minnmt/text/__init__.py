"""Raw text to ids and back: files, tokenizer, BPE, vocabularies, batches, and the embedded corpus. Notebook 00."""
