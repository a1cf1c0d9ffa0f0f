"""The `json` format: one valid document whatever is cut, no superfluous spaces, text beyond ASCII kept.

`items` hold `rank` (null for nodes that only lie on a path or stand for their file), `node`, `path`, `symbol`, `kind`,
`start_line`, `end_line`, `signature`, `why`, `text` (null where none is shown), `truncated` (there is text, but not
all) and `via`. `edges` and `removed_edges` are lists of [source, kind, target, line, confidence]. `omitted` counts
bodies, items and edges; its `list` names them as [node, what] where there is room and is null otherwise.
"""

import json

from causalist._internal.sanitize import middle_cut
from causalist.pack.excerpts import shown_lines, shows_everything
from causalist.pack.plan import Link, Plan, PlannedItem

MAX_NODE_CHARACTERS = 320


class JsonRenderer:
    shows_source = True

    def measured(self, text: str) -> str:
        return text

    def document(self, plan: Plan, tokens: int) -> str:
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
        names = self.omission_list(plan) if plan.list_omitted else "null"
        return (
            f'{head[:-1]},"items":[{",".join(self.item(shown, plan.fence) for shown in plan.items)}]'
            f',"edges":[{",".join(self.link(link) for link in plan.links if not link.removed)}]'
            f',"removed_edges":[{",".join(self.link(link) for link in plan.links if link.removed)}]'
            f',"omitted":{{"bodies":{bodies},"items":{items},"edges":{edges},"list":{names}}}}}'
        )

    def item(self, shown: PlannedItem, fence: str) -> str:
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
        edge = link.edge
        return _dump([link.source, edge.kind, link.target, edge.line, round(edge.confidence, 3)])

    def omission_list(self, plan: Plan) -> str:
        return _dump([[middle_cut(omission.node, MAX_NODE_CHARACTERS), omission.what] for omission in plan.omitted])


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
