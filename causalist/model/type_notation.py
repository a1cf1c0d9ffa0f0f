"""The notation of types and values in facts: what `parse` writes and `graph` reads."""


def split_top(text: str, separator: str) -> list[str]:
    """Split at separators outside of brackets.

    >>> split_top("A|[]<B|C>|(D,E)", "|"), split_top("", ",")
    (['A', '[]<B|C>', '(D,E)'], [''])
    """
    if separator not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
