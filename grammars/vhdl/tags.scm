; Definitions.
(package_declaration package: (identifier) @name) @definition.namespace
