"""Rules for skipping files by name and by content, as tables: a path or bytes -> a reason.

The tables know neither git nor a disk, so that folders and git trees follow the same rules. Names are compared in lower
case: `ID_RSA` is as secret as `id_rsa`. A suffix that is text in one language and binary in another (`.mo`, `.dat`,
`.obj`, `.pth`) is not listed: the content decides.

`Ignores` applies ignore files of all levels. pathspec translates patterns; git's order of rules is kept here. pathspec
alone judges a path as a whole, so that `!keep/` would bring back `keep/secret/x` although `secret/` is ignored. Git
judges level by level: the path's own name, never a name above it, because an ignored folder is not entered. A mark at
the end of pattern and path makes pathspec do the same. Not covered: a bracket with a slash inside.
"""

import os
import re
from collections.abc import Callable
from enum import StrEnum
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class SkipReason(StrEnum):
    """Reason why a file is not indexed. The values are the keys of `Scan.skipped`."""

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
    """Limits of a scan.

    `max_file_bytes` bounds every file (`max_bytes_of` says how), `max_files` their number. `deny` are patterns as in
    .gitignore, from the root, of files that are skipped, `source` of files that are never set aside as generated or
    repeated.
    """

    max_file_bytes: int = 1_000_000
    max_files: int = 200_000
    deny: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

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

# No literal of a language goes on behind the end of its line, except those with several lines, which are short.
_LITERAL = lazy_regex(rb"""\"(?:[^"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`[^`]*+`""")
_MIN_LINES = 10  # of a file of code with long literals; one with fewer is a bundle or data
_NEVER_MINIFIED = (".py", ".pyi", ".ipynb")  # lines and their indentation have a meaning

# Marks of text in 16 or 32 bits a character, as some tools on Windows write it. That in 16 bits is read.
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_MARKS_OF_32_BITS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
# Files of code left out for these reasons may use what is indexed; others are not by the people of the repository.
TELLING_REASONS = frozenset({SkipReason.TOO_LARGE, SkipReason.WIDE, SkipReason.MINIFIED, SkipReason.SPARSE,
                             SkipReason.UNREADABLE, SkipReason.TOO_MANY})  # fmt: skip

# A notebook carries the pictures that its code drew; what people wrote in it is small.
PICTURES_SUFFIX = ".ipynb"
PICTURES_FACTOR = 8
# Code that people wrote and that is larger than other files is worth reading: a class with all operators of a library
# is 1.2 MB. Data of that size is not. A limit in the settings holds for code, too.
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

NAME_RULES: tuple[tuple[SkipReason, str], ...] = (
    # Environments, keys, certificates, and the files in which tools keep passwords.
    (SkipReason.SECRET, ".env .env.* .env-* .env_* .envrc *.env"),
    (
        SkipReason.SECRET,
        "*.pem *.key *.p12 *.pfx *.p8 *.pkcs12 *.jks *.keystore *.bcfks *.ppk *.kdbx *.kdb *.gpg *.pgp",
    ),
    (SkipReason.SECRET, "*.crt *.cer *.der *.csr id_rsa* id_dsa* id_ecdsa* id_ed25519* *.mobileprovision"),
    (
        SkipReason.SECRET,
        ".netrc _netrc .npmrc .pypirc .git-credentials .htpasswd .pgpass .my.cnf .dockercfg .s3cfg .boto",
    ),
    (
        SkipReason.SECRET,
        "credentials credentials.json credentials.yml credentials.yaml credentials.toml credentials.ini",
    ),
    (SkipReason.SECRET, "credentials.csv credentials.xml credentials.yml.enc .credentials .credentials.*"),
    (SkipReason.SECRET, "secrets.json secrets.yml secrets.yaml secrets.toml secrets.ini .secrets .vault_pass*"),
    (SkipReason.SECRET, "client_secret*.json service-account*.json service_account*.json .vault-token"),
    (SkipReason.SECRET, "*.tfstate *.tfstate.backup *.tfvars"),
    # Images. An SVG is text, but coordinates answer no question.
    (
        SkipReason.BINARY,
        "*.png *.jpg *.jpeg *.gif *.bmp *.ico *.icns *.webp *.tif *.tiff *.heic *.avif *.psd *.xcf *.svg",
    ),
    (SkipReason.BINARY, "*.mp3 *.mp4 *.m4a *.m4v *.wav *.ogg *.oga *.ogv *.flac *.aac *.avi *.mov *.mkv *.webm *.wmv"),
    (
        SkipReason.BINARY,
        "*.woff *.woff2 *.ttf *.otf *.eot *.pdf *.doc *.docx *.xls *.xlsx *.ppt *.pptx *.odt *.ods *.epub",
    ),
    (SkipReason.BINARY, "*.zip *.gz *.tgz *.bz2 *.tbz2 *.xz *.txz *.7z *.rar *.tar *.zst *.lz4 *.lzma *.iso *.dmg"),
    (
        SkipReason.BINARY,
        "*.jar *.war *.ear *.whl *.egg *.nupkg *.gem *.crate *.apk *.aab *.ipa *.msi *.cab *.xpi *.vsix",
    ),
    (SkipReason.BINARY, "*.pyc *.pyo *.pyd *.class *.so *.dylib *.dll *.exe *.o *.a *.wasm *.beam *.rlib *.pdb *.elc"),
    (SkipReason.BINARY, "*.db *.sqlite *.sqlite3 *.mdb *.parquet *.feather *.arrow *.avro *.orc *.npy *.npz *.pkl"),
    (SkipReason.BINARY, "*.pickle *.h5 *.hdf5 *.onnx *.safetensors *.gguf *.tflite *.ckpt *.joblib *.rds *.rdata"),
    (SkipReason.BINARY, "*.deb *.rpm .ds_store thumbs.db"),
    (
        SkipReason.LOCK_FILE,
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock",
    ),
    (SkipReason.LOCK_FILE, "poetry.lock uv.lock pdm.lock pipfile.lock pixi.lock conda-lock.yml cargo.lock"),
    (
        SkipReason.LOCK_FILE,
        "go.sum go.work.sum gemfile.lock composer.lock mix.lock rebar.lock pubspec.lock podfile.lock",
    ),
    (SkipReason.LOCK_FILE, "package.resolved packages.lock.json gradle.lockfile flake.lock .terraform.lock.hcl"),
    (SkipReason.MINIFIED, "*.min.js *.min.mjs *.min.cjs *.min.css *.bundle.js *.chunk.js *-min.js *-min.css"),
    (SkipReason.GENERATED, "*.map *_pb2.py *_pb2.pyi *_pb2_grpc.py *.pb.go *.pb.gw.go *.pb.cc *.pb.h *.pb.swift"),
    (SkipReason.GENERATED, "*_pb.js *_pb.d.ts *_grpc_pb.js *.g.dart *.freezed.dart *.designer.cs *.g.cs *.tsbuildinfo"),
)

# Files with such names are set aside (`source.generated`), not skipped, unless they are too large.
ASIDE_REASONS = frozenset({SkipReason.LOCK_FILE, SkipReason.MINIFIED, SkipReason.GENERATED})

# Everything below these is secret, whatever its name.
SECRET_FOLDERS = (".ssh", ".gnupg", ".aws")

# The index itself (counting it would make a second scan differ from the first) and what belongs to git.
UNCOUNTED_FOLDERS = frozenset({".git", ".causalist"})

# Projects keep no code of their own in these. They are skipped wherever git does not track them.
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


def _compile_rules() -> tuple[dict[str, SkipReason], dict[str, SkipReason], list[tuple[str, SkipReason]]]:
    """Return the table as exact names, suffixes and patterns: one or two look-ups decide most names."""
    names: dict[str, SkipReason] = {}
    suffixes: dict[str, SkipReason] = {}
    patterns: list[tuple[str, SkipReason]] = []
    for reason, globs in NAME_RULES:
        for glob in globs.split():
            if "*" not in glob:
                names.setdefault(glob, reason)
            elif glob.startswith("*.") and "*" not in glob[1:]:
                suffixes.setdefault(glob[1:], reason)
            else:
                patterns.append((translate(glob), reason))
    return names, suffixes, patterns


def _pattern_affixes() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (text before the first asterisk of patterns, text after the last one if none is before)."""
    begins: list[str] = []
    ends: list[str] = []
    for _, globs in NAME_RULES:
        for glob in globs.split():
            if "*" in glob[1:] or (glob.startswith("*") and not glob.startswith("*.")):
                before, _, _ = glob.partition("*")
                (begins if before else ends).append(before or glob.rpartition("*")[2])
    return tuple(begins), tuple(ends)


_NAMES, _SUFFIXES, _PATTERNS = _compile_rules()
# How a name begins or ends that a pattern can match: the expression is tried on few.
_PATTERN_BEGINS, _PATTERN_ENDS = _pattern_affixes()
_ANY_PATTERN = lazy_regex("|".join(pattern for pattern, _ in _PATTERNS))
_SECRET_ENDS = tuple(f"{folder}/" for folder in SECRET_FOLDERS)
_IN_SECRET_FOLDER = lazy_regex("(?:^|/)(?:" + "|".join(map(re.escape, SECRET_FOLDERS)) + ")/")


def skip_reason_by_name(path: str) -> SkipReason | None:
    """Return the reason to skip a file of this name in any folder, or None.

    >>> skip_reason_by_name("config/.env.production"), skip_reason_by_name("config/.env.example")
    (<SkipReason.SECRET: 'secret'>, None)
    """
    lowered = path.lower()
    folder, _, name = lowered.rpartition("/")
    # Few folders have a dot in their names, and all secret ones do.
    if "." in folder and any(map(lowered.__contains__, _SECRET_ENDS)) and _IN_SECRET_FOLDER.search(lowered):
        return SkipReason.SECRET
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
    r"""Return the reason to skip this content, or None. The name only decides the limit of its size.

    >>> classify("logo", b"\x89PNG\x00"), classify("a.py", b"x = 1\n")
    ('binary', None)
    """
    if len(data) > max_bytes_of(path, limits):
        return SkipReason.TOO_LARGE.value
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return (SkipReason.WIDE if data.startswith(_WIDE_MARKS) else SkipReason.BINARY).value
    return None


def is_minified(path: str, data: bytes) -> bool:
    """Return True if most of a file stands in long lines of code.

    A long literal, such as a font or a test vector, says nothing of the code beside it.
    """
    n_lines = max(1, data.count(b"\n"), data.count(b"\r"))
    if len(data) <= MINIFIED_FILE_BYTES or len(data) <= MINIFIED_LINE_BYTES * n_lines:
        return False
    if path.lower().endswith(_NEVER_MINIFIED):
        return False
    return n_lines < _MIN_LINES or len(_LITERAL.sub(b"", data)) > MINIFIED_LINE_BYTES * n_lines


def as_utf8(data: bytes) -> bytes:
    r"""Return text that is marked as UTF-16 in UTF-8, and any other as it is.

    >>> as_utf8(b"\xff\xfea\0\n\0"), as_utf8(b"a"), as_utf8(b"\xff\xfea")
    (b'a\n', b'a', b'\xff\xfea')
    """
    if not data.startswith(_WIDE_MARKS) or data.startswith(_MARKS_OF_32_BITS):
        return data
    try:
        return data.decode("utf-16").encode()
    except UnicodeError:
        return data


def max_bytes_of(path: str, limits: Limits) -> int:
    """Return the maximum size in bytes of a file of this name.

    >>> [max_bytes_of(name, DEFAULT_LIMITS) for name in ("a.csv", "a.py", "a.ipynb")]
    [1000000, 2000000, 8000000]
    """
    name = path.lower()
    if name.endswith(PICTURES_SUFFIX):
        return limits.max_file_bytes * PICTURES_FACTOR
    is_stated = limits.max_file_bytes != DEFAULT_LIMITS.max_file_bytes
    return limits.max_file_bytes if is_stated or not name.endswith(CODE_SUFFIXES) else CODE_BYTES


def is_prose(path: str) -> bool:
    """Return True if the name is one of prose, where a paragraph may be one line."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return (name[dot:].lower() if dot > 0 else "") in PROSE_SUFFIXES


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
    """Patterns of one folder. `prefix` is its path with a slash at the end, "" for the top."""

    prefix: str
    files: "GitIgnoreSpec"
    folders: "GitIgnoreSpec"


@dataclass(frozen=True, slots=True)
class Ignores:
    """Ignore files from the top down to one folder.

    `levels` are deepest first: the first that matches decides.
    """

    levels: tuple[_Level, ...] = ()

    def is_ignored(self, path: str, *, is_folder: bool) -> bool:
        """Return True if the path itself is ignored; callers have checked the folders above."""
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
        """Return the rules inside `folder`, with its ignore file added ("" is the top)."""
        if not lines:
            return self
        prefix = f"{folder}/" if folder else ""
        return Ignores((_build_level(prefix, lines), *self.levels))


def read_ignore_file(path: bytes) -> bytes | None:
    """Return the content, or None. Links are not followed, as in git: the target may lie outside."""
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


def make_matcher(patterns: tuple[str, ...], setting: str = "deny") -> Callable[[str], bool] | None:
    """Return a test for paths that match a pattern of a setting; None without patterns. Raises UsageError."""
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise UsageError(f"{setting}: {error}; write patterns as in .gitignore") from error


def ignores_above(top: Path, root: Path, names: tuple[str, ...]) -> dict[str, Ignores]:
    """Return the rules of the folders from `top` down to `root`, by name of the ignore file.

    Paths are relative to `top`.
    """
    ignores = {name: Ignores() for name in names}
    parts = root.relative_to(top).parts
    for depth in range(len(parts) + 1):
        folder = "/".join(parts[:depth])
        for name in names:
            lines = read_ignore_file(os.fsencode(top.joinpath(*parts[:depth]) / name))
            ignores[name] = ignores[name].entering(folder, lines)
    return ignores


def _build_level(prefix: str, lines: bytes) -> _Level:
    # Imported late: inside of git repositories git does the ignoring, and the import costs more than a scan.
    from pathspec import GitIgnoreSpec

    files: list[object] = []
    folders: list[object] = []
    for raw in lines.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"):
        rewritten = _rewrite_pattern(raw.removesuffix("\r"))
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


def _rewrite_pattern(line: str) -> tuple[str, bool] | None:
    r"""Return (the pattern with the mark at its end, True if it is for folders only); None if empty.

    >>> _rewrite_pattern("!build/"), _rewrite_pattern("a/**"), _rewrite_pattern("# note")
    (('!build\x01', True), ('a/**/*\x01', False), None)
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
