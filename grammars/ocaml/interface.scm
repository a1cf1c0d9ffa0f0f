; What a module shows of itself.
(value_specification (value_name) @name type: (function_type)) @definition.function
((value_specification (value_name) @name type: (_) @_type) @definition.constant (#not-match? @_type "->"))
(module_definition (module_binding (module_name) @name module_type: (signature) @body)) @definition.namespace
