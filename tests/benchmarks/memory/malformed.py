"""300 malformed answers of a model, through the `llm` library and a server on loopback.

    python -m tests.benchmarks.memory.malformed [N]

Prints how many gave a diagnostic, and how many made an edge that the passage does not state (there must be none).
"""

import sys

from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import LLMEntityExtractor
from tests.memory.fake_model import PASSAGE, TRUE, openai_model, serving, trial


def main(n: int) -> int:
    n_said = n_wrong = n_edges = 0
    for seed in range(n):
        answer, _ = trial(seed)
        with serving(answer) as address:
            found = LLMEntityExtractor(openai_model(address))(PASSAGE)
        edges = {(entity_id(t.subject), t.predicate, entity_id(t.object)) for t in found.triples}
        n_said += bool(found.diagnostics)
        n_edges += len(edges)
        n_wrong += len(edges - TRUE) + sum(entity.name.lower() not in PASSAGE.lower() for entity in found.entities)
    print(f"{n} malformed answers: {n_said} with diagnostics, {n_edges} true edges, {n_wrong} wrong edges or entities")
    return 0 if n_said == n and n_wrong == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
