; Definitions. The word before the name tells classes from interfaces. An object inside of a class that has no name is
; called Companion.
((class_declaration (modifiers) @_how "class") @definition.enum (#match? @_how "\\benum\\b"))
((class_declaration (modifiers) @_how "class") @definition.class (#not-match? @_how "\\benum\\b"))
(class_declaration . "class") @definition.class
(class_declaration "interface") @definition.interface
(class_declaration name: (identifier) @name)
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration name: (identifier) @name) @definition.class
(object_declaration (class_body) @body)
(companion_object name: (identifier) @name) @definition.class
(companion_object !name "companion" @name) @definition.class
(companion_object (class_body) @body)
(object_literal "object" @name.numbered (class_body) @body) @definition.class
(type_alias type: (identifier) @name) @definition.type
(type_alias "=" . (user_type) @returns)
(type_alias "=" . (nullable_type . (user_type) @returns))
(function_declaration name: (identifier) @name) @definition.function
(function_declaration (function_body) @body)
(secondary_constructor "constructor" @name.constructor) @definition.method
(secondary_constructor (block) @body)
(enum_entry . (modifiers)? . (identifier) @name) @definition.field
(enum_entry (class_body)) @holder

; Functions and properties that are written outside of the type that they belong to.
(source_file (function_declaration [(user_type) (nullable_type)] @owner . "." . name: (_)) @definition.method)
(source_file (property_declaration [(user_type) (nullable_type)] @owner . "." . (variable_declaration . (identifier) @name))
  @definition.method @property)

; Values. A property that is computed when it is named is a method.
(property_declaration (variable_declaration . (identifier) @name) (getter (function_body) @body)) @definition.method @property
(property_declaration (variable_declaration (user_type) @returns) (getter (function_body)))
(property_declaration (variable_declaration (nullable_type . (user_type) @returns)) (getter (function_body)))
((class_body (property_declaration (modifiers) @_how (variable_declaration . (identifier) @name)) @definition.constant)
  (#match? @_how "\\bconst\\b"))
((class_body (property_declaration (modifiers) @_how (variable_declaration . (identifier) @name)) @definition.field)
  (#not-match? @_how "\\bconst\\b"))
(class_body (property_declaration . ["val" "var"] (variable_declaration . (identifier) @name)) @definition.field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.field)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @definition.constant)
(class_parameter ["val" "var"] . (identifier) @name) @definition.field

; Documentation.
(line_comment) @comment
(block_comment) @comment

; What types derive from: a class is called, an interface is named.
(delegation_specifier (user_type) @base)
(delegation_specifier (constructor_invocation (user_type) @base))
(delegation_specifier (explicit_delegation . (user_type) @base))

; Uses. A function that is the last argument may stand behind the list of the others.
(call_expression) @call
(delegation_specifier (constructor_invocation (user_type) @call.type) @call)
(constructor_delegation_call ["this" "super"] @call.name) @call
(value_arguments) @call.arguments
(value_argument) @call.argument
(annotated_lambda) @call.further
(callable_reference) @reference.callable
(identifier) @reference
(value_argument . (identifier) @binding.key . "=")
(lambda_literal) @lambda

; The package, and imports.
(package_header (qualified_identifier) @package)
(import) @import
(import (qualified_identifier) @import.tree)
(import (identifier) @import.alias)
(import "*" @import.star)

; Names that get a value, with their types.
(property_declaration (variable_declaration . (identifier) @binding))
(property_declaration "=" . (_) @binding.value)
(property_declaration (property_delegate [(identifier) (navigation_expression)] @binding.value))
(property_declaration (property_delegate (call_expression . (identifier) @_by) @binding.value) (#eq? @_by "lazy"))
(class_body (property_declaration (variable_declaration . (identifier) @binding.property)))
(enum_class_body (property_declaration (variable_declaration . (identifier) @binding.property)))
(class_parameter (identifier) @binding)
(class_parameter ["val" "var"] . (identifier) @binding.property)
(class_parameter (user_type) @binding.type)
(class_parameter (nullable_type . (user_type) @binding.type))
(parameter . (identifier) @binding)
(parameter (user_type) @binding.type)
(parameter (nullable_type . (user_type) @binding.type))
(variable_declaration (user_type) @binding.type)
(variable_declaration (nullable_type . (user_type) @binding.type))
(multi_variable_declaration (variable_declaration . (identifier) @binding.item))
(lambda_parameters (variable_declaration . (identifier) @binding @binding.handed))
(lambda_parameters (multi_variable_declaration (_) . (variable_declaration . (identifier) @binding.handed) .))
(for_statement (multi_variable_declaration (_) . (variable_declaration . (identifier) @binding) .))
(for_statement (multi_variable_declaration) . (_) @binding.elements)
(when_subject (variable_declaration . (identifier) @binding))
(when_subject (variable_declaration) "=" . (_) @binding.value)
(for_statement (variable_declaration . (identifier) @binding))
(for_statement (variable_declaration) . (_) @binding.elements)
(catch_block (identifier) @binding)
(catch_block (user_type) @binding.type)
(setter (identifier) @binding.item)

; A name that is checked to be of a type is of it in the branches of that check, or behind what is left if it is not.
(if_expression condition: (is_expression "is")) @region
(if_expression condition: (binary_expression left: (is_expression "is"))) @region
(is_expression left: (identifier) @binding right: (user_type) @binding.type)
(block (as_expression left: (identifier) @binding right: (user_type) @binding.type))
(when_expression (when_subject)) @binding.match
(when_subject . (identifier) @binding.subject)
(when_subject (variable_declaration . (identifier) @binding.subject))
(when_entry . condition: (type_test)) @region
(when_entry . condition: (type_test . (user_type) @checked.type) . "->")
(type_parameter (identifier) @binding.generic)
(type_parameter (user_type) @binding.type)

; What functions take and give.
(function_value_parameters (parameter (identifier) . (_) @parameter))
((function_value_parameters (parameter_modifiers) @_how . (parameter (identifier) . (_) @parameter.rest))
  (#match? @_how "\\bvararg\\b"))
(function_value_parameters "=" @parameter.optional)
(function_declaration (function_value_parameters) . ":" . (user_type) @returns)
(function_declaration (function_value_parameters) . ":" . (nullable_type . (user_type) @returns))
(function_declaration (function_body . "=" . [(call_expression) (navigation_expression) (identifier)] @returned))

; What is held: members, and what gets a value.
(navigation_expression) @member
(assignment left: [(identifier) (navigation_expression)] @written)
(assignment left: (index_expression . [(identifier) (navigation_expression)] @written))

; A type of which the grammar understands the parts alone. What is asked of the name keeps every other error from being
; one: tree-sitter knows no production of an error, takes it for granted that its parts are there, and hands the outer
; capture over before it has looked.
((ERROR "class" . (identifier) @name) @definition.class (#not-eq? @name ""))
((ERROR "interface" . (identifier) @name) @definition.interface (#not-eq? @name ""))
