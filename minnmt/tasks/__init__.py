"""What a command sets in motion: a training, an alignment, a validation, as a user sees them."""
