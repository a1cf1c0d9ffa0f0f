"""What is called a package outside of the repository."""

from causalist.graph.imports.packages import without_types
from causalist.graph.program import namespaces
from causalist.model.facts import Import
from causalist.model.language import LanguageSettings


def package_outside(entry: Import, settings: LanguageSettings | None, has_folders: bool) -> str:
    """The name of the package that an import leads to which is not of the repository."""
    module = entry.module.strip("<>")
    if settings is not None and settings.modules.namespaces:
        return namespaces.outside(entry, settings)
    if settings is not None and settings.modules.external_parts > 1:
        return without_types(module, settings.modules.external_parts)
    if has_folders:
        return module
    if "/" in module:
        parts = module.split("/")
        return "/".join(parts[:2]) if module.startswith("@") else parts[0]
    return module.partition(".")[0] if not entry.level else "." * entry.level + module
