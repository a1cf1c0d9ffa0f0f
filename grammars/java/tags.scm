; Definitions. A constructor is a method called `constructor`; calling it is calling its class.
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(method_declaration name: (identifier) @name) @definition.method
(method_declaration [(block) ";"] @body)
(constructor_declaration name: (identifier) @name.constructor body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name.constructor body: (_) @body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(annotation_type_element_declaration ";" @body)
(module_declaration name: (_) @name body: (_) @body) @definition.namespace

; Values of a type. The body of an enum's constant gives its name to the methods inside.
((field_declaration (modifiers) @_how declarator: (variable_declarator name: (identifier) @name) @definition.field)
  (#not-match? @_how "static[^@]*final|final[^@]*static"))
((field_declaration (modifiers) @_how declarator: (variable_declarator name: (identifier) @name) @definition.constant)
  (#match? @_how "static[^@]*final|final[^@]*static"))
(field_declaration . type: (_) declarator: (variable_declarator name: (identifier) @name) @definition.field)
(constant_declaration declarator: (variable_declarator name: (identifier) @name) @definition.constant)
(enum_constant name: (identifier) @name) @definition.field
(enum_constant body: (_)) @holder
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.field))
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @returns)))
(record_declaration parameters: (formal_parameters
  (spread_parameter (variable_declarator name: (identifier) @name)) @definition.field))

; The body that follows `new Type()`: a class without a name.
(object_creation_expression (class_body) @definition.class)

; Documentation, and the statement that a field's comment stands above of.
(line_comment) @comment
(block_comment) @comment
(field_declaration) @span
(constant_declaration) @span

; Base classes and interfaces.
(superclass [(type_identifier) (scoped_type_identifier)] @base)
(superclass (generic_type . [(type_identifier) (scoped_type_identifier)] @base))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base.implements))
(super_interfaces (type_list (generic_type . [(type_identifier) (scoped_type_identifier)] @base.implements)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(extends_interfaces (type_list (generic_type . [(type_identifier) (scoped_type_identifier)] @base)))

; Uses.
; A pattern that waits for what follows the receiver would take time in the square of a chain's length.
(method_invocation) @call
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call.type) @call
(object_creation_expression type: (generic_type . [(type_identifier) (scoped_type_identifier)] @call.type)) @call
(explicit_constructor_invocation constructor: (_) @call.name) @call
(argument_list) @call.arguments
(argument_list (expression) @call.argument)
(method_reference) @reference.callable
(identifier) @reference
(type_identifier) @reference
(element_value_pair key: (identifier) @binding.key)
(labeled_statement . (identifier) @binding.key)
(break_statement (identifier) @binding.key)
(continue_statement (identifier) @binding.key)

; The package, and imports.
(package_declaration [(identifier) (scoped_identifier)] @package)
(import_declaration) @import
(import_declaration (scoped_identifier scope: (_) @import.from name: (identifier) @import.name) .)
(import_declaration [(identifier) (scoped_identifier)] @import.from (asterisk) @import.star)

; Names that get a value; their type stands before them.
(local_variable_declaration type: (_) @binding.type)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @binding))
((local_variable_declaration type: (type_identifier) @_type declarator: (variable_declarator value: (_) @binding.value))
  (#eq? @_type "var"))
(field_declaration type: (_) @binding.type)
(field_declaration declarator: (variable_declarator name: (identifier) @binding.property))
(constant_declaration type: (_) @binding.type)
(constant_declaration declarator: (variable_declarator name: (identifier) @binding.property))
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @binding.property)))
(formal_parameter type: (_) @binding.type name: (identifier) @binding)
(spread_parameter (variable_declarator name: (identifier) @binding))
(catch_formal_parameter (catch_type) @binding.type name: (identifier) @binding)
(resource type: (_) @binding.type name: (identifier) @binding)
(enhanced_for_statement type: (_) @binding.type name: (identifier) @binding)
(instanceof_expression right: (_) @binding.type name: (identifier) @binding)
(type_pattern (_) @binding.type . (identifier) @binding)
(record_pattern_component (_) @binding.type . (identifier) @binding)
(lambda_expression) @lambda
(lambda_expression parameters: (identifier) @binding.item @binding.handed)
(inferred_parameters (identifier) @binding.item @binding.handed)
(enhanced_for_statement type: (_) name: (identifier) value: (_) @binding.elements)
(type_parameter (type_identifier) @binding.item)
(type_parameter (type_bound . (_) @binding.type))
(method_declaration type: (_) @returns)
(annotation_type_element_declaration type: (_) @returns)
(formal_parameters (formal_parameter type: (_) @parameter))
(formal_parameters (spread_parameter [(type_identifier) (scoped_type_identifier) (generic_type) (array_type)
  (integral_type) (floating_point_type) (boolean_type)] @parameter.rest))

; What is held: members, and what gets a value.
(field_access) @member
(assignment_expression left: [(identifier) (field_access)] @written)
(assignment_expression left: (array_access array: [(identifier) (field_access)] @written))
(update_expression [(identifier) (field_access)] @written)
(update_expression (array_access array: [(identifier) (field_access)] @written))
