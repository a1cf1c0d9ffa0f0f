"""Bytes that are not UTF-8 are input: what cannot be read is a question mark, and all positions stay as they are."""

import codecs

_QUESTION_MARKS = "causalist.question-marks"


def _question_marks(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "?" * (error.end - error.start), error.end


codecs.register_error(_QUESTION_MARKS, _question_marks)


def valid_utf8(data: bytes) -> bytes:
    """The same bytes with a question mark for each that is not UTF-8.

    A query that asks for the text of a node raises where that is not UTF-8.

    >>> valid_utf8(b"a\\xffb")
    b'a?b'
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", _QUESTION_MARKS).encode("utf-8")
    return data
