"""Token estimate of a text, without a vocabulary.

In: a text. Out: an estimate of what an o200k-like byte-pair tokenizer counts, meant to be an upper bound. The text is
cut into pieces by the rules of such a tokenizer, which is nearly exact; what is estimated is only how many tokens a
piece has beyond its first: none for common short words, more for rare spellings, long identifiers, shouted or mixed
case, unusual prefixes, runs of punctuation and characters outside of ASCII. With `c` the number of times that a piece
occurs and `x` its expected extra tokens,

    count = ceil(sum(c) + SCALE * sum(c * x) + MARGIN * sqrt(sum(c² * x)))

The last term is the margin for what the text at hand may do otherwise: extra tokens scatter about as a Poisson variable
does (variance = mean, measured), and a piece that repeats errs the same way each time. Sums and a Euclidean norm are
subadditive, so a budget can be planned by parts: `count_tokens(a + b)` exceeds `count_tokens(a) + count_tokens(b)` only
by what a word costs that the joint itself creates. A caller that plans by parts still counts the whole at the end.

It does not reproduce any tokenizer: pass an exact `Counter` where the exact number matters.

The tables below are measured against o200k_base. Letter weights are a least-squares fit of the extra tokens of 227,000
distinct words: from 3,034 files of the Python standard library, installed packages and /usr (Python, JavaScript, C
headers, Perl, Markdown, JSON), half of the files of werkzeug, urllib3, got and prisma, translation catalogs in 100
languages, and random letters. The other half of the four repositories was kept for testing. They are weights of letter
pairs and of hashed letter triples, no words.
"""

import math
import re
from bisect import bisect_right
from collections import Counter as Tally
from functools import cache
from typing import Protocol

from causalist._internal.lazy import lazy_regex
from causalist.errors import ExtraMissing, UsageError

UNIT = 1000  # every integer below is in thousandths of a token

# A small margin that keeps under-counts below 1 in 1,000 for every type of file, over pieces of 50 to 20,000 characters
# of the test half and of fourteen other repositories.
SCALE = 1.02
MARGIN = 2.45

# Base of a word's sum: [prefix][case], prefix one of none, space, underscore, a common one, any other; case one of
# lower, capitalized, upper, mixed.
INTERCEPTS = (
    (-683, -686, -302, -84),
    (-1007, -743, -402, -187),
    (-502, 49, -175, 87),
    (-319, -1, 523, 309),
    (304, 421, 824, 340),
)
HINGE = 600  # half of the width in which the extra tokens of a word bend from 0 to its sum

# Extra tokens of a punctuation piece by its number of runs of one character.
PUNCTUATION_EXTRAS = (0, 20, 62, 252, 629, 1076, 1822, 2764, 3007)
# More for what markup is full of, measured on a million pieces of twelve other repositories in eleven file types: a
# backtick among the runs (by their number), a run of four or more (alone or among others), either before a line's end.
BACKTICK_EXTRAS = (0, 0, 220, 680, 800)
BACKTICK_LINE_END = 500
LONG_RUN, LONG_RUN_AMONG, LONG_RUN_LINE_END = 210, 1000, 1360

# Pieces of three and more runs, or with a backtick, that are one token all the same: those 80 that would cost most
# otherwise in the same million pieces.
ONE_TOKEN = frozenset(
    (
        ' "../../', ' "./', ' "{\\"', " '../../", " '../../../", " './", ' [`', ' `\n', ' `${', ' ```\n', ' }),\n',
        ' });\n', ' });\n\n', ' }}</', '"),\n', '").', '");\n', '");\n//', '","', '":"', '":{"', '"></', '"],',
        '"],\n', '"]["', '"},\n', '"},{"', "')).", "'),\n", "').", "');\n", "');\n\n", "']).", "']);\n", "'],\n",
        '("/', '("/",', '("\\"', "('/", "('/')\n", "('/',", '()).', '());\n', '(),', '(),\n', '()->', '().', '();\n',
        '();\n\n', '()`', '.\n//', '.\n//\n//', '.\n///\n///', '.",\n', '.","', '/",\n', '//\n//', ':",\n', ':`',
        '<>();\n', '="/', '="{{', '>()\n', '></', '>`', '\\",\\"', '\\":', '\\":\\"', '\\":{\\"', '`\n', '`\n\n',
        '`,', '`.', '`.\n', '`.\n\n', '`]', '`](', '}\n\n//', '}/{', '}`',
    )
)  # fmt: skip

_STEP = 40
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _decode_digits(digits: str) -> tuple[int, ...]:
    values = {digit: (number - 32) * _STEP for number, digit in enumerate(_DIGITS)}
    return tuple(values[digit] for digit in digits)


# Letters are 0 to 25, 26 is the edge of a word, 27 any other letter. A pair (a, b) has place 28 a + b; a triple is
# hashed into TRIPLE_WEIGHTS.
PAIR_WEIGHTS = _decode_digits(
    "wnmpzysunomimn0grhpfoluuqqjrktqwqtuvrowoqxms1krtovpwswg1oyjymv0fmslrsznxtnuuhtuxmnfyttpsiyuymwrmwop2rrpwqzuorvc1"
    "gtoprmnsryxnmkmhwijkvskpwtYzorywllvxixutu0k5xryvn02rrveyrsnzozrpksxvqvsutprort2yrqe2on00mtwtqpyz0wjtut0iqvrrvtex"
    "opfllfnwroomtmqquilislwpumlttotysrvxrtpwzysqmsluqwxrzwlosowvpypulqpuvfwwqxsvszr6usgqmrsoj0vtlquqvsgpvrpkjlr5f0iy"
    "hhsug1twttyvomlmsywvs1utwuhsm1jjsrh4sunqvokvw3mmlpvwqxdyvuqhxnouospiqkqrpfmkksixruhwsvvskurmptwiszmr1rvornxtx0fu"
    "rty1xxywstxjoszsop4ubwwuwvkonuspizpyi0qqpqhopno0wpn0m1ernwrtokusq0qutzoqqvsqsqqqrxcqoxrpho0horrumzmtwqxlqvf3kxZu"
    "wjtemulzrwnfkkspyijlww1hwynroxtuivpxlsuxstsruvxyrroqtsktiywpv1vihstoynuuwlo1tpptuzgyxosvpwwpnq1spwyuu1wstuwlsskq"
    "rmrzxxyvruttrgmxvyskxulsjmWwsxwxpuv1mss00suszwy0sqqpqnitbgdfgffcgihiefhfhjaegggkklgpw1qu3xwnvwxxvvmzmzv3wsvlqqsm"
)
TRIPLE_WEIGHTS = _decode_digits(
    "VekflndeJhsdedjkakkepmhdrjohYRicbkmmjohbkgncikbcjomjjeoiedfihleohqlidnofrhmiZfqifjfriikgickmqhkkkimfltnyglZmjjgn"
    "hnnkllahZouioegcghdmhhlrgyaakihnlkrnjkgkhgichiYgqheiapeojdhjflgkdmiihvepmqmkkhidckqdhvrmZgadfZmgjemieenodgomlhmc"
    "ffmheenjleVgljolmniqkXgjdeilbjhiimbijoelbldgijsfTngighkbplpegfiirpejnZemmntijmffoqpemjfdZojlnjfkjlikQnhlfblXuigg"
    "lkrgnZhhigjjUckfljpggllZgllllWqhhcvkmabejfoighhbgiikkYnhrlapqkkqbdeauVkhpjpOqjhjmlqjmfbghbjbWhngekhqojjcfqgcdlhx"
    "gmkdocoifqghngeilhlmqhvghikncdvZhjogcjhsloegfjljfjgxqlYkgtnmtmlikqgegYjlennemlfUnpnofgdkdjhdqininnhkikjkihVohmfo"
    "lgsajlnldfdcipgnnchgXjhkgbiklliqoqZURjrhkkleincYhZYljgjgccmjllZjshogZdZnedmnlRklhlYijsbpjnhcpdhnqcmmqUelniiqkrjc"
    "ekqhhgdmfakgZlcnoicgfgbtgjpncjfjmdjfgkhifigfjifegbZolikjfskajfdbjjjfnkchhkfscjYlZUrfgpskkpfqihZahprdlglTaiikafni"
    "iWhkkYjqgfnhdhoelljikmdishZirpinfjleseogjkihhnhohmmcufasichnkpscgilgmXgXlnViqshcmhcmWTaihngomifbonmheggegfogtir4"
    "hdkimllljliaflluldhespcgkjljiofmflhiihnYgjjcfopleliZXrogZjkgofiBiihieolkieUfqkhonfqeimjnmgYolphdjihmcSckkeqYkhqn"
    "oafibhjgfigefmcnfmjkgcToXsdemjcibklklsssjlxkihZnjgrmgdmgqhidnrlZcibdgimjmoZmqhknulefifjglnkehs0jfmjlkjcgonWnniej"
    "kpcihuhtvigtgmkbiecjpemsqmhgWhqollWslTgginYkmnZkWjcqgYigTckongcmbgaihkfejmoghnqfwjleomiijgZVlnmmjfhjiiioneejkkom"
    "ikhhanffbhllpcicmiYihdfjarjejpmddahddWeachplaktciyhmnntgVYkssmXjimdZkojdgtmdlpimlpnngffeegdegZklmjdlblnpfplcjhei"
    "gjrcgUmignqirjoZdhdjmkodiidicecYhhemelklmijcslfklkndrqaecbefhkkpkhamhhmfqksfhacnjsfdireipdmdiqetkhejjeelokiklllb"
    "afceclfVqopdgdevihhfnjreolgiflegibkhpashWeToiVkgkjnalYYkiknwdrjYkfmiodhjVpknkdgkqmipgbdzSleqqfkyoehnjdqemojdbflo"
    "nohhgchngiArmjsYenfjnfgmcflxkoshlljmofqtpjnjjqdgfjbiajmgogphjfljjiihkkclcnlihawslXokbnmmfVinkghohbmhmjiiafnmkkpk"
    "phXVhjlehgkemhoflrlfgjjlhdfgbhlljlqcrgkZZjhgfUlhebnkmihrqmpkeXnsnhdkagmcnbfjkbhhidbidpYuhfqjxdimerkliqggoneogdii"
    "kffliokmkpbplnedmnohmhcjnVjlclillhiekljmgfjmlpiZkpgjcggilljggrikgoikfmeljjwitgmZilolecffinmdhZskhnjomjhsbmimWljg"
    "ffroTlVsbtmjhgsgmnhphnsjejfhfedlZieZhXgcgihmhneoibSelfijahnugkeljdhlebggkhmjoechkWindchfqvorfgihnigiblekjdoeYipm"
    "eclfllkeplifffflebrqpokrekiajcdqmhlirjjiplgdVkkolaeghYlklrleNglYpndmjqccplnWsldjgVnjeaeglkojmkivpheigUkmfknrmsig"
    "ohlhniUjmpcjJxkekkigejmhfloajsjkgodXmXguekkmguomjjkaohkpkhnrqigipkithshheiqihghgjnfoWhguimkYbbhkpebkneVjgemedhlb"
    "tfknnlbojkjfgkdfmmhgegmhljknjZhhljopymnmukhYhpfhsawlnkccZjathpjjhmmimigckvnmkmrimnsimgmmwjjhkgnjkcgwjrgiinnjrfYl"
    "ninlekbmdegWmfgrdnojmfehgnloiSilWiphnklhfkiflYpkhdbkihrdYjkheenmnYbjdjhckdmjdlpeafijnlffcemijrnrkgjgkZpbdegjjicl"
    "ZjfbZmgjnbnglglkmckfllgynddhqqolegnnliioXZsibaVntehkehnlhifnSfjmasehdhpUUhvhpmqkhhilengggjkqafpgmhkenkfnkfkmYjie"
    "faambZailsfXdmSiigieckiohtelbolfehclaPhliklnppmegbjbegkmmlmfihwbcainkmkbejpnlfffdiYpgZwcZhoiiTfprrtnVkjomginihce"
    "jknckoeehplfpednhelbhhVneYeqanihcoZpVmivhdgVmgijZekfjlijijedjfcncoigeeceTnjlpfklhulbonpehfmopjjijlfginckjkolfjki"
    "pefkjkomosplggZlmffnxirnhfkmZjjcdicUogtkkoorfklekTqafhfZfjrclisYZbmllmZlmgpeplkkhvmhSijkmbrucdZqesehkeZfjeljgfkg"
    "jdgchamYkmomgbcbhfjhkpcckkeohlmflefcrlbqlsiiejegtmhngmgakicfffnkpgfZnehoYjjsmhYjnkqihnwwmigkedgedolShcmjgXqeqqth"
    "jmkhhjZejiiVxlphejahpTgRhimjcmhdkshngdbqlhkedjldjshjdmnmnchgnigcdcmmsnqWYcjoffgcklfMnqbmppkgjkVmfrfjaklnmhkkmiim"
    "lRpYdjgkfmpenikqdgosiggpemihcfmiomZcbchZrjqneZtbhomYrqmjjggfVglijhkeppcbdhYkbidjreojheicgnhjVhhjllfqrgfhnYprYgWn"
    "kknopdfeiniiVgVYephcXfjlfngjphnUgihZkcmkpbhfXjgarnjoZeicYdXeilkUhneecrjnmloiYllYmbcwfnkjcelgfopknZglmcUbffcjijik"
    "nqZmtgfjijkqpfZkohphjWkorbdgWhihhlhjjoffjjjfVkfWlfchkfUiledlojigkdiciabgeiOpnngkgmcbhfmejcdqljajlkdhhaqhqgfjemfk"
    "lrprwiYebfkghegffkkggdlijgdhndkkmpmglhttijotmionickqXgmYqYgZykhiorbXoiwSabocfjpUpaZefhlkhehcknchaomokjjiZgdbfgeh"
    "didkrhllnfgjeijjncbmlljjhmanjjjiolqpniholmXhlgg3mggotemgVhvhlYfrggncnhqjvoegksegghehTtoanlccinfXckgZjZiipuccjhmf"
    "gkcemeeXonlmjcgdlkYsaqhfgnfhpdeylnqpmahejdbpmZmjUmjqigeibhllnlgbmqmmlbpmqmmefpejirikjmnklgkZjlgjknepiYlenmlYgddn"
    "elhYiglofqbjkejjglhjkeggZkgikRdehfijVfmqgjPmmnlmiihkmnhnekZjfrtlXaeeeiflenbSmjciWmqmlkbmtfoofLpcdnghejchfpkhitkm"
    "kbreejhceglicYngahZqlyscmlkhcdjgkksjirkgbjfjqdhhvfXlpacghipqdgngfkkhgogjgioiiohjajtmgnpcpgiuidhtjlibngfdljacegmj"
    "khlpndjdoijnjhghnkfpuhdlqgmodnfihffgemhjhlkSmagWkqehpbokli4bnphh"
)

# First code point of each class of characters outside of ASCII, and its tokens a character.
_CLASSES = (
    (0x00000, 700),  # Latin-1 signs
    (0x00250, 700),  # phonetic
    (0x00300, 600),  # combining
    (0x00370, 400),  # Greek
    (0x00400, 300),  # Cyrillic
    (0x00530, 420),  # Armenian, Hebrew, Arabic
    (0x00700, 1300),  # rarer scripts
    (0x00900, 450),  # scripts of India
    (0x00B00, 900),  # Odia
    (0x00B80, 560),  # scripts of India
    (0x00E00, 450),  # Thai
    (0x00E80, 1300),  # rarer scripts
    (0x010A0, 360),  # Georgian
    (0x01100, 700),  # rarer scripts
    (0x02000, 700),  # general punctuation
    (0x02100, 1100),  # symbols and arrows
    (0x02500, 800),  # boxes
    (0x025A0, 1500),  # shapes
    (0x02600, 1700),  # signs
    (0x02800, 2000),  # rarer signs
    (0x03000, 900),  # punctuation of East Asia
    (0x03040, 620),  # kana
    (0x03100, 2500),  # rarer ideographs
    (0x04E00, 880),  # ideographs
    (0x0A000, 3000),  # rarer scripts
    (0x0AC00, 650),  # Hangul
    (0x0D7B0, 3000),  # private use
    (0x0FF00, 1000),  # full width
    (0x0FFF0, 2000),  # specials
    (0x10000, 4000),  # beyond the basic plane
    (0x1F000, 2400),  # emoji
    (0x1FB00, 4000),  # beyond
)
CHARACTER_CLASSES = tuple(start for start, _ in _CLASSES)
CLASS_RATES = tuple(rate for _, rate in _CLASSES)


# What packs call the counter of this module.
ESTIMATE = "estimate"
O200K = "o200k"


class Counter(Protocol):
    """Anything that says how many tokens a text has; an exact tokenizer fits."""

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens of `text`."""
        ...


def get_counter(tokenizer: str) -> Counter:
    """Return the counter that packs call `tokenizer`: "estimate", or "o200k", which is exact.

    Raises UsageError for another name, and ExtraMissing where the packages of "o200k" are not installed.
    """
    if tokenizer == ESTIMATE:
        return count_tokens
    if tokenizer == O200K:
        return _exact_counter()
    raise UsageError(f"unknown tokenizer {tokenizer!r}; known are {ESTIMATE}, {O200K}")


@cache
def _exact_counter() -> Counter:
    try:
        import bpe_openai
    except ImportError:
        raise ExtraMissing(
            f'the tokenizer {O200K} needs bpe-openai, which is not installed; run: pip install "causalist[tokens]", '
            "or leave --tokenizer out for an estimate"
        ) from None
    encode = bpe_openai.get_encoding("o200k_base").encode_ordinary
    return lambda text: len(encode(text))


# Latin letters beyond ASCII take part in words; those whose case does not follow from the block count as lower case.
_LOWER = "a-zß-öø-ɏḀ-ỿ"
_UPPER = "A-ZÀ-ÖØ-Þ"
_SPACE = r" \t\x0b\x0c"

# Every character falls into exactly one piece, and no alternative backtracks over what it will not take.
_PIECE = lazy_regex(
    rf"(?:[^\w\r\n]|_)?(?:[{_UPPER}]*+[{_LOWER}]++(?:'(?:s|t|re|ve|m|ll|d))?|[{_UPPER}]++)"
    r"|[0-9]{1,3}+"
    r"| ?[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]++[\r\n/]*+"
    rf"|[{_SPACE}\r\n]*[\r\n]"
    rf"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]++"
    rf"| ?[^\x00-\x7f{_LOWER}{_UPPER}]{{1,64}}+"
    r"|[\s\S]",
)
_WORD = lazy_regex(rf"([^\w\r\n]|_)?([{_LOWER}{_UPPER}]+)(?:'[a-z]+)?")
_CONTROL = lazy_regex(r"[\x00-\x08\x0e-\x1f\x7f]")
_RUN = lazy_regex(r"(.)\1*", re.DOTALL)

_COMMON_PREFIXES = frozenset("./\t(-\"'")
_EDGE, _OTHER_LETTER = 26, 27
_MULTIPLIER, _MODULUS = 40503, 65521
_MAX_CACHED_CHARACTERS = 64
_LONG_RUN_THRESHOLD = 4
_CACHE_SIZE = 1 << 15


def count_tokens(text: str) -> int:
    r"""Return an estimate of the tokens of `text`, seldom below what an o200k-like tokenizer counts.

    >>> count_tokens(""), count_tokens("def f(x):\n    return x\n")
    (0, 9)
    """
    pieces = _PIECE.findall(text)
    total, extra, square = len(pieces), 0, 0
    known = _known.get
    for piece, count in Tally(pieces).items():
        beyond = known(piece)
        if beyond is None:
            beyond = _learn_piece(piece)
        if beyond:
            extra += count * beyond
            square += count * count * beyond
    if not extra:
        return total
    return total + math.ceil((SCALE * extra + MARGIN * math.sqrt(square * UNIT)) / UNIT)


def _extra(piece: str) -> int:
    """Return the expected tokens of `piece` beyond its first, in 1/UNIT."""
    word = _WORD.fullmatch(piece)
    if word is not None:
        return _word_extra(word[1], word[2])
    if not piece.isascii():
        return max(0, _other_extra(piece))
    if piece.isspace():
        return _space_extra(piece)
    if piece[0].isdigit():
        return 0
    return _punctuation_extra(piece)


# A pack is priced in many parts that share most of their pieces, and a look-up is all that most of them cost.
_known: dict[str, int] = {}


def _learn_piece(piece: str) -> int:
    beyond = _extra(piece)
    if len(piece) <= _MAX_CACHED_CHARACTERS:
        if len(_known) >= _CACHE_SIZE:
            _known.clear()
        _known[piece] = beyond
    return beyond


def _word_extra(prefix: str | None, letters: str) -> int:
    """Return the sum of the weights of its letter pairs and triples, bent smoothly to 0 where the sum is negative."""
    if prefix is None:
        before = 0
    elif prefix == " ":
        before = 1
    elif prefix == "_":
        before = 2
    else:
        before = 3 if prefix in _COMMON_PREFIXES else 4
    lower = letters.lower()
    if letters == lower:
        case = 0
    elif letters[1:] == lower[1:]:
        case = 1
    else:
        case = 2 if letters.isupper() else 3
    codes = [_EDGE]
    codes += [code if 0 <= (code := ord(letter) - 97) < 26 else _OTHER_LETTER for letter in lower]
    codes.append(_EDGE)
    total = INTERCEPTS[before][case]
    triples = len(TRIPLE_WEIGHTS)
    pair = 28 * codes[0] + codes[1]
    for code in codes[2:]:
        total += PAIR_WEIGHTS[pair] + TRIPLE_WEIGHTS[(pair * 28 + code) * _MULTIPLIER % _MODULUS % triples]
        pair = pair % 28 * 28 + code
    total += PAIR_WEIGHTS[pair]
    if total >= HINGE:
        return total
    return (total + HINGE) ** 2 // (4 * HINGE) if total > -HINGE else 0


def _punctuation_extra(piece: str) -> int:
    """Return the expected tokens of punctuation beyond its first.

    They depend on the number of runs of one character, and on what markup makes of them. A long run costs one more
    token for about every 32 characters.
    """
    if piece in ONE_TOKEN:
        return 0
    runs = [match.end() - match.start() for match in _RUN.finditer(piece.strip(" \r\n"))]
    step = len(PUNCTUATION_EXTRAS) - 1
    extra = PUNCTUATION_EXTRAS[min(len(runs), step)] + max(0, len(runs) - step) * UNIT * 3 // 4
    extra += sum((length - 16) * UNIT // 32 for length in runs if length > 16)
    ends_line = piece.endswith(("\n", "\r"))
    if "`" in piece:
        extra += BACKTICK_EXTRAS[min(len(runs), len(BACKTICK_EXTRAS) - 1)]
        extra += BACKTICK_LINE_END if ends_line and len(runs) == 1 else 0
    if max(runs, default=0) >= _LONG_RUN_THRESHOLD:
        extra += LONG_RUN if len(runs) == 1 else LONG_RUN_AMONG
        extra += LONG_RUN_LINE_END if ends_line and len(runs) == 1 else 0
    return extra if piece.isprintable() else extra + len(_CONTROL.findall(piece)) * UNIT * 5 // 8


def _space_extra(piece: str) -> int:
    """Any usual mixture of newlines and indentation is one token; long runs and many changes are not."""
    if len(piece) <= 16 and piece.count("\n") <= 2:
        return 0
    runs = [(match[1], match.end() - match.start()) for match in _RUN.finditer(piece)]
    extra = max(0, len(runs) - 3) * UNIT * 5 // 8
    for character, length in runs:
        free = 64 if character == " " else 16
        extra += max(0, length - free) * UNIT // free
    return extra


def _other_extra(piece: str) -> int:
    """Characters outside of ASCII: a rate for each class; a repeated character is cheap."""
    extra = -UNIT // 2
    previous = ""
    for character in piece:
        rate = CLASS_RATES[bisect_right(CHARACTER_CLASSES, ord(character)) - 1]
        extra += rate // 4 if character == previous else rate
        previous = character
    return extra
