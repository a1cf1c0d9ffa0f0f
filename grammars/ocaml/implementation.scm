; Definitions. A value is a function if it has parameters, is one, or says so by its type.
(let_binding pattern: (value_name) @name . (parameter) body: (_) @body) @definition.function
(let_binding . pattern: (value_name) @name body: [(fun_expression) (function_expression)] @body) @definition.function
(let_binding . pattern: (value_name) @name . type: [(function_type) (polymorphic_type)] body: (_) @body) @definition.function
((compilation_unit (value_definition (let_binding . pattern: (value_name) @name . body: (_) @_value) @definition.constant))
  (#not-match? @_value "^\\(?fun(ction)?[\\s%]"))
((structure (value_definition (let_binding . pattern: (value_name) @name . body: (_) @_value) @definition.constant))
  (#not-match? @_value "^\\(?fun(ction)?[\\s%]"))
((compilation_unit (value_definition (let_binding . pattern: (value_name) @name . type: (_) @_type) @definition.constant))
  (#not-match? @_type "->"))
((structure (value_definition (let_binding . pattern: (value_name) @name . type: (_) @_type) @definition.constant))
  (#not-match? @_type "->"))
(module_binding (module_name) @name body: (structure) @body) @definition.namespace
; What a functor asks of its argument is in the module type.
(module_type_definition body: (signature (value_specification (value_name) @name type: (_)) @definition.function))
(module_type_definition body: (signature (module_definition
  (module_binding (module_name) @name module_type: (signature) @body)) @definition.namespace))
(module_type_definition body: (signature (module_definition (module_binding module_type: (signature
  (value_specification (value_name) @name type: (_)) @definition.function)))))
; Those of an argument without a named type are the functor's.
(module_parameter module_type: (signature (value_specification (value_name) @name type: (_)) @definition.function))

; Uses.
(application_expression function: (value_path) @reference.call)
(method_invocation) @reference.call
((infix_expression left: (value_path) @reference.call operator: (_) @_op) (#eq? @_op "@@"))
((infix_expression operator: (_) @_op right: (value_path) @reference.call) (#eq? @_op "|>"))
(value_path) @reference
(module_application functor: (module_path) @reference)

; Another name for a module, and a module that a functor makes.
(module_binding (module_name) @binding body: (module_path) @binding.value)
(module_binding (module_name) @binding body: (module_application functor: (module_path) @binding.value))
(module_binding (module_name) @binding
  body: (module_application functor: (module_application functor: (module_path) @binding.value)))
(module_binding (module_name) @binding
  body: (typed_module_expression (module_path) @binding.value))
(module_parameter (module_name) @binding.item)
(module_parameter (module_name) @name module_type: (signature) @body) @definition.namespace
(module_parameter (module_name) @binding module_type: (module_type_path) @binding.type)
(module_parameter (module_name) @binding module_type: (module_type_constraint (module_type_path) @binding.type))
; What a module takes over from another.
(include_module module: (module_path) @import.from @import.star) @import.reexport
(include_module module: (module_application functor: (module_path) @import.from @import.star)) @import.reexport
; One that is opened for a part of an expression; what is declared in that part hides its members.
(local_open_expression . (module_path) @import @import.from @import.star) @import.within
(let_expression . (open_module)) @import.within
[(let_binding) (let_expression) (fun_expression) (match_case)] @block
(let_binding pattern: (_) @binding.local)
(value_pattern) @binding.local
(let_expression (module_definition (module_binding (module_name) @binding.local)))

; Names that get a value.
(value_pattern) @binding.item
(let_expression (value_definition (let_binding pattern: (value_name) @binding.item)))
(for_expression name: (value_pattern) @binding.item)
