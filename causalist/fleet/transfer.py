"""Shards between stores and machines: push, pull, and the index of one repository that somebody else built.

What comes from elsewhere is data: objects must have the SHA-256 that the record names, an index must be consistent, and
with a public key the record must be signed. Nothing is kept otherwise.
"""

import base64
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causalist.errors import ExtraMissing, FleetError
from causalist.fleet.members import name_of_clone
from causalist.fleet.shards import Shard
from causalist.fleet.store import FleetStore
from causalist.index.freshness import index_version
from causalist.index.open import index_folders
from causalist.model.index import Index
from causalist.source import DEFAULT_LIMITS, Limits, read_file, scan_folder
from causalist.store import INDEX_NAME, hold_folder_lock, prepare_folder, read_index, write_index

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE = "signature"  # of a record: base64 of the Ed25519 signature of the rest


def copy_shards(
    source: FleetStore,
    target: FleetStore,
    names: Sequence[str] = (),
    *,
    signer: "Ed25519PrivateKey | None" = None,
    verifier: "Ed25519PublicKey | None" = None,
) -> list[Shard]:
    """Copy the shards of repositories, by default of all, and return them. What the target has is not copied again.

    Raises FleetError for names that the source does not have, damaged objects, and wrong or missing signatures.
    """
    known = source.record_names()
    missing = [name for name in names if name not in known]
    if missing:
        raise FleetError(f"{source.address} has no repository {missing[0]}")
    done: list[Shard] = []
    for name in names or known:
        record = read_signed(source, name, verifier)
        shard = Shard.from_record(record)
        for kind, digest in shard.objects.items():
            if not target.has_object(digest, kind):
                local = source.local_object(digest, kind, is_trusted=False)
                target.put_object(local, kind)
        if signer is not None:
            record = sign_record(record, signer)
        if target.read_record(name) != record:
            target.write_record(name, record)
        done.append(shard)
    return done


def install_index(
    root: Path,
    store: FleetStore,
    name: str = "",
    verifier: "Ed25519PublicKey | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Shard:
    """Put the index of a store into a folder, where the next command brings it up to date, and return its shard.

    `name` is by default that of the origin of the clone in `root`. Raises FleetError if the store has no index of it,
    or one of another version of the program, and IndexNotWritable.
    """
    name = name or name_of_clone(root)
    if not name:
        raise FleetError(f"{root} was cloned from no known address; say which repository of the store it is")
    if not store.has_record(name):
        known = ", ".join(store.record_names()[:10]) or "none"
        raise FleetError(f"{store.address} has no repository {name}; it has: {known}")
    shard = Shard.from_record(read_signed(store, name, verifier))
    if not shard.is_ready:
        raise FleetError(f"{name} could not be indexed: {shard.error}")
    if shard.version != index_version():
        raise FleetError(f"the index of {name} is of another version of the program or its grammars")
    index = read_index(store.local_object(shard.objects["index"], "index", is_trusted=False))
    if index is None:
        raise FleetError(f"the index of {name} has another format; use the version of the program that wrote it")
    place = index_folders(root)[0]
    prepare_folder(place)
    with hold_folder_lock(place, root):
        write_index(place / INDEX_NAME, _adopt(index, root, limits))
    return shard


def _adopt(index: Index, root: Path, limits: Limits) -> Index:
    """Return an index with the times of those files of `root` that have the content that it knows.

    An index is used only for files whose times it has, so that one that a repository ships is not. The others count as
    changed.
    """
    scanned_at = time.time_ns()
    manifest = index.manifest
    sizes, mtimes, ctimes = manifest.sizes.copy(), np.zeros_like(manifest.mtimes), np.zeros_like(manifest.ctimes)
    for entry in scan_folder(root, limits).entries:
        place = manifest.paths.position(entry.path)
        if place < 0:
            continue
        content = read_file(root, entry, limits)
        same = content == manifest.unfit[place] if isinstance(content, str) else content.blob == manifest.blobs[place]
        if same:
            sizes[place], mtimes[place], ctimes[place] = entry.size, entry.mtime_ns, entry.ctime_ns
    return replace(index, scanned_at=scanned_at, manifest=replace(manifest, sizes=sizes, mtimes=mtimes, ctimes=ctimes))


def read_signed(store: FleetStore, name: str, verifier: "Ed25519PublicKey | None") -> dict[str, Any]:
    """Return the record of a repository, whose signature is right if there is a `verifier`. Raises FleetError."""
    record = store.read_record(name)
    if record is None:
        raise FleetError(f"{store.address} has no repository {name}")
    if record.get("name") != name:
        raise FleetError(f"the record of {name} in {store.address} is that of {record.get('name')}")
    if verifier is not None:
        from cryptography.exceptions import InvalidSignature

        try:
            verifier.verify(base64.b64decode(str(record.get(SIGNATURE, "")), validate=True), _signed_bytes(record))
        except (InvalidSignature, ValueError) as error:
            said = "a signature of another key" if record.get(SIGNATURE) else "no signature"
            raise FleetError(f"the record of {name} in {store.address} has {said}") from error
    return record


def sign_record(record: Mapping[str, Any], signer: "Ed25519PrivateKey") -> dict[str, Any]:
    """Return a record with its signature."""
    return {**record, SIGNATURE: base64.b64encode(signer.sign(_signed_bytes(record))).decode("ascii")}


def _signed_bytes(record: Mapping[str, Any]) -> bytes:
    rest = {key: value for key, value in record.items() if key != SIGNATURE}
    return json.dumps(rest, sort_keys=True, separators=(",", ":")).encode("utf-8")


def write_key_pair(path: Path) -> Path:
    """Write a private key to a new file that only its owner reads, its public key beside it; return the latter's path.

    Raises FleetError if one is there already.
    """
    serialization = _cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(f"{path.name}.pub")
    try:
        for place, data, mode in ((path, private, 0o600), (beside, public, 0o644)):
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(data)
    except OSError as error:
        raise FleetError(f"cannot write the key: {error}") from error
    return beside


def read_private_key(path: Path) -> "Ed25519PrivateKey":
    """Return the key in a file. Raises FleetError and ExtraMissing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = _load(path, _cryptography().load_pem_private_key, {"password": None})
    if not isinstance(key, Ed25519PrivateKey):
        raise FleetError(f"{path} is no private Ed25519 key; `causalist fleet key` makes one")
    return key


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """Return the key in a file. Raises FleetError and ExtraMissing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = _load(path, _cryptography().load_pem_public_key, {})
    if not isinstance(key, Ed25519PublicKey):
        raise FleetError(f"{path} is no public Ed25519 key; `causalist fleet key` makes one")
    return key


def _load(path: Path, load: Any, options: Mapping[str, Any]) -> Any:
    try:
        return load(path.read_bytes(), **options)
    except (OSError, ValueError, TypeError) as error:
        raise FleetError(f"cannot read a key from {path}: {error}") from error


def _cryptography() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise ExtraMissing("signatures need more packages: pip install 'causalist[fleet]'") from error
    return serialization
