; Definitions. A function that gives a type is that type.
(variable_declaration . (identifier) @name . (struct_declaration) @body) @definition.class
(variable_declaration . (identifier) @name . (union_declaration) @body) @definition.class
(variable_declaration . (identifier) @name . (opaque_declaration) @body) @definition.class
(variable_declaration . (identifier) @name . (enum_declaration) @body) @definition.enum
(variable_declaration . (identifier) @name . (error_set_declaration) @body) @definition.enum
(container_field name: (identifier) @name) @definition.field
(error_set_declaration (identifier) @name @definition.field)
((function_declaration name: (identifier) @name type: (_) @_type) @definition.function (#not-eq? @_type "type"))
((function_declaration name: (identifier) @name type: (_) @_type body: (_)) @definition.class (#eq? @_type "type"))
(function_declaration body: (_) @body)
((source_file (variable_declaration . (identifier) @name . (_) @_value) @definition.constant)
  (#not-match? @_value "^(@import|struct|enum|union|opaque|error|packed|extern|@This)"))
((struct_declaration (variable_declaration . (identifier) @name . (_) @_value) @definition.constant)
  (#not-match? @_value "^(@import|struct|enum|union|opaque|error|packed|extern|@This)"))

; Documentation.
(comment) @comment

; Uses.
(call_expression function: (_) @reference.call)
(identifier) @reference

; Other files.
((variable_declaration . (identifier) @import.namespace . (builtin_function (builtin_identifier) @_import
  (arguments . (string (string_content) @import.from)))) @import (#eq? @_import "@import"))
((variable_declaration . (identifier) . (field_expression object: (builtin_function (builtin_identifier) @_import
  (arguments . (string (string_content) @import.from))) member: (identifier) @import.name)) @import (#eq? @_import "@import"))
; A file is a structure, too.
((source_file (variable_declaration . (identifier) @import.namespace . (builtin_function) @import.from) @import)
  (#eq? @import.from "@This()"))
(using_namespace_declaration (builtin_function (builtin_identifier) (arguments . (string (string_content) @import.from)))) @import @import.star

; Names that get a value, and their types.
(variable_declaration . (identifier) @binding . [
  (identifier) (field_expression) (call_expression)] @binding.value)
(variable_declaration . (identifier) @binding . (try_expression) @binding.value)
(variable_declaration . (identifier) @binding . (catch_expression . (call_expression) @binding.value))
(variable_declaration . (identifier) @binding . (unary_expression argument: [(identifier) (field_expression)] @binding.value))
(variable_declaration . (identifier) @binding . (struct_initializer . [(identifier) (field_expression)] @binding.type))
((variable_declaration . (identifier) @binding.item . (_) @_value) (#not-match? @_value "^@(import|This)"))
(variable_declaration . (identifier) @binding . type: [(identifier) (field_expression)] @binding.type)
(variable_declaration . (identifier) @binding . type: (pointer_type [(identifier) (field_expression)]) @binding.type)
(variable_declaration . (identifier) @binding . type: (nullable_type [(identifier) (field_expression)] @binding.type))
(parameter name: (identifier) @binding.item)
(parameter name: (identifier) @binding type: [(identifier) (field_expression)] @binding.type)
(parameter name: (identifier) @binding type: (pointer_type [(identifier) (field_expression)]) @binding.type)
(parameter name: (identifier) @binding type: (nullable_type [(identifier) (field_expression)] @binding.type))
(parameter name: (identifier) @binding type: (nullable_type (pointer_type [(identifier) (field_expression)]) @binding.type))
(container_field name: (identifier) @binding.property type: [(identifier) (field_expression)] @binding.type)
(container_field name: (identifier) @binding.property type: (pointer_type [(identifier) (field_expression)]) @binding.type)
(container_field name: (identifier) @binding.property type: (nullable_type [(identifier) (field_expression)] @binding.type))
(container_field name: (identifier) @binding.property type: (nullable_type (pointer_type [(identifier) (field_expression)]) @binding.type))
(payload (identifier) @binding.item)
(function_declaration type: [(identifier) (field_expression)] @returns)
(function_declaration type: (pointer_type [(identifier) (field_expression)]) @returns)
(function_declaration type: (nullable_type [(identifier) (field_expression)] @returns))
(function_declaration type: (nullable_type (pointer_type [(identifier) (field_expression)]) @returns))
(function_declaration type: (error_union_type ok: [(identifier) (field_expression)] @returns))
(function_declaration type: (error_union_type ok: (pointer_type [(identifier) (field_expression)]) @returns))
(function_declaration type: (error_union_type ok: (nullable_type [(identifier) (field_expression)] @returns)))

; What is held.
(field_expression) @member
(assignment_expression left: [(identifier) (field_expression)] @written)

; A test, which is named by a string.
(test_declaration (string) (block) @handler.body) @definition.handler
