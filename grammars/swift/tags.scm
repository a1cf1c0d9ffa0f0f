; A pattern whose outermost node is `(_ …)` is told by a field or token that only this node has: to compile a pattern of
; `function_declaration` or `property_declaration` walks most of the grammar.

; Definitions. What an extension holds belongs to the type that it names.
(class_declaration "class" name: (type_identifier) @name) @definition.class
(class_declaration "actor" name: (type_identifier) @name) @definition.class
(class_declaration "struct" name: (type_identifier) @name) @definition.struct
(class_declaration "enum" name: (type_identifier) @name) @definition.enum
(class_declaration "extension" name: (user_type) @owner) @holder
(class_declaration "extension" (inheritance_specifier inherits_from: (user_type) @owner.implements))
(class_declaration body: (_) @body)
(protocol_declaration name: (type_identifier) @name body: (_) @body) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type
(typealias_declaration "=" . [(user_type) (array_type)] @returns)
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(class_declaration "extension" body: (class_body (function_declaration) @definition.method))
(function_declaration "func" . name: _ @name) @definition.function
(protocol_function_declaration "func" . name: _ @name) @definition.method
(init_declaration "init" @name.constructor) @definition.method
(_ body: (function_body) @body)
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro

; Values. A property that is computed when it is named is a method.
(property_declaration . (modifiers)? . (value_binding_pattern) . name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property) @body) @definition.method @property
(_ (type_annotation [(user_type) (array_type)] @returns) computed_value: (_))
(_ (type_annotation (optional_type wrapped: (_) @returns)) computed_value: (_))
((class_body (_ (modifiers) @_how (value_binding_pattern "let") .
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant) (#match? @_how "\\bstatic\\b"))
((class_body (property_declaration (modifiers) @_how (value_binding_pattern ["let" "var"] @_let) .
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
  (#not-match? @_how "\\bstatic\\b"))
((class_body (_ (modifiers) @_how (value_binding_pattern "var") .
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field) (#match? @_how "\\bstatic\\b"))
(class_body (property_declaration . (value_binding_pattern) .
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration (value_binding_pattern) .
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(source_file (property_declaration (value_binding_pattern) .
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(class_body (property_declaration "," . name: (pattern bound_identifier: (simple_identifier) @name) @definition.field))
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field
(enum_entry "case" . name: (simple_identifier) @name) @definition.field
(enum_entry "," . name: (simple_identifier) @name @definition.field)

; Documentation.
(comment) @comment
(multiline_comment) @comment

; What types derive from: which of them are classes is told by their definitions.
(class_declaration ["class" "actor" "struct" "enum"] (inheritance_specifier inherits_from: (user_type) @base))
(protocol_declaration (inheritance_specifier inherits_from: (user_type) @base))

; Uses. A closure may stand behind the other arguments. What stands in brackets is an index.
(call_expression) @call
(call_suffix (value_arguments "(")) @call.arguments
(call_suffix (lambda_literal)) @call.arguments
(value_arguments "(" (value_argument) @call.argument)
(call_suffix . (lambda_literal) @call.further)
(call_suffix (_) (lambda_literal) @call.argument)
(constructor_expression constructed_type: (user_type) @call.type) @call
(constructor_suffix (value_arguments "(")) @call.arguments
(simple_identifier) @reference
(type_identifier) @reference
(value_argument_label (simple_identifier) @binding.key)
(call_suffix name: (simple_identifier) @binding.key)
(parameter external_name: (simple_identifier) @binding.key)

; Imports.
(import_declaration) @import
(import_declaration (identifier) @import.module)

; Names that get a value, with their types.
(property_declaration name: (pattern bound_identifier: (simple_identifier) @binding))
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @binding.property)))
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @binding.property)))
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @binding.property))
(type_annotation [(user_type) (array_type)] @binding.type)
(type_annotation [(opaque_type) (existential_type)] @binding.type)
(type_annotation (optional_type wrapped: [(user_type) (array_type)] @binding.type))
(property_declaration value: (_) @binding.value)
(parameter name: (simple_identifier) @binding)
(parameter [(user_type) (array_type)] @binding.type)
(parameter [(opaque_type) (existential_type)] @binding.type)
(parameter (optional_type wrapped: [(user_type) (array_type)] @binding.type))
(lambda_literal) @lambda
(lambda_parameter name: (simple_identifier) @binding @binding.handed)
(lambda_parameter (user_type) @binding.type)
(_ "if" bound_identifier: (simple_identifier) @binding . "=" . condition: (_) @binding.value)
(_ "guard" bound_identifier: (simple_identifier) @binding . "=" . condition: (_) @binding.value)
(while_statement bound_identifier: (simple_identifier) @binding . "=" . condition: (_) @binding.value)
(for_statement item: (pattern bound_identifier: (simple_identifier) @binding) collection: (_) @binding.elements)
(catch_block error: (pattern (pattern bound_identifier: (simple_identifier) @binding) (user_type) @binding.type))
(pattern bound_identifier: (simple_identifier) @binding.item)
(property_declaration name: (pattern (pattern (simple_identifier) @binding.item)))
(for_statement item: (pattern (pattern (simple_identifier) @binding.item)))
(type_parameter . (type_identifier) @binding.generic)
(type_parameter (user_type) @binding.type)

; What functions take and give.
(parameter [(user_type) (array_type) (dictionary_type) (function_type) (tuple_type) (optional_type)
  (protocol_composition_type)] @parameter)
(parameter (opaque_type (_) @parameter))
(parameter (existential_type (_) @parameter))
(parameter "..." @parameter.rest)
(function_declaration "=" @parameter.optional)
(init_declaration "=" @parameter.optional)
(_ "func" [(user_type) (array_type)] @returns)
(_ "func" (optional_type wrapped: (_) @returns))
(_ "func" (opaque_type (user_type) @returns))
(_ "func" (existential_type (user_type) @returns))

; What is held: members, and what gets a value.
(navigation_expression) @member
(directly_assignable_expression [(simple_identifier) (navigation_expression)] @written)
