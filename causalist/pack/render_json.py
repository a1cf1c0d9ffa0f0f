"""The `json` format: one valid document whatever is cut, no superfluous spaces, text beyond ASCII kept.

`items` hold `rank` (null for neighbors of results, which are `via`, and for definitions that stand for their file),
`node`, `path`, `symbol`, `kind`, `start_line`, `end_line`, `signature`, `why`, `text` (null where none is shown),
`truncated` (there is text, but not all) and `via`. `edges` and `removed_edges` are lists of [source, kind,
target, line, confidence]. `omitted` counts bodies, items and edges.
"""

import json

from causalist.pack.excerpts import shown_lines, shows_everything
from causalist.pack.plan import Link, Plan, PlannedItem


class JsonRenderer:
    """The `json` format."""

    shows_source = True

    def measured(self, text: str) -> str:
        """Return the part of a text that the budget covers."""
        return text

    def document(self, plan: Plan, tokens: int) -> str:
        """Return the finished text, with `tokens` as its count."""
        bodies, items, edges = plan.counts()
        head = _dump(
            {
                "query": plan.question,
                "repository": plan.repository,
                "commit": plan.commit,
                "stale": plan.header.stale,
                "n_nodes": plan.header.n_nodes,
                "tokens": tokens,
                "tokenizer": plan.tokenizer,
            }
        )
        return (
            f'{head[:-1]},"items":[{",".join(self.item(shown, plan.fence) for shown in plan.items)}]'
            f',"edges":[{",".join(self.link(link) for link in plan.links if not link.removed)}]'
            f',"removed_edges":[{",".join(self.link(link) for link in plan.links if link.removed)}]'
            f',"omitted":{{"bodies":{bodies},"items":{items},"edges":{edges}}}}}'
        )

    def item(self, shown: PlannedItem, fence: str) -> str:
        """Return the fragment of an item."""
        entry = shown.entry
        text = "\n".join(shown_lines(entry.body, shown.n_lines)) if shown.n_lines else None
        return _dump(
            {
                "rank": entry.rank,
                "node": entry.id,
                "path": entry.path,
                "symbol": entry.symbol,
                "kind": entry.kind,
                "start_line": entry.start_line,
                "end_line": entry.end_line,
                "signature": entry.signature,
                "why": shown.why,
                "text": text,
                "truncated": shown.n_lines > 0 and not shows_everything(entry.body, shown.n_lines),
                "via": entry.via,
            }
        )

    def link(self, link: Link) -> str:
        """Return the fragment of an edge."""
        edge = link.edge
        return _dump([link.source, edge.kind, link.target, edge.line, round(edge.confidence, 3)])


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
