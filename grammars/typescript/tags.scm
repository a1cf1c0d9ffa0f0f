; Definitions. A capture without a @name inside is the anonymous default of its file.
(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(function_signature name: (identifier) @name) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.namespace
(module name: (identifier) @name body: (_) @body) @definition.namespace
(method_definition name: (_) @name body: (_) @body) @definition.method
(class_body (method_signature name: (_) @name) @definition.method)
(interface_body (method_signature name: (_) @name) @definition.method)
(type_alias_declaration value: (object_type (method_signature name: (_) @name) @definition.method))
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name) @definition.field
(interface_body (property_signature name: (_) @name) @definition.field)
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @definition.field))
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method

; Called by being named: what it returns is what the member holds.
(method_definition "get") @property

; Functions and classes that are values of a name.
(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)
  (parenthesized_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (as_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (as_expression (parenthesized_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (satisfies_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)])]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(assignment_expression left: [(identifier) (member_expression)] @name right: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(assignment_expression left: (member_expression) @name right: (class body: (_) @body)) @definition.class
(pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.method
(export_statement value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
(export_statement value: (class !name body: (_) @body)) @definition.class
(export_statement value: (function_expression name: (identifier) @name body: (_) @body)) @definition.function
(export_statement value: (class name: (_) @name body: (_) @body)) @definition.class

; A function or class with a name of its own that is handed back; as an argument it belongs to where it stands.
(return_statement [
  (function_expression name: (identifier) @name body: (_) @body)
  (generator_function name: (identifier) @name body: (_) @body)] @definition.function)
(return_statement (class name: (_) @name body: (_) @body) @definition.class)
(arrow_function body: (function_expression name: (identifier) @name body: (_) @body) @definition.function)
(arrow_function body: (class name: (_) @name body: (_) @body) @definition.class)

(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant)))
(program (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant)))
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))

; What gives a name to the functions inside of it without being a symbol itself.
(variable_declarator name: (identifier) @name value: (object)) @holder
(variable_declarator name: (identifier) @name value: (as_expression (object))) @holder
(variable_declarator name: (identifier) @name value: (satisfies_expression (object))) @holder
(pair key: (_) @name value: (object)) @holder
(public_field_definition name: (_) @name value: (object)) @holder
(assignment_expression left: (member_expression) @name right: (object)) @holder

; Documentation, and the statement that a definition's comment stands above of.
(comment) @comment
(export_statement) @span
(lexical_declaration) @span
(variable_declaration) @span
(expression_statement (assignment_expression)) @span

; Base classes and interfaces.
(class_heritage (extends_clause value: (_) @base))
(class_heritage (implements_clause (type_identifier) @base.implements))
(class_heritage (implements_clause (nested_type_identifier) @base.implements))
(class_heritage (implements_clause (generic_type name: (_) @base.implements)))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @base)
(extends_type_clause type: (generic_type name: (_) @base))

; Uses.
(call_expression function: (_) @reference.call)
(new_expression constructor: (_) @reference.call)
(decorator [(identifier) (member_expression)] @reference.call)
(identifier) @reference
(type_identifier) @reference
(shorthand_property_identifier) @reference

; Imports and exports.
(import_statement) @import
(import_statement source: (string (string_fragment) @import.from))
(import_clause (identifier) @import.default)
(import_clause (namespace_import (identifier) @import.namespace))
(import_specifier name: (_) @import.name)
(import_specifier alias: (_) @import.alias)
(import_require_clause (identifier) @import.namespace)
(import_require_clause source: (string (string_fragment) @import.from))
(export_statement source: (string (string_fragment) @import.from)) @import.reexport
(export_statement "*" source: (string)) @import.star
(namespace_export (_) @import.namespace)
(export_specifier name: (_) @import.name)
(export_specifier alias: (_) @import.alias)
(export_statement (export_clause)) @export
(export_statement "default" value: (_) @export.default)
(export_statement "default" declaration: (_ name: (_) @export.default))
(assignment_expression left: (member_expression) @exports right: [(identifier) (member_expression) (call_expression)] @exports.value)
(assignment_expression left: (member_expression) @exports right: (object) @exports.object)
(assignment_expression left: (member_expression) right: (object (shorthand_property_identifier) @exports.item))
(assignment_expression left: (member_expression) right: (object
  (pair key: [(property_identifier) (string)] @exports.key value: [(identifier) (member_expression)] @exports.item)))
(call_expression function: [(identifier) (import)] @require arguments: (arguments . (string (string_fragment) @require.module)))

; Names that get a value, with the type or the value as far as a chain of names can tell it.
(variable_declarator name: (identifier) @binding)
(variable_declarator type: (type_annotation (_) @binding.type))
(variable_declarator value: (_) @binding.value)
(variable_declarator name: (object_pattern) @binding.pattern)
(shorthand_property_identifier_pattern) @binding.item
(object_pattern (pair_pattern key: (_) @binding.key value: (identifier) @binding.item))
(array_pattern (identifier) @binding.item)
(rest_pattern (identifier) @binding.item)
(assignment_pattern left: (identifier) @binding.item)
(required_parameter pattern: (identifier) @binding)
(optional_parameter pattern: (identifier) @binding)
(required_parameter type: (type_annotation (_) @binding.type))
(optional_parameter type: (type_annotation (_) @binding.type))
(required_parameter (accessibility_modifier) pattern: (identifier) @binding.property)
(required_parameter "readonly" pattern: (identifier) @binding.property)
(optional_parameter (accessibility_modifier) pattern: (identifier) @binding.property)
(optional_parameter "readonly" pattern: (identifier) @binding.property)
(arrow_function parameter: (identifier) @binding)
(catch_clause parameter: (identifier) @binding.item)
(for_in_statement left: (identifier) @binding.item)
(assignment_expression left: (identifier) @binding)
(assignment_expression left: (member_expression object: (this)) @binding)
(assignment_expression right: (_) @binding.value)
(public_field_definition name: (_) @binding.property)
(public_field_definition type: (type_annotation (_) @binding.type))
(public_field_definition value: (_) @binding.value)
(interface_body (property_signature name: (_) @binding.property))
(type_alias_declaration value: (object_type (property_signature name: (_) @binding.property)))
(property_signature type: (type_annotation (_) @binding.type))
(type_parameter name: (type_identifier) @binding.item)
(function_declaration return_type: (type_annotation (_) @returns))
(method_definition return_type: (type_annotation (_) @returns))
(method_signature return_type: (type_annotation (_) @returns))
(arrow_function return_type: (type_annotation (_) @returns))
