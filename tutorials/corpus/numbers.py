"""Numbers, ordinals and years as words in both languages, up to 9,999.

Left out: digits, fractions and millions.
"""

_DE_ONES = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_DE_TEENS = "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_EN_ONES = "zero one two three four five six seven eight nine ten eleven twelve".split()
_EN_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_DE_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
_EN_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def german(n: int) -> str:
    """23 -> dreiundzwanzig, 101 -> einhunderteins, 2500 -> zweitausendfünfhundert."""
    if n >= 1000:
        return _german_unit(n // 1000) + "tausend" + (german(n % 1000) if n % 1000 else "")
    if n >= 100:
        return _german_unit(n // 100) + "hundert" + (german(n % 100) if n % 100 else "")
    if n >= 20:
        tens = _DE_TENS[n // 10 - 2]
        return _german_unit(n % 10) + "und" + tens if n % 10 else tens
    return (_DE_ONES + _DE_TEENS)[n]


def _german_unit(n: int) -> str:
    return "ein" if n == 1 else german(n)


def english(n: int) -> str:
    """23 -> twenty-three, 101 -> one hundred and one, 2500 -> two thousand five hundred."""
    if n >= 1000:
        rest = n % 1000
        link = " and " if 0 < rest < 100 else " "
        return english(n // 1000) + " thousand" + (link + english(rest) if rest else "")
    if n >= 100:
        return english(n // 100) + " hundred" + (" and " + english(n % 100) if n % 100 else "")
    if n >= 20:
        tens = _EN_TENS[n // 10 - 2]
        return f"{tens}-{english(n % 10)}" if n % 10 else tens
    return (_EN_ONES + _EN_TEENS)[n]


def german_ordinal_stem(n: int) -> str:
    """1 -> erst, 3 -> dritt, 12 -> zwölft, 21 -> einundzwanzigst; add the adjective ending."""
    if n < 20:
        return _DE_ORDINALS.get(n) or german(n) + "t"
    return german(n) + "st"


def english_ordinal(n: int) -> str:
    """1 -> first, 12 -> twelfth, 20 -> twentieth, 21 -> twenty-first."""
    head, dash, last = english(n).rpartition("-")
    if last in _EN_ORDINALS:
        last = _EN_ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return head + dash + last


def german_year(n: int) -> str:
    """1985 -> neunzehnhundertfünfundachtzig, 2013 -> zweitausenddreizehn."""
    if 1100 <= n < 2000:
        return german(n // 100) + "hundert" + (german(n % 100) if n % 100 else "")
    return german(n)


def english_year(n: int) -> str:
    """1985 -> nineteen eighty-five, 1900 -> nineteen hundred, 2013 -> two thousand and thirteen."""
    if 1100 <= n < 2000:
        century, rest = english(n // 100), n % 100
        if rest == 0:
            return century + " hundred"
        return century + (" oh " if rest < 10 else " ") + english(rest)
    return english(n)
