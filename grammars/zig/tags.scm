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
; One that gives what another one gives has its members.
((function_declaration type: (_) @_type body: (block (expression_statement (return_expression
  (call_expression function: [(identifier) (field_expression)] @base))))) (#eq? @_type "type"))
((source_file (variable_declaration . (identifier) @name . (_) @_value) @definition.constant)
  (#not-match? @_value "^(@import|struct|enum|union|opaque|error|packed|extern|@This)"))
((struct_declaration (variable_declaration . (identifier) @name . (_) @_value) @definition.constant)
  (#not-match? @_value "^(@import|struct|enum|union|opaque|error|packed|extern|@This)"))

; Documentation.
(comment) @comment

; Uses.
(call_expression function: (_) @reference.call)
; The grammar reads `!f()` and `*f()` as calls of a type.
(call_expression function: (error_union_type ok: (_) @reference.call))
(identifier) @reference

; Other files.
((variable_declaration . (identifier) @import.namespace . (builtin_function (builtin_identifier) @_import
  (arguments . (string (string_content) @import.from)))) @import (#eq? @_import "@import"))
((variable_declaration . (identifier) @import.alias.ahead . (field_expression object: (builtin_function (builtin_identifier) @_import
  (arguments . (string (string_content) @import.from))) member: (identifier) @import.name)) @import (#eq? @_import "@import"))
; A file is a structure, too.
((source_file (variable_declaration . (identifier) @import.namespace . (builtin_function) @import.from) @import)
  (#eq? @import.from "@This()"))
(using_namespace_declaration (builtin_function (builtin_identifier) (arguments . (string (string_content) @import.from)))) @import @import.star

; One that is named in an expression: `@import("a.zig").b.c`, `@import("a.zig").f()`.
((field_expression object: (field_expression object: (builtin_function (builtin_identifier) @require
  (arguments . (string (string_content) @require.module))))) (#eq? @require "@import"))
((call_expression function: (field_expression object: (builtin_function (builtin_identifier) @require
  (arguments . (string (string_content) @require.module))))) (#eq? @require "@import"))

; Names are visible to the end of a block, of what a condition holds for, or of a case.
(block) @block
(if_statement) @block
(if_expression) @block
(while_statement) @block
(for_statement) @block
(switch_case) @block

; Names that get a value, and their types.
((variable_declaration . (identifier) @binding . (field_expression object: (field_expression)) @binding.value)
  (#match? @binding.value "^@import"))
((variable_declaration . (identifier) @binding . (builtin_function) @binding.value) (#match? @binding.value "^.as[(]"))
((variable_declaration . (identifier) @binding . [
  (identifier) (field_expression) (call_expression) (index_expression) (null_coercion_expression) (dereference_expression)
  (struct_initializer . (array_type)) (struct_initializer . (call_expression))] @binding.value)
  (#not-match? @binding.value "^@"))
(variable_declaration . (identifier) @binding . (try_expression) @binding.value)
(variable_declaration . (identifier) @binding . (catch_expression . (_) @binding.value))
(variable_declaration . (identifier) @binding . (binary_expression left: (_) @binding.value "orelse"))
(variable_declaration . (identifier) @binding . (unary_expression argument: [
  (identifier) (field_expression) (index_expression) (struct_initializer . (array_type))] @binding.value))
(variable_declaration . (identifier) @binding . (struct_initializer . [(identifier) (field_expression)] @binding.type))
((variable_declaration . (identifier) @binding.item . (_) @_value) (#not-match? @_value "^@(import|This)"))
(parameter name: (identifier) @binding.item)
; A type may have marks before its name. Slices, which have no methods, stand for what they hold; a function that
; gives a type, for that type.
(variable_declaration . (identifier) @binding . type: (_) @binding.type)
(parameter name: (identifier) @binding type: (_) @binding.type)
(container_field name: (identifier) @binding.property type: (_) @binding.type)
((function_declaration type: (_) @returns) (#not-eq? @returns "type"))
(payload (identifier) @binding.item)
; What a condition or a loop takes out, and the value that a tagged union holds.
(switch_expression . (_) @binding.subject) @binding.match
(switch_case . (field_expression !object) @binding.variant (payload . (identifier) @binding.payload))
(if_statement condition: (_) @binding.subject (payload . (identifier) @binding.matched)) @binding.match
(if_expression condition: (_) @binding.subject (payload . (identifier) @binding.matched)) @binding.match
(while_statement condition: (_) @binding.subject (payload . (identifier) @binding.matched)) @binding.match
(for_statement . (_) @binding.subject (payload . (identifier) @binding.matched)) @binding.match

; What is held.
(field_expression) @member
(assignment_expression left: [(identifier) (field_expression)] @written)

; A test, which is named by a string.
(test_declaration (string) (block) @handler.body) @definition.handler
