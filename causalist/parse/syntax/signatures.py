"""The signature of a definition: its text before the body, on one line."""

import re

from causalist.parse.syntax.scopes import Draft, Scopes

_LONGEST = 240
_OPENER = re.compile(r"(?:\s*(?:=>|[:{=]))*\s*$")  # what opens a body is no part of a signature
_OPEN_ENDS = (",", "(")  # of a line that goes on in the next
_ATTRIBUTE = re.compile(r"\s*#\[(?:[^\[\]\"']|\[[^\[\]]*\]|\"[^\"]*\"|'[^']*')*\]\s*")
_BRACKETED = re.compile(r"\s*\[(?:[^\[\]\"']|\[[^\[\]]*\]|\"[^\"]*\"|'[^']*')*\]\s*(?=[\w\[])")
_ANNOTATION = re.compile(r"\s*@(?!interface\b)[\w.:]+\s*(?:\((?:\"(?:\\\\.|[^\"\\\\])*\"|\([^()]*\)|[^()\"])*\)\s*)?")


def signature_of(draft: Draft, scopes: Scopes) -> str:
    if draft.signature:
        return draft.signature
    typed_before = scopes.settings.types.before_names or scopes.settings.types.beside_names
    start = draft.span_start if typed_before or scopes.settings.names.bare_calls else draft.start
    if scopes.settings.types.prefixed and scopes.data[draft.span_start : start].strip().isalpha():
        start = draft.span_start  # the keyword before what stands alone in its declaration
    end = draft.body if draft.body >= 0 else min(draft.end, draft.start + _LONGEST)
    text = scopes.written(start, min(end, start + 4 * _LONGEST))
    if typed_before or scopes.settings.names.members_are_visible:
        text = without_annotations(text)
    if draft.body < 0:
        text = _first_lines(text)
    text = " ".join(text.split())
    text = _OPENER.sub("", text)
    if draft.is_named_behind:
        text = f"{text} {draft.name}"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _first_lines(text: str) -> str:
    """The first line, and those after it until parentheses that it opens are closed: parameters over several lines.

    >>> _first_lines("Get(a int,\\n  b int) error\\nPut()"), _first_lines("a = 1\\nb = 2")
    ('Get(a int,\\n  b int) error', 'a = 1')
    """
    line, _, rest = text.partition("\n")
    while rest and line.count("(") > line.count(")") and line.rstrip().endswith(_OPEN_ENDS):
        more, _, rest = rest.partition("\n")
        line = f"{line}\n{more}"
    return line


def without_annotations(text: str) -> str:
    """A signature without the annotations before it.

    >>> without_annotations('@Get(path = ")") @Deprecated public void f()')
    'public void f()'
    >>> without_annotations("#[Get(paths: ['/a'])] #[Old] public function f()")
    'public function f()'
    >>> without_annotations('[Get("/[a]")] [Old] public void F(int[] a)'), without_annotations("[[nodiscard]] int f()")
    ('public void F(int[] a)', 'int f()')
    """
    while matched := _ANNOTATION.match(text) or _ATTRIBUTE.match(text) or _BRACKETED.match(text):
        text = text[matched.end() :]
    return text
