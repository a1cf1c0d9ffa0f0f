"""Which files stay out, by name and by content, as tables; what comes in is a path or bytes, what goes out a reason.

The tables know nothing of git or of a disk, so that a folder and a git tree are held to the same rules. Names are
compared in lower case: `ID_RSA` is as secret as `id_rsa`. A suffix that is text in one language and binary in another
(`.mo`, `.dat`, `.obj`, `.pth`) is not listed: the content decides.

Ignore files at every level -> is this path ignored? pathspec translates patterns, git's order of rules is kept here.

pathspec alone judges a path as a whole, so that `!keep/` brings back `keep/secret/x` although `secret/` is ignored.
Git judges level by level: the path's own name, never a name above it, because a folder that is ignored is not
entered. A mark at the end of pattern and path makes pathspec do the same. Not covered: a bracket with a slash inside.
"""

import os
import re
from enum import StrEnum
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Reason(StrEnum):
    """Why a file is not indexed. The values are the keys of `Scan.skipped`."""

    SECRET = "secret"
    BINARY = "binary"
    WIDE = "UTF-16"
    LOCK_FILE = "lock file"
    MINIFIED = "minified"
    GENERATED = "generated"
    VENDORED = "vendored"
    IGNORED = "ignored by .causalistignore"
    DENIED = "denied by settings"
    TOO_LARGE = "too large"
    LINK = "link"
    LINK_OUTSIDE = "link outside"
    SUBMODULE = "submodule"
    SPARSE = "not checked out"
    SPECIAL = "special file"
    UNREADABLE = "unreadable"
    UNDECODABLE = "undecodable name"
    VANISHED = "vanished"
    TOO_MANY = "too many files"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a repository may cost. `max_file_bytes` bounds every single file (`largest` says how), `max_files` how many
    are taken. `deny` are patterns as in .gitignore of files that stay out, from the root."""

    max_file_bytes: int = 1_000_000
    max_files: int = 200_000
    deny: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("max_file_bytes", "max_files"):
            value = getattr(self, name)
            if value < 1:
                raise UsageError(f"{name} is {value}; it must be at least 1.")


DEFAULT_LIMITS = Limits()

# Git's own test for a binary looks at the same number of bytes (`buffer_is_binary`, FIRST_FEW_BYTES).
BINARY_PROBE_BYTES = 8_000

# Chosen by hand. Hand-written code stays below 100 bytes a line on average, bundles have thousands; a small file costs
# little even when it is one line, and configuration in one line is common.
MINIFIED_LINE_BYTES = 500
MINIFIED_FILE_BYTES = 5_000

# Text in 16 or 32 bits a character, as some tools on Windows write it: source code, but not readable as it is.
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")

GENERATED_LINES = 5
# A line longer than this is data; looking further would make a bundle's only line the header.
GENERATED_PROBE_BYTES = 4_000

# A notebook carries the pictures that its code drew; what people wrote in it is small.
PICTURES_SUFFIX = ".ipynb"
PICTURES_FACTOR = 8
# Code that people wrote and that is larger than other files is worth reading: a class with all operators of a library
# is 1.2 MB. Data of that size is not. Whoever states a limit states it for code, too.
CODE_SUFFIXES = (
    *(".py", ".pyi", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".go", ".java", ".kt", ".scala"),
    *(".rs", ".php", ".rb", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".exs"),
)
CODE_BYTES = 2_000_000

# Prose is never called minified (a paragraph is one line) nor generated (a generated reference answers questions).
PROSE_SUFFIXES = frozenset(
    {"", ".md", ".markdown", ".mdx", ".rst", ".txt", ".text", ".adoc", ".asciidoc", ".org", PICTURES_SUFFIX}
)

# A template shows which variables there are and holds no values: it answers questions about configuration.
_ENVIRONMENT_TEMPLATE = lazy_regex(
    r"(\.env|.+\.env)([._-].+)?[._-](example|sample|template|dist)|(example|sample|template)\.env"
)

NAME_RULES: tuple[tuple[Reason, str], ...] = (
    # Environments, keys, certificates, and the files in which tools keep passwords.
    (Reason.SECRET, ".env .env.* .env-* .env_* .envrc *.env"),
    (Reason.SECRET, "*.pem *.key *.p12 *.pfx *.p8 *.pkcs12 *.jks *.keystore *.bcfks *.ppk *.kdbx *.kdb *.gpg *.pgp"),
    (Reason.SECRET, "*.crt *.cer *.der *.csr id_rsa* id_dsa* id_ecdsa* id_ed25519* *.mobileprovision"),
    (Reason.SECRET, ".netrc _netrc .npmrc .pypirc .git-credentials .htpasswd .pgpass .my.cnf .dockercfg .s3cfg .boto"),
    (Reason.SECRET, "credentials credentials.json credentials.yml credentials.yaml credentials.toml credentials.ini"),
    (Reason.SECRET, "credentials.csv credentials.xml credentials.yml.enc .credentials .credentials.*"),
    (Reason.SECRET, "secrets.json secrets.yml secrets.yaml secrets.toml secrets.ini .secrets .vault_pass*"),
    (Reason.SECRET, "client_secret*.json service-account*.json service_account*.json .vault-token"),
    (Reason.SECRET, "*.tfstate *.tfstate.backup *.tfvars"),
    # Images. An SVG is text, but coordinates answer no question.
    (Reason.BINARY, "*.png *.jpg *.jpeg *.gif *.bmp *.ico *.icns *.webp *.tif *.tiff *.heic *.avif *.psd *.xcf *.svg"),
    (Reason.BINARY, "*.mp3 *.mp4 *.m4a *.m4v *.wav *.ogg *.oga *.ogv *.flac *.aac *.avi *.mov *.mkv *.webm *.wmv"),
    (Reason.BINARY, "*.woff *.woff2 *.ttf *.otf *.eot *.pdf *.doc *.docx *.xls *.xlsx *.ppt *.pptx *.odt *.ods *.epub"),
    (Reason.BINARY, "*.zip *.gz *.tgz *.bz2 *.tbz2 *.xz *.txz *.7z *.rar *.tar *.zst *.lz4 *.lzma *.iso *.dmg"),
    (Reason.BINARY, "*.jar *.war *.ear *.whl *.egg *.nupkg *.gem *.crate *.apk *.aab *.ipa *.msi *.cab *.xpi *.vsix"),
    (Reason.BINARY, "*.pyc *.pyo *.pyd *.class *.so *.dylib *.dll *.exe *.o *.a *.wasm *.beam *.rlib *.pdb *.elc"),
    (Reason.BINARY, "*.db *.sqlite *.sqlite3 *.mdb *.parquet *.feather *.arrow *.avro *.orc *.npy *.npz *.pkl"),
    (Reason.BINARY, "*.pickle *.h5 *.hdf5 *.onnx *.safetensors *.gguf *.tflite *.ckpt *.joblib *.rds *.rdata"),
    (Reason.BINARY, "*.deb *.rpm .ds_store thumbs.db"),
    (Reason.LOCK_FILE, "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock"),
    (Reason.LOCK_FILE, "poetry.lock uv.lock pdm.lock pipfile.lock pixi.lock conda-lock.yml cargo.lock"),
    (Reason.LOCK_FILE, "go.sum go.work.sum gemfile.lock composer.lock mix.lock rebar.lock pubspec.lock podfile.lock"),
    (Reason.LOCK_FILE, "package.resolved packages.lock.json gradle.lockfile flake.lock .terraform.lock.hcl"),
    (Reason.MINIFIED, "*.min.js *.min.mjs *.min.cjs *.min.css *.bundle.js *.chunk.js *-min.js *-min.css"),
    (Reason.GENERATED, "*.map *_pb2.py *_pb2.pyi *_pb2_grpc.py *.pb.go *.pb.gw.go *.pb.cc *.pb.h *.pb.swift"),
    (Reason.GENERATED, "*_pb.js *_pb.d.ts *_grpc_pb.js *.g.dart *.freezed.dart *.designer.cs *.g.cs *.tsbuildinfo"),
)

# Everything below these is secret, whatever its name.
SECRET_FOLDERS = (".ssh", ".gnupg", ".aws")

# The index itself (counting it would make a second scan differ from the first) and what belongs to git.
UNCOUNTED_FOLDERS = frozenset({".git", ".causalist"})

# Nobody keeps code of their own in these. They are skipped wherever git does not track them.
VENDORED_FOLDERS = frozenset(
    {
        *("node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store", ".parcel-cache"),
        *(".next", ".nuxt", ".svelte-kit", ".venv", "venv", "virtualenv", "site-packages", "__pycache__"),
        *("__pypackages__", ".tox", ".nox", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"),
        *(".ipynb_checkpoints", ".gradle", ".terraform", ".bundle", ".dart_tool", ".stack-work", ".hg", ".svn"),
    }
)

# These mean "built or fetched" only beside a file of the tool that fills them: `build` is also a package's name.
FOLDERS_BESIDE: dict[str, frozenset[str]] = {
    "dist": frozenset({"package.json", "pyproject.toml", "setup.py", "setup.cfg"}),
    "build": frozenset(
        {
            *("package.json", "pyproject.toml", "setup.py", "CMakeLists.txt", "pubspec.yaml"),
            *("build.gradle", "build.gradle.kts"),
        }
    ),
    "target": frozenset({"Cargo.toml", "pom.xml", "build.sbt"}),
    "vendor": frozenset({"go.mod", "composer.json", "Gemfile"}),
    "out": frozenset({"package.json", "build.gradle", "build.gradle.kts", "pom.xml"}),
    "_build": frozenset({"mix.exs", "rebar.config", "dune-project", "conf.py"}),
    "deps": frozenset({"mix.exs"}),
}

# A folder that holds one of these is an environment or a cache under any name.
FOLDER_MARKERS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})

# The marker must stand in a comment: a program that looks for generated files has these words in its strings.
_GENERATED = lazy_regex(
    rb"^[ \t\xef\xbb\xbf]*(?://|#|/?\*|--|;|<!--|%|\(\*|\{-|\"\"\"|''')[^\n]*?"
    rb"(?:@generated\b|<auto-?generated"
    rb"|code generated [^\n]*do not edit"
    rb"|generated by[: ][^\n]*do not (?:edit|modify)"
    rb"|generated from \S+\.g4? by antlr"
    rb"|(?:file|code|class|module) (?:is|was|has been) (?:automatically|auto[- ]?|machine[- ])[ -]?generated"
    rb"|auto(?:matically)?[- ]?generated (?:file|code|by)[^\n]*do not (?:edit|modify))",
    re.IGNORECASE | re.MULTILINE,
)


def _compile() -> tuple[dict[str, Reason], dict[str, Reason], list[tuple[str, Reason]]]:
    """The table as exact names, suffixes and patterns: most names are decided by one or two look-ups."""
    names: dict[str, Reason] = {}
    suffixes: dict[str, Reason] = {}
    patterns: list[tuple[str, Reason]] = []
    for reason, globs in NAME_RULES:
        for glob in globs.split():
            if "*" not in glob:
                names.setdefault(glob, reason)
            elif glob.startswith("*.") and "*" not in glob[1:]:
                suffixes.setdefault(glob[1:], reason)
            else:
                patterns.append((translate(glob), reason))
    return names, suffixes, patterns


def _ends_of_patterns() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(what stands before the first asterisk of a pattern; what stands behind the last one where nothing does)."""
    begins: list[str] = []
    ends: list[str] = []
    for _, globs in NAME_RULES:
        for glob in globs.split():
            if "*" in glob[1:] or (glob.startswith("*") and not glob.startswith("*.")):
                before, _, _ = glob.partition("*")
                (begins if before else ends).append(before or glob.rpartition("*")[2])
    return tuple(begins), tuple(ends)


_NAMES, _SUFFIXES, _PATTERNS = _compile()
# How a name begins or ends that a pattern can match: the expression is tried on few.
_PATTERN_BEGINS, _PATTERN_ENDS = _ends_of_patterns()
_ANY_PATTERN = lazy_regex("|".join(pattern for pattern, _ in _PATTERNS))
_SECRET_ENDS = tuple(f"{folder}/" for folder in SECRET_FOLDERS)
_IN_SECRET_FOLDER = lazy_regex("(?:^|/)(?:" + "|".join(map(re.escape, SECRET_FOLDERS)) + ")/")


def name_reason(path: str) -> Reason | None:
    """Why a file of this name stays out wherever it lies, or None.

    >>> name_reason("config/.env.production"), name_reason("config/.env.example")
    (<Reason.SECRET: 'secret'>, None)
    """
    lowered = path.lower()
    folder, _, name = lowered.rpartition("/")
    # Few folders have a dot in their names, and all secret ones do.
    if "." in folder and any(map(lowered.__contains__, _SECRET_ENDS)) and _IN_SECRET_FOLDER.search(lowered):
        return Reason.SECRET
    reason = _NAMES.get(name)
    if reason is not None:
        return reason
    if "env" in name and _ENVIRONMENT_TEMPLATE.fullmatch(name):
        return None
    # A name may have several dots, and `.tfstate.backup` is longer than `.backup`.
    dot = name.find(".")
    while dot >= 0:
        reason = _SUFFIXES.get(name[dot:])
        if reason is not None:
            return reason
        dot = name.find(".", dot + 1)
    if (name.startswith(_PATTERN_BEGINS) or name.endswith(_PATTERN_ENDS)) and _ANY_PATTERN.match(name):
        return next(reason for pattern, reason in _PATTERNS if re.match(pattern, name))
    return None


def classify(path: str, data: bytes, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Why this content stays out, or None. The name matters only to tell prose from code.

    >>> classify("logo", b"\\x89PNG\\x00"), classify("a.py", b"# @generated\\n"), classify("a.py", b"x = 1\\n")
    ('binary', 'generated', None)
    """
    if len(data) > largest(path, limits):
        return Reason.TOO_LARGE.value
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return (Reason.WIDE if data.startswith(_WIDE_MARKS) else Reason.BINARY).value
    if is_prose(path):
        return None
    if _is_generated(data):
        return Reason.GENERATED.value
    n_lines = max(1, data.count(b"\n"), data.count(b"\r"))
    if len(data) > MINIFIED_FILE_BYTES and len(data) > MINIFIED_LINE_BYTES * n_lines:
        return Reason.MINIFIED.value
    return None


def largest(path: str, limits: Limits) -> int:
    """How many bytes a file of this name may have.

    >>> largest("a.csv", DEFAULT_LIMITS), largest("a.py", DEFAULT_LIMITS), largest("a.ipynb", DEFAULT_LIMITS)
    (1000000, 2000000, 8000000)
    """
    name = path.lower()
    if name.endswith(PICTURES_SUFFIX):
        return limits.max_file_bytes * PICTURES_FACTOR
    is_stated = limits.max_file_bytes != DEFAULT_LIMITS.max_file_bytes
    return limits.max_file_bytes if is_stated or not name.endswith(CODE_SUFFIXES) else CODE_BYTES


def is_prose(path: str) -> bool:
    """Whether the name is one of text for people: a paragraph may be one line."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return (name[dot:].lower() if dot > 0 else "") in PROSE_SUFFIXES


# Go's own convention: this very line, wherever it stands before the code. It often follows a licence.
_GENERATED_LINE = lazy_regex(
    rb"^// Code generated [^\n]* DO NOT EDIT\.\r?$", re.MULTILINE, needs=(b"// Code generated ",)
)


def _is_generated(data: bytes) -> bool:
    head = b"\n".join(data[:GENERATED_PROBE_BYTES].split(b"\n", GENERATED_LINES)[:GENERATED_LINES])
    if b"generated" in head.lower() and _GENERATED.search(head) is not None:  # each of its forms has that word
        return True
    return _GENERATED_LINE.search(data, 0, GENERATED_PROBE_BYTES) is not None


# Patterns end where the name ends, which lets nothing match by a folder above. No pattern can contain this by chance.
_MARK = "\x01"
# Stands in for a line feed in names: a pattern never holds one, and pathspec's "." does not match one.
_LINE_FEED = "\x02"

# A file of patterns beyond this size is an attack.
MAX_IGNORE_BYTES = 1_000_000

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
    "space": " \t",
    "blank": " \t",
}


@dataclass(frozen=True, slots=True)
class _Level:
    """The patterns of one folder. `prefix` is the folder's path with a slash at its end, "" for the top."""

    prefix: str
    files: "GitIgnoreSpec"
    folders: "GitIgnoreSpec"


@dataclass(frozen=True, slots=True)
class Ignores:
    """The ignore files from the top down to one folder. `levels` are deepest first: the first that speaks decides."""

    levels: tuple[_Level, ...] = ()

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether the path itself is ignored; the folders above it have been asked before."""
        if not self.levels:
            return False
        marked = path.replace("\n", _LINE_FEED) + _MARK
        for level in self.levels:
            spec = level.folders if is_folder else level.files
            include = spec.check_file(marked[len(level.prefix) :]).include
            if include is not None:
                return include
        return False

    def entering(self, folder: str, lines: bytes | None) -> "Ignores":
        """The same with what the ignore file of `folder` says ("" is the top)."""
        if not lines:
            return self
        prefix = f"{folder}/" if folder else ""
        return Ignores((_level(prefix, lines), *self.levels))


def read_ignore_file(path: bytes) -> bytes | None:
    """The content, or None. A link is not followed, as git does not: its target may lie outside."""
    if not os.access(path, os.F_OK):  # as in nearly every folder; an exception costs more
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_IGNORE_BYTES)
    except OSError:
        return None


def ignores_above(top: Path, root: Path, names: tuple[str, ...]) -> dict[str, Ignores]:
    """For each name of an ignore file, what the folders from `top` down to and including `root` say.

    Paths are relative to `top`.
    """
    found = {name: Ignores() for name in names}
    parts = root.relative_to(top).parts
    for depth in range(len(parts) + 1):
        folder = "/".join(parts[:depth])
        for name in names:
            lines = read_ignore_file(os.fsencode(top.joinpath(*parts[:depth]) / name))
            found[name] = found[name].entering(folder, lines)
    return found


def _level(prefix: str, lines: bytes) -> _Level:
    # Imported late: inside of git repositories git does the ignoring, and the import costs more than a scan.
    from pathspec import GitIgnoreSpec

    files: list[object] = []
    folders: list[object] = []
    for raw in lines.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"):
        rewritten = _rewrite(raw.removesuffix("\r"))
        if rewritten is None:
            continue
        pattern, only_folders = rewritten
        try:
            compiled = list(GitIgnoreSpec.from_lines([pattern]).patterns)
        except (ValueError, re.error):
            # Git takes what it cannot read as matching nothing.
            continue
        folders.extend(compiled)
        if not only_folders:
            files.extend(compiled)
    return _Level(prefix, GitIgnoreSpec(files), GitIgnoreSpec(folders))  # type: ignore[arg-type]


def _rewrite(line: str) -> tuple[str, bool] | None:
    """The line with the mark at its end, and whether it speaks of folders only; None if it says nothing.

    >>> _rewrite("!build/"), _rewrite("a/**"), _rewrite("# note")
    (('!build\\x01', True), ('a/**/*\\x01', False), None)
    """
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    if (len(line) - len(line.rstrip("\\"))) % 2:
        return None
    only_folders = line.endswith("/")
    line = line.removesuffix("/")
    negation = "!" if line.startswith("!") else ""
    body = line[len(negation) :]
    if not body:
        return None
    if body == "**" or body.endswith("/**"):
        body += "/*"
    body = re.sub(r"\[:([a-z]+):\]", lambda found: _POSIX_CLASSES.get(found[1], found[0]), body)
    return negation + body + _MARK, only_folders
