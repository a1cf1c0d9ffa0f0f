; Definitions. A constructor is a method called `constructor`; calling it is calling its class.
(class_declaration name: (identifier) @name) @definition.class
(class_declaration body: (_) @body)
(struct_declaration name: (identifier) @name) @definition.struct
(struct_declaration body: (_) @body)
(record_declaration name: (identifier) @name) @definition.class
(record_declaration body: (_) @body)
(interface_declaration name: (identifier) @name) @definition.interface
(interface_declaration body: (_) @body)
(enum_declaration name: (identifier) @name) @definition.enum
(enum_declaration body: (_) @body)
(enum_member_declaration name: (identifier) @name) @definition.field
(delegate_declaration name: (identifier) @name) @definition.type
(method_declaration name: (identifier) @name) @definition.method
(method_declaration body: (_) @body)
(local_function_statement name: (identifier) @name) @definition.function
(local_function_statement body: (_) @body)
((constructor_declaration name: (identifier) @name.constructor) @definition.method
  (#not-eq? @name.constructor "extension"))
(constructor_declaration body: (_) @body)
; A block of functions that are called on its parameter.
((constructor_declaration name: (identifier) @_block) @holder (#eq? @_block "extension"))
((constructor_declaration name: (identifier) @_block parameters: (parameter_list . (parameter type: (_) @owner.extended)))
  (#eq? @_block "extension"))
(destructor_declaration name: (identifier) @name) @definition.method
(destructor_declaration body: (_) @body)
(operator_declaration "operator" @name) @definition.method
(conversion_operator_declaration "operator" @name) @definition.method
(indexer_declaration "this" @name) @definition.method
; A property with code of its own is a method that naming it calls.
(property_declaration name: (identifier) @name) @definition.field
(property_declaration value: (arrow_expression_clause) @body) @definition.method @property
(property_declaration accessors: (accessor_list (accessor_declaration body: (_))) @body) @definition.method @property
(event_declaration name: (identifier) @name) @definition.field
((field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.field)) @_whole
  (#not-match? @_whole "^[^={]*\\b(const|static\\s+readonly|readonly\\s+static)\\b"))
((field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant)) @_whole
  (#match? @_whole "^[^={]*\\b(const|static\\s+readonly|readonly\\s+static)\\b"))
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.field))
(record_declaration (parameter_list (parameter name: (identifier) @name @binding.property) @definition.field))
(using_directive name: (identifier) @name [(qualified_name) (generic_name)] @returns) @definition.type

; Documentation, and the statement that a member's comment stands above of.
(comment) @comment
(field_declaration) @span
(event_field_declaration) @span

; What types derive from.
(base_list [(identifier) (qualified_name) (generic_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))

; Uses.
(invocation_expression) @call
(object_creation_expression type: (_) @call.type) @call
(argument_list) @call.arguments
(argument_list (argument) @call.argument)
(constructor_initializer "base" @reference.call)
(identifier) @reference
(argument name: (identifier) @binding.key)
(labeled_statement . (identifier) @binding.key)

; The namespace of the file; those inside of it give their names to what they hold.
(compilation_unit (namespace_declaration name: (_) @package))
(file_scoped_namespace_declaration name: (_) @package)
(declaration_list (namespace_declaration name: (_) @name body: (_) @body) @holder)
((using_directive !name) @import (#not-match? @import "^global\\b"))
((using_directive !name) @import.reexport (#match? @import.reexport "^global\\b"))
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @import.from @import.star)

; Names that get a value; their type stands before them.
(variable_declaration type: (_) @binding.type)
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @binding)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @binding)))
(for_statement initializer: (variable_declaration (variable_declarator name: (identifier) @binding)))
(variable_declarator name: (identifier) [(object_creation_expression) (invocation_expression) (identifier)
  (member_access_expression) (await_expression) (element_access_expression) (conditional_access_expression)
  (parenthesized_expression) (conditional_expression) (switch_expression)] @binding.value .)
(field_declaration (variable_declaration (variable_declarator name: (identifier) @binding.property)))
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @binding.property)))
(property_declaration type: (_) @binding.type name: (identifier) @binding.property)
(property_declaration type: (_) @returns)
(parameter type: (_) @binding.type)
(parameter name: (identifier) @binding)
(parameter_list type: (_) @binding.type @parameter.rest name: (identifier) @binding)
(parameter_list (parameter type: (_) @parameter))
(method_declaration parameters: (parameter_list . (parameter (modifier) @_this type: (_) @owner.extended))
  (#eq? @_this "this"))
(parameter_list (parameter "=" @parameter.optional))
(implicit_parameter) @binding.item @binding.handed
(lambda_expression) @lambda
(lambda_expression parameters: (parameter_list (parameter !type name: (identifier) @binding.handed)))
(foreach_statement type: (_) @binding.type left: (identifier) @binding right: (_) @binding.elements)
(catch_declaration type: (_) @binding.type name: (identifier) @binding)
(declaration_pattern type: (_) @binding.type name: (identifier) @binding)
(declaration_expression type: (_) @binding.type name: (identifier) @binding)
(argument "out" (declaration_expression type: (implicit_type) name: (identifier) @binding.out))
; `var (a, b) = f()` and `(var a, B b) = f()`, and what they take apart: a record, or what has such a method.
(variable_declarator (tuple_pattern) @binding.pattern)
(tuple_pattern name: (identifier) @binding)
(variable_declarator (tuple_pattern) . [(object_creation_expression) (invocation_expression) (identifier)
  (member_access_expression) (await_expression) (element_access_expression)] @binding.value .)
(assignment_expression left: (tuple_expression (argument (declaration_expression))) @binding.pattern)
(tuple_expression (argument (declaration_expression type: (implicit_type) name: (identifier) @binding)))
(assignment_expression left: (tuple_expression (argument (declaration_expression))) right: (_) @binding.value)
(record_declaration (parameter_list (parameter type: (_) @binding.position)))
(method_declaration name: (identifier) @_apart parameters: (parameter_list (parameter (modifier) @_out type: (_) @binding.position))
  (#eq? @_apart "Deconstruct") (#eq? @_out "out"))
(type_parameter name: (identifier) @binding.item)
(type_parameter_constraints_clause (identifier) @binding.generic (type_parameter_constraint type: (_) @binding.type))
(from_clause name: (identifier) @binding . (_) @binding.elements)
(foreach_statement left: (tuple_pattern (_) . name: (identifier) @binding .) right: (_) @binding.elements)
(method_declaration returns: (_) @returns)
(local_function_statement type: (_) @returns)

; What is held: members, and what gets a value.
(member_access_expression) @member
(assignment_expression left: [(identifier) (member_access_expression)] @written)
(assignment_expression left: (element_access_expression expression: [(identifier) (member_access_expression)] @written))
(postfix_unary_expression [(identifier) (member_access_expression)] @written)
(prefix_unary_expression ["++" "--"] [(identifier) (member_access_expression)] @written)

; A function that is given to a call behind a string.
(argument_list . (argument (string_literal)) (argument (lambda_expression body: (_) @handler.body))) @definition.handler
