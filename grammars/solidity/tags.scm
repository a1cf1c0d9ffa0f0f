; Definitions. A constructor is a method called `constructor`; calling it is calling its contract.
(contract_declaration name: (identifier) @name body: (_) @body) @definition.class
(library_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(struct_declaration name: (identifier) @name body: (_) @body) @definition.struct
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_value) @name @definition.field
(struct_member name: (identifier) @name) @definition.field
(function_definition name: (identifier) @name) @definition.function
(function_definition body: (_) @body)
(modifier_definition name: (identifier) @name) @definition.function
(modifier_definition body: (_) @body)
(constructor_definition "constructor" @name.constructor body: (_) @body) @definition.method
(fallback_receive_definition ["fallback" "receive"] @name body: (_) @body) @definition.method
(event_definition name: (identifier) @name) @definition.function
(error_declaration name: (identifier) @name) @definition.function
(user_defined_type_definition name: (identifier) @name) @definition.type
(state_variable_declaration name: (identifier) @name) @definition.field
(constant_variable_declaration name: (identifier) @name) @definition.constant

; Documentation.
(comment) @comment

; Bases.
(inheritance_specifier ancestor: (user_defined_type) @base)

; Uses. A modifier runs with the function that names it; events are emitted and errors are raised by name.
(call_expression function: (expression (identifier) @reference.call))
(call_expression function: (expression (member_expression object: [
  (identifier) (expression [(identifier) (member_expression) (call_expression) (array_access)])]) @reference.call))
; The grammar reads `a && b.f()` as `(a && b).f()`: the name before the bracket is called.
(call_expression function: (expression (member_expression object: (expression [
  (binary_expression) (unary_expression) (ternary_expression) (assignment_expression) (type_cast_expression)
  (parenthesized_expression)]))) "(" @reference.token)
(call_expression function: (expression (struct_expression type: (expression [(identifier) (member_expression)] @reference.call))))
(call_expression function: (expression (new_expression name: (type_name) @reference.call)))
(modifier_invocation (identifier) @reference.call)
(emit_statement name: (expression (_) @reference.call))
(revert_statement error: (expression (_) @reference.call))
(identifier) @reference
(call_struct_argument name: (identifier) @binding.key)
(struct_field_assignment name: (identifier) @binding.key)

; Other files.
(import_directive !import_name !alias source: (string) @import.from) @import @import.star
(import_directive source: (string) @import.from) @import
(import_directive import_name: (identifier) @import.name)
(import_directive import_name: (identifier) alias: (identifier) @import.alias)
(import_directive !import_name alias: (identifier) @import.namespace)

; Names that get a value; their type stands before them.
(parameter type: (type_name) @binding.type name: (identifier) @binding)
(variable_declaration type: (type_name) @binding.type name: (identifier) @binding)
(state_variable_declaration type: (type_name) @binding.type name: (identifier) @binding.property)
(struct_member type: (type_name) @binding.type name: (identifier) @binding.property)
(constant_variable_declaration type: (type_name) @binding.type name: (identifier) @binding)
(function_definition (parameter type: (type_name) @parameter))
(modifier_definition (parameter type: (type_name) @parameter))
(constructor_definition (parameter type: (type_name) @parameter))
(event_definition (event_parameter type: (type_name) @parameter))
(error_declaration (error_parameter type: (type_name) @parameter))
(function_definition return_type: (return_type_definition . (parameter type: (type_name) @returns) .))
(library_declaration body: (contract_body (function_definition . name: (identifier) . (parameter type: (type_name) @owner.extended))))

; What is held.
(member_expression) @member
(assignment_expression left: (expression [(identifier) (member_expression)] @written))
