"""The Homebrew formula and the Nix flake: their languages accept them, and they name this version and these extras."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORMULA = ROOT / "packaging" / "homebrew" / "causalist.rb"
FLAKE = ROOT / "packaging" / "nix" / "flake.nix"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# A formula is a class whose methods brew calls. These record what it does.
_BREW = """
require "json"
require "pathname"
DONE = []
class Formula
  def self.method_missing(name, *given, **named, &block) = DONE << [name, *given, named]
  def self.test(&block) = DONE << [:test, block.nil?]
  def self.[](name) = Struct.new(:opt_bin).new(Pathname("/brew/#{name}/bin"))
  def system(*words) = DONE << [:run, *words.map(&:to_s)]
  def libexec = Pathname("/cellar/libexec")
  def buildpath = Pathname("/build")
  def bin = Class.new(Pathname) { def install_symlink(path) = DONE << [:link, path.to_s] }.new("/cellar/bin")
  def generate_completions_from_executable(path, **named) = DONE << [:complete, path.to_s, named]
end
load ARGV[0]
Causalist.new.install
puts JSON.generate(DONE)
"""
# What a flake takes of nixpkgs; a package is its text.
_NIXPKGS = """
let
  pkgs = { git = "git"; python313 = "python"; uv = "uv"; zlib = "zlib"; stdenv.cc.cc.lib = "libstdc++";
           lib.makeLibraryPath = builtins.concatStringsSep ":"; writeShellApplication = made: made; };
  nixpkgs = { lib.genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
              legacyPackages = { x86_64-linux = pkgs; aarch64-linux = pkgs; x86_64-darwin = pkgs; aarch64-darwin = pkgs; }; };
in ((import PATH).outputs { inherit nixpkgs; self.sourceInfo.outPath = "/source"; }).packages
"""  # noqa: E501


def _run(*command: str, **more: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, input=more.get("input"))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def _check_extras(text: str) -> None:
    (extras,) = re.findall(r"\[([a-z,]+)\]'?\"?", text)
    assert set(extras.split(",")) == {"lsp", "mcp", "watch", "web"} <= set(PROJECT["optional-dependencies"])


def test_formula_names_this_version() -> None:
    formula = FORMULA.read_text(encoding="utf-8")
    assert f'tag: "v{PROJECT["version"]}"' in formula and f'homepage "{PROJECT["urls"]["Homepage"]}"' in formula


def test_formula_runs(tmp_path: Path) -> None:
    ruby = _needs("ruby")
    assert "Syntax OK" in _run(ruby, "-wc", str(FORMULA))
    brew = tmp_path / "brew.rb"
    brew.write_text(_BREW)
    done = json.loads(_run(ruby, str(brew), str(FORMULA)))
    runs = [words for kind, *words in done if kind == "run"]
    assert runs[0] == ["/brew/python@3.13/bin/python3.13", "-m", "venv", "/cellar/libexec"]
    assert runs[1][:2] == ["/cellar/libexec/bin/pip", "install"] and runs[1][2].startswith("/build[")
    _check_extras(runs[1][2])
    assert ["link", "/cellar/libexec/bin/causalist"] in done and ["license", PROJECT["license"], {}] in done
    assert ["test", False] in done


@pytest.mark.slow
def test_formula_is_clean() -> None:
    """Rubocop without Homebrew's own rules, which come with brew alone."""
    rubocop = _needs("rubocop")
    _run(rubocop, "--cache", "false", "--config", str(FORMULA.parent / ".rubocop.yml"), str(FORMULA))


def test_flake() -> None:
    nix = _needs("nix-instantiate")
    _run(nix, "--parse", str(FLAKE))
    expression = _NIXPKGS.replace("PATH", str(FLAKE))
    packages = json.loads(_run(nix, "--eval", "--strict", "--json", "--readonly-mode", "-E", expression))
    assert sorted(packages) == ["aarch64-darwin", "aarch64-linux", "x86_64-darwin", "x86_64-linux"]
    made = packages["x86_64-linux"]["default"]
    assert made["name"] == "causalist" and made["runtimeInputs"] == ["git", "python", "uv"]
    assert 'LD_LIBRARY_PATH="libstdc++:zlib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"' in made["text"]
    (line,) = [line for line in made["text"].splitlines() if line.startswith("exec uv tool run")]
    assert line.endswith("""'/source[lsp,mcp,watch,web]' causalist "$@\"""")
    _check_extras(line)
