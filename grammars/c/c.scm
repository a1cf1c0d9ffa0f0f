; What C and C++ have in common.

; Functions. The name is what the innermost declarator declares; a declaration without a body is no definition.
; A semicolon between the brackets ends a statement: the grammar takes calls that it cannot read for parameters.
((function_definition declarator: [(function_declarator declarator: (_) @_called parameters: (_) @_taken)
    (pointer_declarator declarator: (function_declarator declarator: (_) @_called parameters: (_) @_taken))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @_called parameters: (_) @_taken)))])
  @definition.function (#not-match? @_called "^(if|for|while|switch|return|do|else|catch|sizeof|defined)$")
  (#not-match? @_taken "^(?:[^;/\"'{]|/(?![/*])|//[^\n]*\n|/[*](?:[^*]|[*](?!/))*[*]/|\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*')*;"))
(function_definition body: (_) @body)
; A macro in the place of the name: what it is given is the name, `TEST(name) {…}`, or the type and the name.
((function_definition declarator: (parenthesized_declarator (identifier) @name)) @definition.function)
((function_declarator declarator: (identifier) @_macro parameters: (parameter_list
    . (parameter_declaration type: (type_identifier) @name !declarator) .))
  (#match? @_macro "^[A-Z][A-Z0-9_]+$"))
((function_declarator declarator: (identifier) @_macro parameters: (parameter_list
    . (parameter_declaration type: (type_identifier) @owner !declarator)
    . (parameter_declaration type: (type_identifier) @name !declarator) .))
  (#match? @_macro "^[A-Z][A-Z0-9_]+$"))
((function_declarator declarator: (identifier) @name) (#not-match? @name "^[A-Z][A-Z0-9_]+$"))
((function_declarator declarator: (identifier) @name parameters: (parameter_list [(parameter_declaration declarator: (_))
    (parameter_declaration type: (primitive_type))])) (#match? @name "^[A-Z][A-Z0-9_]+$"))
((function_declarator declarator: (identifier) @name parameters: (parameter_list . "(" . ")")) (#match? @name "^[A-Z][A-Z0-9_]+$"))

; Types. The name of a type that has none but by `typedef` stands behind its body.
(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(type_definition type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)]
  . declarator: (type_identifier) @name.behind) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) . declarator: (type_identifier) @name.behind) @definition.enum

; Other names for types.
(type_definition type: [(struct_specifier name: (_) @returns.ahead body: (_))
  (union_specifier name: (_) @returns.ahead body: (_)) (enum_specifier name: (_) @returns.ahead body: (_))])
((type_definition type: [(struct_specifier name: (_) @_tag body: (_)) (union_specifier name: (_) @_tag body: (_))
  (enum_specifier name: (_) @_tag body: (_))] declarator: (type_identifier) @name @definition.type) (#not-eq? @_tag @name))
((type_definition type: [(struct_specifier name: (_) @returns !body) (union_specifier name: (_) @returns !body)
  (enum_specifier name: (_) @returns !body)] declarator: [(type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)]) @definition.type (#not-eq? @returns @name))
(type_definition type: (type_identifier) @returns declarator: [(type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)]) @definition.type
(type_definition type: [(primitive_type) (sized_type_specifier)] @returns declarator: [(type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name) (array_declarator declarator: (type_identifier) @name)]) @definition.type
(type_definition declarator: (function_declarator declarator: [(type_identifier) @name (parenthesized_declarator
  (pointer_declarator declarator: (type_identifier) @name))])) @definition.type
(type_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [(type_identifier) @name
  (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))]))) @definition.type

; Members.
(field_declaration declarator: (field_identifier) @name @definition.field)
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name) @definition.field)
(field_declaration declarator: (array_declarator declarator: (array_declarator declarator: (field_identifier) @name)) @definition.field)
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name) @definition.field)
(field_declaration declarator: (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name)) @definition.field)
(field_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name)) @definition.field)
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (field_identifier) @name))) @definition.field)
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (field_identifier) @name)))) @definition.field)
(field_declaration declarator: (_)) @span

; Macros.
(preproc_function_def name: (identifier) @name value: (preproc_arg) @body) @definition.macro
(preproc_function_def name: (identifier) @name !value) @definition.macro
(preproc_def name: (identifier) @name value: (preproc_arg)) @definition.constant

; Variables of the file, unless they are only said to be elsewhere.
((translation_unit (declaration declarator: [
    (identifier) @name @definition.constant
    (init_declarator declarator: (identifier) @name) @definition.constant
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name)) @definition.constant
    (init_declarator declarator: (array_declarator declarator: (identifier) @name)) @definition.constant
    (init_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @name))) @definition.constant
    (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))) @definition.constant
    (pointer_declarator declarator: (identifier) @name) @definition.constant
    (array_declarator declarator: (identifier) @name) @definition.constant]) @_whole)
  (#not-match? @_whole "^extern\\b[^{=]*;"))
((translation_unit (_ (declaration declarator: [
    (identifier) @name @definition.constant
    (init_declarator declarator: (identifier) @name) @definition.constant
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name)) @definition.constant
    (init_declarator declarator: (array_declarator declarator: (identifier) @name)) @definition.constant
    (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))) @definition.constant
    (pointer_declarator declarator: (identifier) @name) @definition.constant
    (array_declarator declarator: (identifier) @name) @definition.constant]) @_whole) @_around)
  (#not-match? @_whole "^extern\\b[^{=]*;") (#match? @_around "^\\s*#"))
((declaration_list (declaration declarator: [
    (identifier) @name @definition.constant
    (init_declarator declarator: (identifier) @name) @definition.constant
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name)) @definition.constant
    (init_declarator declarator: (array_declarator declarator: (identifier) @name)) @definition.constant
    (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))) @definition.constant
    (array_declarator declarator: (identifier) @name) @definition.constant]) @_whole)
  (#not-match? @_whole "^extern\\b[^{=]*;"))
(declaration) @span

; Documentation.
(comment) @comment

; Files that are included.
(preproc_include path: [(string_literal) (system_lib_string)] @import.from) @import

; Uses.
(call_expression function: (_) @reference.call)
(identifier) @reference
(type_identifier) @reference

; Names that get a value; their type stands before them.
(parameter_declaration type: (_) @binding.type)
(parameter_declaration type: [(struct_specifier name: (_) @binding.type) (union_specifier name: (_) @binding.type)
  (enum_specifier name: (_) @binding.type)])
(declaration type: (_) @binding.type)
(declaration type: [(struct_specifier name: (_) @binding.type) (union_specifier name: (_) @binding.type)
  (enum_specifier name: (_) @binding.type)])
(field_declaration type: (_) @binding.type)
(field_declaration type: [(struct_specifier name: (_) @binding.type) (union_specifier name: (_) @binding.type)
  (enum_specifier name: (_) @binding.type)])
(parameter_declaration declarator: (identifier) @binding)
(declaration declarator: (identifier) @binding)
(init_declarator declarator: (identifier) @binding)
(pointer_declarator declarator: (identifier) @binding)
(array_declarator declarator: (identifier) @binding)
(field_declaration declarator: (field_identifier) @binding.property)
(pointer_declarator declarator: (field_identifier) @binding.property)
(array_declarator declarator: (field_identifier) @binding.property)
(function_definition type: [(type_identifier) @returns (struct_specifier name: (_) @returns) (union_specifier name: (_) @returns)])
(preproc_params (identifier) @binding.item)

; What is held: members, and what gets a value.
(field_expression) @member
(assignment_expression left: [(identifier) (field_expression)] @written)
(assignment_expression left: (subscript_expression argument: [(identifier) (field_expression)] @written))
(update_expression argument: [(identifier) (field_expression)] @written)
(labeled_statement label: (_) @binding.key)
(goto_statement label: (_) @binding.key)
