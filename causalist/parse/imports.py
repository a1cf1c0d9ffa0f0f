"""Import statements: what the captures inside one statement say together."""

from dataclasses import dataclass, field

from causalist.model.facts import Export, Import, ImportKind
from causalist.parse.captures import Tag


@dataclass(slots=True)
class ImportGroup:
    """An import, re-export or export statement while the sweep is inside of it."""

    tag: Tag
    end: int
    scope: int
    row: int
    parts: list[tuple[Tag, str, int]] = field(default_factory=list)

    def finish(self) -> tuple[list[Import], list[Export]]:
        """The imports and exports of the statement.

        `import.module` names modules that are bound themselves; `import.from` a module from which names are taken.
        An alias belongs to the module or name before it.
        """
        if self.tag is Tag.EXPORT:
            return [], [Export(name, alias or name, row) for name, alias, row in self._pairs(Tag.IMPORT_NAME)]
        imports = [
            Import(self.scope, ImportKind.MODULE, *_level(name), "", alias, row)
            for name, alias, row in self._pairs(Tag.IMPORT_MODULE)
        ]
        sources = [text for tag, text, _ in self.parts if tag is Tag.IMPORT_FROM]
        if not sources:
            return imports, []
        module, level = _level(sources[0])
        reexport = self.tag is Tag.REEXPORT
        named = ImportKind.REEXPORT if reexport else ImportKind.NAME
        found = [
            Import(self.scope, named, module, level, name, alias or name, row)
            for name, alias, row in self._pairs(Tag.IMPORT_NAME)
        ]
        for tag, text, row in self.parts:
            if tag is Tag.IMPORT_DEFAULT:
                found.append(Import(self.scope, ImportKind.DEFAULT, module, level, "default", text, row))
            elif tag is Tag.IMPORT_NAMESPACE:
                kind = ImportKind.REEXPORT_NAMESPACE if reexport else ImportKind.MODULE
                found.append(Import(self.scope, kind, module, level, "", text, row))
            elif tag is Tag.IMPORT_STAR:
                kind = ImportKind.REEXPORT_ALL if reexport else ImportKind.STAR
                found.append(Import(self.scope, kind, module, level, "*", "", row))
        if not found:
            found.append(Import(self.scope, ImportKind.SIDE_EFFECT, module, level, "", "", self.row))
        return imports + found, []

    def _pairs(self, wanted: Tag) -> list[tuple[str, str, int]]:
        pairs: list[tuple[str, str, int]] = []
        open_pair = False
        for tag, text, row in self.parts:
            if tag is wanted:
                pairs.append((text, "", row))
                open_pair = True
            elif tag is Tag.IMPORT_ALIAS and open_pair:
                pairs[-1] = (pairs[-1][0], text, pairs[-1][2])
                open_pair = False
        return pairs


def _level(module: str) -> tuple[str, int]:
    """Leading dots of a dotted module and the rest; a path keeps its dots: "./a" has level 0.

    >>> _level("..a.b"), _level("./a"), _level(".")
    (('a.b', 2), ('./a', 0), ('', 1))
    """
    if "/" in module:
        return module, 0
    rest = module.lstrip(".")
    return rest, len(module) - len(rest)
