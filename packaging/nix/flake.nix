# nix run 'github:causalist/causalist?dir=packaging/nix' -- ask "where does auth happen"
#
# uv installs the wheels of the dependencies on the first run, into the user's cache: nixpkgs has only some of the grammars.
{
  description = "Answers questions about a code base with the code itself";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forAllSystems = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forAllSystems (pkgs: {
        default = pkgs.writeShellApplication {
          name = "causalist";
          runtimeInputs = [
            pkgs.git
            pkgs.python313
            pkgs.uv
          ];
          # Wheels are linked against what other distributions have in a usual place.
          text = ''
            export LD_LIBRARY_PATH="${
              pkgs.lib.makeLibraryPath [
                pkgs.stdenv.cc.cc.lib
                pkgs.zlib
              ]
            }''${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
            exec uv tool run --python python3.13 --from '${self.sourceInfo.outPath}[lsp,mcp,watch,web]' causalist "$@"
          '';
        };
      });
    };
}
