"""What stands in prose and says nothing of the subject: courtesy, and the form of asking.

The phrases are those with which people begin, soften and end a question; a word of them that stands elsewhere counts.
"""

import re

from causalist.lazily import expression

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


def without_phrases(text: str) -> str:
    """Prose without courtesy and without the form of asking.

    >>> without_phrases("Hi all! Where in the code are users defined? Thanks in advance").split()
    ['are', 'users', '?']
    """
    return _ASKING.sub(" ", _COURTESY.sub(" ", text))
