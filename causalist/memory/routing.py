"""Route of a query to a memory, by its words alone.

| Route | A query that |
|---|---|
| `exploratory` | asks for everything about a subject: overviews, lists, ideas, pros and cons |
| `multi_hop` | describes what it asks about instead of naming it, compares two things, or asks what connects them |
| `lookup` | is a name, or asks what a name means |
| `simple` | asks for one fact: everything else |

The rules read English question words. A query in another language is `simple`, or `lookup` if it is short and no
question. `tests/benchmarks/questions/memory_routes.tsv` has the questions that the rules were made and judged with.
"""

import re

from causalist.model.answer import Route

_MAX_CHARACTERS = 500
_MAX_LOOKUP_WORDS = 5
_IMPERATIVE = re.compile(
    r"(?:please |can you |could you )?(?:give (?:me )?(?:an? |some |the )?(?:overview|summary|examples?|ideas)|overview"
    r"|tell me (?:everything|all|more|about)|summari[sz]e|describe|explain|outline|discuss|brainstorm|introduce"
    r"|walk (?:me )?through|walk me|list|collect|gather|show (?:me )?(?:all|notes|everything)"
    r"|find (?:all|similar|notes)|ideas|background|everything|anything|highlights|state of the art|main|compare"
    r"|introduction to|summary)\b"
)
_BROAD = re.compile(
    r"\b(?:do (?:we|you|people) (?:know|think)|is known about|pros and cons|overview|in general|generally|usually"
    r"|best practices|lessons|trade-?offs|kinds of|types of|over time|opinions? on|has been (?:tried|done)|evolved"
    r"|should (?:a|an|i|we|new) .*know|information (?:is|exists)|options (?:are|exist)|resources)\b"
)
_BROAD_START = re.compile(
    r"(?:what are (?:the |our |your )?(?:\w+ )?(?!is\b)\w+s\b(?= (?:of|for|about|to|in|with|from|on|and|against)\b)"
    r"|(?:what|which) \w+[^s\W]s (?:are|is|were|do|did|have|has|came|come|connect|exist|there)\b"
    r"|how (?:do|does|are|is) .*\b(?:work|organi[sz]e|handled|interact|fit together)\b)"
)
_RELATIVE = re.compile(r"(?<=\w) (?:that|who|whose|whom|which|where|when|on which|in which|by which) (?!is\?|are\?)\w")
_START = re.compile(
    r"(?:(?:at|in|on|by|for|from|to|of|with|under|between|during|after|before) )?(?:what|which|who\w*|where|when)\b"
)
_COMPARED = re.compile(
    r"\b(?:both|the same|same \w+|the two)\b"
    r"|\b(?:\w+er|first|more|less|better|worse)\b.*\b(?:or|than)\b|\bor\b.*\b(?:first|earlier|later)\b|^between .* and "
    r"|, .+ or [^,]+\?$"
)
_CONNECTED = re.compile(
    r"\b(?:related to|connect(?:ed|s)? (?:to|with)|relationship between|relation between|influenced by|led to|caused by"
    r"|as a result of|link between|have in common|depends? on the)\b"
)
_NESTED = re.compile(r"\bof\b.*\bof\b|'s\b.*\bof\b|\bof\b.*'s\b|'s\b.*'s\b")
# The subject is a description, and the question asks what it does: "When did the husband of Clara Weiss die?"
_DESCRIBED = re.compile(
    r"\b(?:do|does|did|will|has|had) (?:the )?\w+ of\b"
    r"|\b(?:was|were|is|are) the \w+ (?:of|in|for) .+ (?:\w+ed|\w+en|born|from|down|off)\b"
    r"|\b(?:by|if|after|before|for|in|on|to|from) the \w+ (?:of|used|made|written|designed|located) "
    r"|\b(?:was|were|did|does|is|in|on|of|from|by|to) (?:\w+ ){1,4}?\w+'s \w+ \w+"
)
# Relations over two persons, and what is asked of a relative or an employer instead of a name.
_INDIRECT = re.compile(
    r"\b(?:grand(?:father|mother|child|son|daughter|parent)s?|\w+-in-law|uncle|aunt|cousin|nephew|niece|step\w+er)\b"
    r"|^(?:what|which) \w+ (?:is|was|does|did) (?:the \w+ of\b|.*'s \w+\??$)"
)
_MEANING = re.compile(
    r"(?:define|definition of|(?:the )?meaning of|glossary|abbreviation|acronym"
    r"|what does \S+(?: \S+)? (?:stand for|mean)\b|(?:what|who)(?: is| are|'s) (?:an? |the )?\S+(?: \S+)?\??$)"
)
_QUESTION = re.compile(
    r"(?:\w+ )?(?:what|which|who\w*|where|when|why|how)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|should|has|have|had|will)\b"
)


def choose_route(query: str) -> Route:
    """Return the route of a query.

    >>> [choose_route(each).value for each in ("max_connections", "When does the pool close?")]
    ['lookup', 'simple']
    >>> choose_route("Who manages the team that handles JWT authentication?").value
    'multi_hop'
    """
    text = " ".join(query[:_MAX_CHARACTERS].replace("’", "'").split()).lower()
    if _IMPERATIVE.match(text):
        return Route.EXPLORATORY
    if _MEANING.match(text):
        return Route.LOOKUP
    is_question = bool(_QUESTION.match(text)) or text.endswith("?")
    if not is_question and len(text.split()) <= _MAX_LOOKUP_WORDS:
        return Route.LOOKUP
    rest = text[match.end() :] if (match := _START.match(text)) else text
    is_linked = _RELATIVE.search(f"x{rest}") or _COMPARED.search(text) or _CONNECTED.search(text)
    if is_linked or any(pattern.search(text) for pattern in (_NESTED, _DESCRIBED, _INDIRECT)):
        return Route.MULTI_HOP
    if _BROAD.search(text) or _BROAD_START.match(text):
        return Route.EXPLORATORY
    return Route.SIMPLE
