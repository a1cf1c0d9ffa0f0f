"""A model of the `llm` library that is set up as a user sets one up, and asks a server on loopback."""

from pathlib import Path

import pytest

SETTINGS = """\
- model_id: local
  model_name: local
  api_base: "{address}"
"""


def configure(folder: Path, address: str, *, default: bool = False, key: str = "") -> dict[str, str]:
    """The environment in which `llm` knows the model `local`; `key` names the key that it needs."""
    folder.mkdir(parents=True, exist_ok=True)
    text = SETTINGS.format(address=address) + (f"  api_key_name: {key}\n" if key else "")
    (folder / "extra-openai-models.yaml").write_text(text, encoding="utf-8")
    if default:
        (folder / "default_model.txt").write_text("local", encoding="utf-8")
    return {"LLM_USER_PATH": str(folder)}


def use(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    # A provider at some address of this machine is not reached through a proxy.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
