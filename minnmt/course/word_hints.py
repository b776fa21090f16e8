"""Hints for lists of words, or of their ids, and for texts."""


def hint_for_words(yours, expected):
    """Both are lists, of words for instance."""
    try:
        missing = [x for x in dict.fromkeys(expected) if x not in set(yours)]
        extra = [x for x in dict.fromkeys(yours) if x not in set(expected)]
    except TypeError:  # lists of lists
        return ""
    if not yours:
        return "yours is empty: nothing was added to it"
    if yours == expected[::-1]:
        return "yours runs backwards: the last comes first"
    if not missing and not extra:
        if len(yours) > len(expected):
            return "some items are there more than once: a union has each once"
        return "the items are right, but in another order: sorted?" if len(yours) == len(expected) else (
            "each item is there, but not as often as expected"
        )  # fmt: skip
    parts = [f"missing: {listed(missing)}"] * bool(missing) + [f"too many: {listed(extra)}"] * bool(extra)
    end = " (the end of the sentence)" if missing == ["eos"] else ""
    return "; ".join(parts) + end


def listed(items, most=5):
    return ", ".join(repr(item) for item in items[:most]) + (", ..." if len(items) > most else "")


def hint_for_texts(yours, expected):
    if yours.split() == expected.split():
        return "only spaces differ"
    if "".join(yours.split()) == "".join(expected.split()):
        return "only spaces differ: words are joined or split at the wrong place"
    if yours.lower() == expected.lower():
        return "only capital letters differ"
    if yours[::-1] == expected:
        return "yours runs backwards"
    return ""
