"""Numbers behind `count_tokens`, all of them measured against o200k_base.

Letter weights are a least-squares fit of the extra tokens of 227,000 distinct words: from 3,034 files of the Python
standard library, installed packages and /usr (Python, JavaScript, C headers, Perl, Markdown, JSON), half of the files
of werkzeug, urllib3, got and prisma, translation catalogues in 100 languages, and random letters. The other half of
the four repositories was kept for testing. They are weights of letter pairs and of hashed letter triples, no words.
"""

UNIT = 1000  # every integer below is in thousandths of a token

# A small margin that keeps under-counts below 1 in 1,000 for every type of file, over pieces of 50 to 20,000 characters
# of the test half and of fourteen other repositories.
SCALE = 1.02
MARGIN = 2.45

# Base of a word's sum: [prefix][case], prefix one of none, space, underscore, a common one, any other; case one of
# lower, capitalised, upper, mixed.
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


def _decoded(digits: str) -> tuple[int, ...]:
    values = {digit: (number - 32) * _STEP for number, digit in enumerate(_DIGITS)}
    return tuple(values[digit] for digit in digits)


# Letters are 0 to 25, 26 is the edge of a word, 27 any other letter. A pair (a, b) has place 28 a + b; a triple is
# hashed into TRIPLE_WEIGHTS.
PAIR_WEIGHTS = _decoded(
    "wnmpzysunomimn0grhpfoluuqqjrktqwqtuvrowoqxms1krtovpwswg1oyjymv0fmslrsznxtnuuhtuxmnfyttpsiyuymwrmwop2rrpwqzuorvc1"
    "gtoprmnsryxnmkmhwijkvskpwtYzorywllvxixutu0k5xryvn02rrveyrsnzozrpksxvqvsutprort2yrqe2on00mtwtqpyz0wjtut0iqvrrvtex"
    "opfllfnwroomtmqquilislwpumlttotysrvxrtpwzysqmsluqwxrzwlosowvpypulqpuvfwwqxsvszr6usgqmrsoj0vtlquqvsgpvrpkjlr5f0iy"
    "hhsug1twttyvomlmsywvs1utwuhsm1jjsrh4sunqvokvw3mmlpvwqxdyvuqhxnouospiqkqrpfmkksixruhwsvvskurmptwiszmr1rvornxtx0fu"
    "rty1xxywstxjoszsop4ubwwuwvkonuspizpyi0qqpqhopno0wpn0m1ernwrtokusq0qutzoqqvsqsqqqrxcqoxrpho0horrumzmtwqxlqvf3kxZu"
    "wjtemulzrwnfkkspyijlww1hwynroxtuivpxlsuxstsruvxyrroqtsktiywpv1vihstoynuuwlo1tpptuzgyxosvpwwpnq1spwyuu1wstuwlsskq"
    "rmrzxxyvruttrgmxvyskxulsjmWwsxwxpuv1mss00suszwy0sqqpqnitbgdfgffcgihiefhfhjaegggkklgpw1qu3xwnvwxxvvmzmzv3wsvlqqsm"
)
TRIPLE_WEIGHTS = _decoded(
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
