; What the JavaScript grammar names in a way of its own.

; Definitions.
(field_definition property: (_) @name) @definition.field
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(program (using_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(using_declaration) @span

; What gives a name to the functions inside of it without being a symbol itself.
(field_definition property: (_) @name value: (object)) @holder

; Base classes; of a mixin, the function that makes the class and the class that it is given.
(class_heritage [
  (identifier) (member_expression) (subscript_expression) (parenthesized_expression) (ternary_expression) (class)] @base)
(class_heritage (call_expression function: (_) @base))
(class_heritage (call_expression arguments: (arguments [(identifier) (member_expression)] @base)))
(class_heritage (call_expression arguments: (arguments (_
  function: (_) @base arguments: (arguments [(identifier) (member_expression)] @base)))))

; Names that get a value.
(formal_parameters (identifier) @binding)
(arrow_function parameters: (formal_parameters . (identifier) @binding.handed))
(function_expression parameters: (formal_parameters . (identifier) @binding.handed))
(formal_parameters (assignment_pattern left: (identifier) @binding right: (_) @binding.value))
(field_definition property: (_) @binding.property)
(field_definition value: (_) @binding.value)
