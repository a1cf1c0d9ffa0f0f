"""An index -> what the repository is, and a map of it that fits a token budget.

`collect` gathers what can be said, best first; `draw_map` takes as much as fits. What importance means is in
`importance`, how a README says what a project is in `prose`, how a package says where it begins in `manifests`.
"""

from causalist.repomap.collect import collect
from causalist.repomap.render import FORMATS, as_data, draw_map

__all__ = ["FORMATS", "as_data", "collect", "draw_map"]
