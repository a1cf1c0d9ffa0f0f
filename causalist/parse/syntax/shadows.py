"""Which variable a name means where binding a name again makes another variable, as in `let x = x.trim();`.

Each variable of a definition gets a name of its own, `x'1`, `x'2`, in bindings and at the head of chains, so that
nobody who reads the facts has to know about positions. It is visible from the end of the statement that binds it to
the end of the block around. A name that no variable has here stays as it is: it means something that is defined.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Shadows:
    """The variables of a file while it is swept from its beginning to its end; positions are bytes."""

    _blocks: list[int] = field(default_factory=list)  # ends of the blocks that are open
    _statement_end: int = -1
    _variables: dict[tuple[int, str], list[tuple[int, int, str]]] = field(default_factory=dict)  # from, to, own name

    def on_block(self, start: int, end: int) -> None:
        while self._blocks and self._blocks[-1] <= start:
            self._blocks.pop()
        self._blocks.append(end)

    def on_statement(self, end: int) -> None:
        self._statement_end = end

    def bind(self, scope: int, name: str, start: int, scope_end: int) -> str:
        """The own name of a variable that is bound at `start` in definition `scope`, which ends at `scope_end`."""
        while self._blocks and self._blocks[-1] <= start:
            self._blocks.pop()
        until = min(self._blocks[-1], scope_end) if self._blocks else scope_end
        since = self._statement_end if start < self._statement_end <= until else start
        known = self._variables.setdefault((scope, name), [])
        own = f"{name}'{len(known) + 1}"
        known.append((since, until, own))
        return own

    def postpone(self, scope: int, own: str, since: int) -> None:
        """Makes the last variable visible only from `since` on: what follows its name does not mean it."""
        known = self._variables.get((scope, own.partition("'")[0]))
        if known and known[-1][2] == own:
            known[-1] = (since, known[-1][1], own)

    def own_name(self, scope: int, name: str, position: int) -> str:
        """The own name of the variable that `name` means at `position` in `scope`, or the name itself."""
        for since, until, own in reversed(self._variables.get((scope, name), ())):
            if since <= position < until:
                return own
        return name

    def own_chain(self, scope: int, chain: str, position: int) -> str:
        """A chain whose first name is exchanged for the variable's own."""
        if not self._variables:
            return chain
        head, dot, rest = chain.partition(".")
        bare = head.rstrip("()")
        own = self.own_name(scope, bare, position)
        return chain if own == bare else f"{own}{head[len(bare) :]}{dot}{rest}"
