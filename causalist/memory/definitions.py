"""What a passage is *about*, not only what it names: names in its title, and terms that its list items begin with.

A passage that names an entity says little of it; one whose title it is, or that has it as the term of a definition,
says what it is. So from the best passages by words, the entities that they name lead to the documents which define
these.
"""

import re

from causalist.memory.entities import entity_id

_SEPARATOR = re.compile(r"\s+[—–:-]+\s+|:\s")
_SPAN = re.compile(r"`([^`]{1,80})`")
_NUMBER = re.compile(r"^\s*[\d.]+\s+")
_ARTICLE = re.compile(r"^(?:The|A|An)\s+")
_WHAT_IT_IS = re.compile(
    r"\s+(?:modules?|objects?|types?|functions?|packages?|class(?:es)?|statements?|librar(?:y|ies)|protocols?"
    r"|interfaces?|services?|teams?)$",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"^[ \t]{0,8}-[ \t]+(?:(?:class|exception|async|classmethod|staticmethod|abstractmethod|coroutine|type|int|void"
    r"|const|static|struct|char)[ \t]+|\*){0,4}`?([\w.]{2,80})`?",
    re.MULTILINE,
)
_MOST_TERMS = 200  # of a passage


def defined_names(text: str, title: object) -> list[str]:
    """Ids of what a passage is about, in the order found.

    >>> defined_names("- class csv.Sniffer()\\n\\nDeduces.", "13.1. `csv` — CSV File Reading")
    ['csv_—_csv_file_reading', 'csv', 'csv_file_reading', 'csv.sniffer']
    """
    found: dict[str, None] = {}
    if isinstance(title, str):
        whole = _NUMBER.sub("", title[:300])
        for part in (whole.replace("`", ""), *_SEPARATOR.split(whole), *_SPAN.findall(whole)):
            name = _ARTICLE.sub("", part.replace("`", "").strip())
            found.update(dict.fromkeys((entity_id(name), entity_id(_WHAT_IT_IS.sub("", name)))))
    found.update(dict.fromkeys(entity_id(match[1]) for match in _TERM.finditer(text)))
    found.pop("", None)
    return list(found)[:_MOST_TERMS]
