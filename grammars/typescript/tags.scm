; What TypeScript adds to ../javascript/ecmascript.scm, and what its grammar names in a way of its own.

; Definitions.
(function_signature name: (identifier) @name) @definition.function
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.namespace
(module name: (identifier) @name body: (_) @body) @definition.namespace
(class_body (method_signature name: (_) @name) @definition.method)
(interface_body (method_signature name: (_) @name) @definition.method)
(type_alias_declaration value: (object_type (method_signature name: (_) @name) @definition.method))
((type_alias_declaration value: (generic_type name: (type_identifier) @_same type_arguments: (type_arguments (object_type (method_signature name: (_) @name) @definition.method))))
  (#any-of? @_same "Readonly" "Partial" "Required"))
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name) @definition.field
(interface_body (property_signature name: (_) @name) @definition.field)
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @definition.field))
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method

; Functions that are values of a name.
(variable_declarator name: (identifier) @name value: [
  (as_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (as_expression (parenthesized_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (satisfies_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)])]) @definition.function
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))

; What gives a name to the functions inside of it without being a symbol itself.
(variable_declarator name: (identifier) @name value: (as_expression (object))) @holder
(variable_declarator name: (identifier) @name value: (satisfies_expression (object))) @holder
((public_field_definition name: (_) @name value: (_ function: (identifier) @_wrapper
  arguments: (arguments . (arrow_function body: (_) @body)))) @definition.method (#eq? @_wrapper "createEffect"))
(public_field_definition name: (_) @name value: (object)) @holder

; `f<T>({…})` that the parser takes for two comparisons, as it does now and then.
((variable_declarator name: (identifier) @name value: (_
  left: (binary_expression left: (identifier) @_freeze operator: "<") operator: ">" right: (parenthesized_expression (object)))) @holder
  (#any-of? @_freeze "freeze" "seal"))
(binary_expression left: (_ left: [(identifier) (member_expression)] @reference.call operator: "<" right: (identifier))
  operator: ">" right: (parenthesized_expression))

; Base classes and interfaces; of a mixin, the function that makes the class and the class that it is given.
(class_heritage (extends_clause value: [
  (identifier) (member_expression) (subscript_expression) (parenthesized_expression) (ternary_expression) (class)
  (as_expression) (non_null_expression) (satisfies_expression)] @base))
(class_heritage (extends_clause value: (call_expression function: (_) @base)))
(class_heritage (extends_clause value: (_ function: (_) arguments: (arguments [(identifier) (member_expression)] @base))))
(class_heritage (extends_clause value: (call_expression arguments: (arguments (_
  function: (_) @base arguments: (arguments [(identifier) (member_expression)] @base))))))
(class_heritage (implements_clause (type_identifier) @base.implements))
(class_heritage (implements_clause (nested_type_identifier) @base.implements))
(class_heritage (implements_clause (generic_type name: (_) @base.implements)))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @base)
(extends_type_clause type: (generic_type name: (_) @base))

; Uses.
(type_identifier) @reference

; Imports.
(import_require_clause (identifier) @import.namespace)
(import_require_clause source: (string (string_fragment) @import.from))

; Names that get a value, with the type or the value as far as a chain of names can tell it.
(variable_declarator type: (type_annotation (_) @binding.type))
(required_parameter pattern: (identifier) @binding)
(required_parameter pattern: (object_pattern) @binding.pattern)
(arrow_function parameters: (formal_parameters (required_parameter pattern: (identifier) @binding.handed)))
(function_expression parameters: (formal_parameters (required_parameter pattern: (identifier) @binding.handed)))
(optional_parameter pattern: (identifier) @binding)
(required_parameter type: (type_annotation (_) @binding.type))
(optional_parameter type: (type_annotation (_) @binding.type))
(required_parameter value: (_) @binding.value)
(required_parameter (accessibility_modifier) pattern: (identifier) @binding.property)
(required_parameter "readonly" pattern: (identifier) @binding.property)
(optional_parameter (accessibility_modifier) pattern: (identifier) @binding.property)
(optional_parameter "readonly" pattern: (identifier) @binding.property)
(public_field_definition name: (_) @binding.property)
(public_field_definition type: (type_annotation (_) @binding.type))
(public_field_definition value: (_) @binding.value)
(interface_body (property_signature name: (_) @binding.property))
(type_alias_declaration value: (object_type (property_signature name: (_) @binding.property)))
(property_signature type: (type_annotation (_) @binding.type))
(type_parameter name: (type_identifier) @binding.item)
(type_parameter constraint: (constraint (_) @binding.type))
(type_alias_declaration value: [(type_identifier) (nested_type_identifier) (generic_type) (function_type) (union_type) (parenthesized_type)] @returns)
(function_declaration return_type: (type_annotation (_) @returns))
(method_definition return_type: (type_annotation (_) @returns))
(function_declaration return_type: (type_predicate_annotation (_) @returns))
(method_definition return_type: (type_predicate_annotation (_) @returns))
(arrow_function return_type: (type_predicate_annotation (_) @returns))
(method_signature return_type: (type_annotation (_) @returns))
(arrow_function return_type: (type_annotation (_) @returns))
