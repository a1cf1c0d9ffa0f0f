; Definitions. Procedures, types and what a package holds; `when` is no scope, and a declared procedure has no body.
(package_declaration (identifier) @package)
(procedure_declaration . (attributes)? . (identifier) @name (procedure (block))) @definition.function
(procedure_declaration . (attributes)? . (identifier) @name (procedure (uninitialized))) @definition.function
(procedure_declaration . (attributes)? . (identifier) @name) @definition.type
(procedure_declaration (procedure (block) @body))
(overloaded_procedure_declaration . (attributes)? . (identifier) @name) @definition.function
(struct_declaration . (attributes)? . (identifier) @name "{" @body) @definition.struct
(union_declaration . (attributes)? . (identifier) @name "{" @body) @definition.type
(enum_declaration . (attributes)? . (identifier) @name "{" @body) @definition.enum
(bit_field_declaration . (attributes)? . (identifier) @name "{" @body) @definition.struct
(const_declaration . (attributes)? . (identifier) @name "::" . [
  (array_type) (map_type) (pointer_type) (matrix_type) (bit_set_type) (distinct_type) (procedure_type) (type)
  (tag)] @returns) @definition.type
(const_declaration . (attributes)? . (identifier) @name "::" . (call_expression function: (identifier) @_made) @returns
  (#match? @_made "^[A-Z]")) @definition.type
(const_declaration . (attributes)? . (identifier) @name) @definition.constant
(const_type_declaration . (attributes)? . (identifier) @name) @definition.constant
(source_file (var_declaration . (attributes)? . (identifier) @name) @definition.constant)
(source_file (variable_declaration . (attributes)? . (identifier) @name) @definition.constant)
(source_file (when_statement (block (var_declaration . (attributes)? . (identifier) @name) @definition.constant)))
(source_file (when_statement (block (assignment_statement . (identifier) @name ":=") @definition.constant)))
(foreign_block (block (var_declaration . (attributes)? . (identifier) @name) @definition.constant))
((field . (identifier) @name) @definition.field (#not-match? @definition.field "^using"))
(field "using" . (identifier) @name @definition.field)
(field (identifier) . "," . (identifier) @name @definition.field)
(enum_declaration "{" . (identifier) @name @definition.field)
(enum_declaration "," . (identifier) @name @definition.field)
(bit_field_declaration (identifier) @name @definition.field . ":")
(procedure_declaration (procedure "->" (type) @returns))

; Documentation.
(comment) @comment
(block_comment) @comment

; What a structure holds with `using` has members that it has, too.
(field "using" (type (identifier) @base))
(field "using" (type (field_type) @base))
(field "using" (type (pointer_type (type [(identifier) (field_type)] @base))))

; Uses. The node of a call stands behind what it is a member of.
(call_expression function: (_) @reference.call)
(identifier) @reference
(struct_field . (identifier) @key . "=")
(parameter (identifier) @key . ":")
(parameter (identifier) @key . ",")
(default_parameter . (identifier) @key)
(named_type (identifier) @key)
(attribute (identifier) @key)
(package_declaration (identifier) @key)
(call_expression argument: (identifier) @key . "=")
(member_expression . "." (identifier) @key)
(enum_declaration "{" . (identifier) @key)
(enum_declaration "," . (identifier) @key)

; Imports.
; A library that is not of this language is no package.
((import_declaration !alias (string (string_content) @import.module)) @import
  (#not-match? @import "^(?:@[^\n]*\\s+)?foreign"))
((import_declaration alias: (identifier) @import.namespace (string (string_content) @import.from)) @import
  (#not-match? @import "^(?:@[^\n]*\\s+)?foreign"))

; Blocks: a name is visible until the one ends in which it is declared.
(procedure) @block
(procedure_type (block)) @block
(procedure (block) @block)
(if_statement) @block
(if_statement consequence: (block) @block)
(else_if_clause) @block
(else_clause) @block
(for_statement) @block
(for_statement consequence: (block) @block)
(switch_statement) @block
(switch_case) @block
(block (block) @block)

; Declarations.
(parameter (identifier) @declaration.name ":") @declaration
(parameter (type) @declaration.type)
(default_parameter . (identifier) @declaration.name (_) @declaration.value .) @declaration
(named_type (identifier) @declaration.name (type) @declaration.type) @declaration
(polymorphic_parameters (identifier) @declaration.parameter (type) @declaration.type) @declaration
(var_declaration (identifier) @declaration.name ":") @declaration
(var_declaration (type) @declaration.type)
(variable_declaration (identifier) @declaration.name ":=" (_) @declaration.value) @declaration
(const_type_declaration (identifier) @declaration.name ":" (type) @declaration.type) @declaration
(const_declaration . (identifier) @declaration.name "::" (_) @declaration.value) @declaration
(assignment_statement (identifier) @declaration.name ":=") @declaration
(assignment_statement ":=" (_) @declaration.value)
(for_statement "for" . (identifier) @declaration.name "in" . (_) @declaration.items) @declaration
(field (identifier) @declaration.member ":" (type) @declaration.type) @declaration
(switch_statement condition: (in_expression)) @declaration.switch
(switch_statement condition: (in_expression . [(identifier) @declaration.alias (unary_expression argument: (identifier) @declaration.alias)]))
(switch_statement condition: (in_expression (_) (_) @declaration.subject .))
(switch_case . condition: [(identifier) (member_expression) (pointer_type)] @declaration.case)

; What is held: members, and what gets a value.
(member_expression (_) (identifier)) @member
(assignment_statement . [(identifier) (member_expression)] @written "=")
(update_statement . [(identifier) (member_expression)] @written)
