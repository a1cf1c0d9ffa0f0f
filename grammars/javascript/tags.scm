; What the JavaScript grammar names in a way of its own.

; Definitions.
(field_definition property: (_) @name) @definition.field
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(program (using_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(using_declaration) @span

; What gives a name to the functions inside of it without being a symbol itself.
(field_definition property: (_) @name value: (object)) @holder

; Base classes.
(class_heritage (_) @base)

; Names that get a value.
(formal_parameters (identifier) @binding)
(field_definition property: (_) @binding.property)
(field_definition value: (_) @binding.value)
