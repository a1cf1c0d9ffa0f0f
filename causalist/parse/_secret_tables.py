"""What secrets look like: the tables behind `secrets`.

Two tables say which tokens are known by their form: plugins of detect-secrets with the group of each expression that is
the secret, and expressions of our own for what it has no plugin for. A third lists the names whose values are secret.
"""

from enum import Enum


class Rule(Enum):
    """What a value must be besides standing in the right place; see `secret_values`."""

    VARIED = "varied"  # the form says enough
    CHOSEN = "chosen"  # what a person may have chosen
    STRONG = "strong"  # what a machine has made


# (module, class, the group that is the secret for each expression of the class's denylist, rule). The last group goes
# for all expressions that follow. Groups are named here because the plugins hand out their first group whatever it is,
# and for some that is a prefix.
PLUGINS: tuple[tuple[str, str, tuple[int, ...], Rule], ...] = (
    ("aws", "AWSKeyDetector", (0, 1), Rule.VARIED),
    ("azure_storage_key", "AzureStorageKeyDetector", (0,), Rule.VARIED),
    ("basic_auth", "BasicAuthDetector", (1,), Rule.CHOSEN),
    ("discord", "DiscordBotTokenDetector", (0,), Rule.VARIED),
    ("github_token", "GitHubTokenDetector", (0,), Rule.VARIED),
    ("gitlab_token", "GitLabTokenDetector", (0,), Rule.VARIED),
    ("mailchimp", "MailchimpDetector", (0,), Rule.VARIED),
    ("pypi_token", "PypiTokenDetector", (0,), Rule.VARIED),
    ("sendgrid", "SendGridDetector", (0,), Rule.VARIED),
    ("slack", "SlackDetector", (0,), Rule.VARIED),
    ("square_oauth", "SquareOAuthDetector", (0,), Rule.VARIED),
    ("stripe", "StripeDetector", (0,), Rule.VARIED),
    ("telegram_token", "TelegramBotTokenDetector", (0,), Rule.VARIED),
    ("twilio", "TwilioKeyDetector", (0,), Rule.VARIED),
)

# Tokens without a plugin, or of a form that the plugin does not know. Group 1, where there is one, is the secret.
OWN_TOKENS: tuple[tuple[str, Rule], ...] = (
    (r"github_pat_[A-Za-z0-9_]{22,255}", Rule.VARIED),
    (r"gh[opusr]_[A-Za-z0-9]{36,255}", Rule.VARIED),
    (r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_.\-]{20,600}", Rule.VARIED),
    (r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,250}", Rule.VARIED),
    (r"(?i:hooks\.slack\.com/(?:services|workflows|triggers)/)([A-Za-z0-9_/]{20,250})", Rule.VARIED),
    (r"(?:(?:[rs]k_(?:live|test)|whsec)_)[A-Za-z0-9]{20,250}", Rule.VARIED),
    (r"npm_[A-Za-z0-9]{36}", Rule.VARIED),
    (r"_(?:authToken|auth|password)\s{0,9}=\s{0,9}([A-Za-z0-9+/=_-]{16,250})", Rule.STRONG),
    (r"pypi-[A-Za-z0-9_-]{50,600}", Rule.VARIED),
    (r"sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,250}", Rule.VARIED),
    (r"sk-[A-Za-z0-9]{32,64}", Rule.VARIED),
    (r"sk-(?:[A-Za-z0-9_]{1,40}-){0,4}[A-Za-z0-9_-]{20,100}?T3BlbkFJ[A-Za-z0-9_-]{20,100}", Rule.VARIED),
    (r"AIza[0-9A-Za-z_-]{35}", Rule.VARIED),
    (r"ya29\.[0-9A-Za-z_-]{20,600}", Rule.VARIED),
    (r"GOCSPX-[0-9A-Za-z_-]{20,250}", Rule.VARIED),
    (r"(?i:Account|SharedAccess)Key=([A-Za-z0-9+/]{42,86}={0,2})", Rule.VARIED),
    (r"[?&]sig=([A-Za-z0-9%+/]{40,250}={0,2})", Rule.VARIED),
    (r"hf_[A-Za-z]{30,40}", Rule.VARIED),
    (r"do[opr]_v1_[a-f0-9]{64}", Rule.VARIED),
    (r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", Rule.VARIED),
    (r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,250}", Rule.VARIED),
    (r"hv[sb]\.[A-Za-z0-9_-]{24,250}", Rule.STRONG),
    (r"(?:lin_api|glc|glsa|PMAK|NRAK|dapi|sntry[su]|AGE-SECRET-KEY)[-_][A-Za-z0-9_-]{24,250}", Rule.STRONG),
    (r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}", Rule.STRONG),
    (r"eyJ[A-Za-z0-9_-]{8,8000}+\.eyJ[A-Za-z0-9_-]{8,8000}+(?:\.[A-Za-z0-9_-]{0,8000})?", Rule.VARIED),
    (r"://[^\s:/@\"'`\\<>{}]{0,100}:([^\s:/@\"'`\\<>{}]{3,250})@[\w.\[-]", Rule.CHOSEN),
)

# Names whose values are secret. What people choose themselves is short, so that little is asked of it; the value of the
# other names has to look as if a machine had made it.
PASSWORDS = r"passw(?:or)?d|passphrase|passcode|pwd|contrase(?:n|\xc3\xb1)a|(?:(?<=[_-])|\b)pass(?![a-z])"
_OF_KEYS = (
    "api", "auth", "access", "account", "admin", "app", "client", "consumer", "cookie", "database", "db", "deploy",
    "encrypt", "encryption", "hmac", "jwt", "license", "licence", "master", "priv", "private", "root", "service",
    "session", "shared", "sign", "signing", "signature", "storage", "webhook",
)  # fmt: skip
KEYS = (
    r"secret|token|credential|bearer|(?:(?<=[_-])|\b)(?:salt|hmac|sid)(?![a-z])"
    rf"|(?:{'|'.join(_OF_KEYS)})[_-]?key"
)
# What each of these names begins with, in lower case. An expression whose alternatives all begin with a letter of their
# own is much faster than one that has no regard for case.
NAMES_BEGIN = "|".join(
    (
        "pass", "pwd", "contrase", "secret", "token", "credential", "bearer", "salt", "hmac", "sid",
        *(f"{each}[_-]?key" for each in _OF_KEYS),
    )
)  # fmt: skip

# Values that stand for a secret and are none: these letters and no others, or one of these parts.
TRIVIAL = frozenset(
    (
        "a", "aa", "aaa", "abc", "abcd", "abcdef", "admin", "anonymous", "api", "auth", "bar", "baz", "changeme",
        "correct", "default", "demo", "dev", "dummy", "fake", "false", "foo", "foobar", "guest", "guess", "hello",
        "hidden", "invalid", "key", "letmein", "localhost", "login", "mock", "my", "mypass", "mypassword", "mysecret",
        "mytoken", "name", "new", "newpassword", "nil", "none", "null", "old", "pass", "passw", "password", "passwd",
        "postgres", "private", "public", "pw", "pwd", "qux", "qwerty", "root", "sample", "secret", "secretkey", "some",
        "somepassword", "sometoken", "string", "supersecret", "test", "tester", "testing", "testpass", "testpassword",
        "testtoken", "testuser", "token", "true", "undefined", "unknown", "user", "username", "userpass", "value",
        "wrong", "wrongpassword", "x", "xx", "xxx", "xxxx", "y", "yyy", "z", "zzz",
    )
)  # fmt: skip
PLACEHOLDER_PARTS = ("example", "changeme", "change-me", "change_me", "placeholder", "your", "redacted", "insert",
                     "replace", "todo", "dummy", "xxxx", "....", "****", "lorem")  # fmt: skip
