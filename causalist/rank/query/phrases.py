"""What stands in prose and says nothing of the subject: courtesy, and the form of asking.

The phrases are those with which people begin, soften and end a question; a word of them that stands elsewhere counts.
"""

import re

from causalist._internal.lazy import expression

_FOR = r"for (?:your|the|this|all)(?: \w+){1,5}"
_COURTESY = expression(
    r"\b(?:hi|hello|hey|dear|good (?:morning|day|evening))\b"
    r"(?: (?:there|all|everyone|everybody|team|folks|guys))?[ ]?[,!.:]"
    rf"|\b(?:many |big )?thank(?:s| you)\b(?: (?:a lot|so much|very much|in advance|again|{_FOR}))?"
    r"|\b(?:kind |best )?regards\b|\bcheers\b[,!.]"
    r"|\bany (?:help|ideas?|hints?|pointers?|feedback|thoughts|suggestions?|advice|workarounds?)\b"
    r"(?: (?:is|are|would be|will be)(?: (?:much|greatly|highly))? (?:appreciated|welcome))?"
    r"|\bplease(?: let me know)?\b|\blet me know(?: if [^.!?\n]{0,80})?"
    r"|\b(?:i am|i'm|i would be|i'd be|happy|glad|willing) (?:happy |glad |willing )?to "
    r"(?:open|submit|send|make|create|provide|contribute|work on|help)\b[^.!?\n]{0,80}"
    r"|\b(?:i|we)(?: would|'d) (?:expect|like|love|appreciate|prefer|suggest|propose|assume|think)\b"
    r"(?: (?:that|it if|to see|to have))?"
    r"|\bit would be (?:very |really |so )?(?:nice|great|good|helpful|useful|cool|awesome|better|handy)\b"
    r"(?: (?:if|to have|to))?"
    r"|\b(?:is there|are there) (?:any|a|some) (?:way|chance|plans?|reason|possibility)\b"
    r"|\bis it possible (?:to|that)\b"
    r"|\bam i (?:missing|doing) something(?: wrong)?|\bas far as i (?:can tell|know|see|understand)\b"
    r"|\bi(?: a|')m not sure\b"
    r"|\bi (?:think|guess|believe|suppose|noticed|found|tried|assume|wonder|hope)(?: out)?\b(?: that)?"
    r"|\bgreat (?:work|project|library|job)\b|\b(?:could|can|would) (?:you|someone|anyone|somebody)\b"
    r"|\b(?:do|did|have) (?:you|someone|anyone)\b|\bsorry (?:if|for|about)\b",
    re.I,
)
_THING = r"(?:code|codebase|code base|functions?|methods?|class(?:es)?|files?|modules?|places?|logic|parts?|pieces?)"
_ASKING = expression(
    r"\bwhere (?:exactly )?in the (?:code base|codebase|code|source|sources|repo|repository|project)\b"
    # "which function or method that is responsible for"
    rf"|\b(?:the|a|which|what) (?:(?:piece|part|bit) of )?(?:the )?{_THING}(?:(?: (?:or|and) |/|, ){_THING})* "
    r"(?:that(?: is| are)?|which(?: is| are)?|where|(?:is |are )?(?:responsible|in charge)(?: for)?"
    r"|(?:is |are )?involved(?: in)?)\b(?: (?:responsible|in charge)(?: for)?)?"
    r"(?: (?:does|do|handles?|implements?|deals? with|takes care of)\b)?"
    r"|\b(?:show|tell|help|point|guide|walk) (?:me|us)\b"
    r"(?: (?:to|through|how|out|with))?(?: (?:understand|find|locate|see))?"
    r"|\b(?:i am|i'm|i was|we are|we're) (?:new to|trying to|looking for|wondering|interested in)\b"
    r"(?: (?:find|understand|locate|figure out|see|know))?"
    r"(?: this (?:project|code base|codebase|code|repo|repository|library))?"
    r"|\bi (?:want|need|wish) to (?:understand|know|find|see|locate)\b"
    r"|\bwhere (?:should|do|can|could) (?:i|we) (?:look|start|find)\b"
    r"|\b(?:how|where|why) (?:does )?(?:this|that|it|the following) (?:works?|happens?|is done)\b"
    r"|\b(?:this|that|the following) is (?:located|implemented|handled|defined|done)\b"
    r"|\b(?:located|implemented|defined)\b(?=\s*[?:])",
    re.I,
)


# Each phrase holds one of these, in small letters. To look for them first is quicker than to compile the expressions,
# which takes longer than many an answer, and most questions hold none.
_OF_COURTESY = (
    "hi", "hello", "hey", "dear", "good ", "thank", "regards", "cheers", "any ", "please", "let me know", "i am ",
    "i'm ", "i would be ", "i'd be ", "happy ", "glad ", "willing ", " would ", "i'd ", "we'd ", "would be",
    "there ", "possible", "am i ", "as far as", "not sure", "i think", "i guess", "i believe", "i suppose",
    "i noticed", "i found", "i tried", "i assume", "i wonder", "i hope", "great ", "could ", "can ", "would ",
    "you", "someone", "anyone", "sorry ",
)  # fmt: skip
_OF_ASKING = (
    "in the ", "code", "function", "method", "class", "file", "module", "place", "logic", "part", "piece", "show ",
    "tell ", "help ", "point ", "guide ", "walk ", "new to", "trying to", "looking for", "wondering",
    "interested in", "i want to", "i need to", "i wish to", "where should ", "where do ", "where can ",
    "where could ", "this ", "that ", "it ", "the following ", "located", "implemented", "defined",
)  # fmt: skip


def without_phrases(text: str) -> str:
    """Prose without courtesy and without the form of asking.

    >>> without_phrases("Hi all! Where in the code are users defined? Thanks in advance").split()
    ['are', 'users', '?']
    """
    for expression_of, words in ((_COURTESY, _OF_COURTESY), (_ASKING, _OF_ASKING)):
        # What is not ASCII may be another form of a letter.
        lowered = text.lower()
        if not text.isascii() or any(word in lowered for word in words):
            text = expression_of.sub(" ", text)
    return text
