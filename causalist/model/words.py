"""Text with nothing but its words: what passes from those who read files to those who count words."""

_SPACED = bytes(c if chr(c).isalnum() or chr(c) == "_" else ord(" ") for c in range(128)) + bytes(range(128, 256))


def spaced(text: bytes) -> bytes:
    """UTF-8 with a space for each ASCII character that is no letter, digit or `_`, so that positions hold. What else
    stands between words is told apart when they are counted.

    >>> spaced("if (größe_2):\\xa0# ok".encode()).decode()
    'if  größe_2  \\xa0  ok'
    """
    return text.translate(_SPACED)
