; The grammar has the parts of an expression in a row: `a`, `.b`, `(1)` are siblings. What is a part of what:
((_) @link.of . (selector) @link)
((_) @link.of . (comment) . (selector))
((_) @link.of . (comment) . (cascade_section))
((_) @link.of . (unconditional_assignable_selector) @link)
((_) @link.of . (conditional_assignable_selector) @link)
(selector (argument_part)) @link.call
((type_identifier) @link.of . "." . (type_identifier) @link)
((type_identifier) @link.of . (type_arguments) @link)
(new_expression [(type_identifier) (type_arguments)] @link.of . "." . (identifier) @link)
(constructor_invocation [(type_identifier) (type_arguments)] @link.of . "." . (identifier) @link)
(constructor_invocation (_) @link.of . (arguments) @link.call)
(const_object_expression [(type_identifier) (type_arguments)] @link.of . "." . (identifier) @link)
(new_expression (_) @link.of . (arguments) @link.call)
(const_object_expression (_) @link.of . (arguments) @link.call)
; The grammar takes `A<B>.c()` for comparisons now and then.
(relational_expression (relational_expression . (identifier) @link.of) (dot_shorthand) @link)
; A constructor that calls another one.
(initializer_list_entry (super) @link.of . "." . (identifier) @link)
(initializer_list_entry [(super) (identifier)] @link.of . (arguments) @link.call)
(redirection (this) @link.of . "." . (identifier) @link)
(redirection [(this) (identifier)] @link.of . (arguments) @link.call)
; `a..b()..c()`: what follows the dots is for what stands before the first of them.
((_) @link.of . (cascade_section) @cascade)
(cascade_section [".." "?.."] @link.of . (cascade_selector) @link)
(cascade_section (_) @link.of . (argument_part) @link.call)

; Definitions. A body stands behind its definition.
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(class_definition (mixin_application_class . (identifier) @name)) @definition.class
(mixin_declaration (identifier) @name (class_body) @body) @definition.trait
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(extension_declaration name: (identifier) @name body: (_) @body) @definition.class
(extension_declaration "extension" @name.numbered !name body: (_) @body) @definition.class
(extension_declaration class: (_) @owner.extended @base)
(extension_type_declaration name: (identifier) @name body: (_) @body) @definition.class
(representation_declaration type: (_) @binding.type name: (identifier) @name @binding.property) @definition.field
(type_alias . (type_identifier) @name . "=") @definition.type
(type_alias . (type_identifier) @name . (type_parameters) . "=") @definition.type
(type_alias "=" . (type_identifier) @returns)
(type_alias (_) (type_identifier) @name . (formal_parameter_list)) @definition.type

(program (function_signature name: (identifier) @name) @definition.function)
(program (getter_signature name: (identifier) @name) @definition.function @property)
(program (setter_signature name: (identifier) @name) @definition.function)
(local_function_declaration (lambda_expression
  parameters: (function_signature name: (identifier) @name) body: (_) @body)) @definition.function
(method_signature (function_signature name: (identifier) @name)) @definition.method
(method_signature (getter_signature name: (identifier) @name)) @definition.method @property
(method_signature (setter_signature name: (identifier) @name)) @definition.method
(method_signature (operator_signature "operator" @name)) @definition.method
(method_signature (constructor_signature . name: (identifier) @name.constructor . parameters: (_))) @definition.method
(method_signature (constructor_signature . name: (identifier) @returns . name: "." . name: (identifier) @name)) @definition.method
(method_signature (factory_constructor_signature . (identifier) @name.constructor . (formal_parameter_list))) @definition.method
(method_signature (factory_constructor_signature . (identifier) @returns . "." . (identifier) @name)) @definition.method
(declaration (function_signature name: (identifier) @name)) @definition.method
(declaration (getter_signature name: (identifier) @name)) @definition.method @property
(declaration (setter_signature name: (identifier) @name)) @definition.method
(declaration (operator_signature "operator" @name)) @definition.method
(declaration [(constructor_signature . name: (identifier) @name.constructor . parameters: (_))
  (constant_constructor_signature (identifier) @name.constructor . (formal_parameter_list))
  (factory_constructor_signature . (identifier) @name.constructor . (formal_parameter_list))
  (redirecting_factory_constructor_signature . (identifier) @name.constructor . (formal_parameter_list))
  (redirecting_factory_constructor_signature (const_builtin) . (identifier) @name.constructor . (formal_parameter_list))]) @definition.method
(declaration [(constructor_signature . name: (identifier) @returns . name: "." . name: (identifier) @name)
  (constant_constructor_signature (identifier) @returns . "." . (identifier) @name)
  (factory_constructor_signature . (identifier) @returns . "." . (identifier) @name)
  (redirecting_factory_constructor_signature (identifier) @returns . "." . (identifier) @name)]) @definition.method
((_) @definition.apart . (function_body) @body.apart)
; The type before the name of a constructor is no use.
(constructor_signature . (identifier) @binding.key)
(constant_constructor_signature (const_builtin) . (identifier) @binding.key)
(factory_constructor_signature . (identifier) @binding.key)
(redirecting_factory_constructor_signature . (identifier) @binding.key)
(redirecting_factory_constructor_signature (const_builtin) . (identifier) @binding.key)

; Values.
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name) @definition.field))
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name) @definition.constant))
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @definition.constant))
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @definition.constant))
(enum_constant name: (identifier) @name) @definition.field

; Documentation, annotations, and the statement that a member's comment stands above of.
(comment) @comment
(documentation_comment) @comment
(annotation) @lead
(declaration) @span

; What types derive from.
(superclass (type_identifier) @base)
(mixin_application (type_identifier) @base)
(mixins (type_identifier) @base.mixin)
(interfaces (type_identifier) @base.implements)
(mixin_declaration (type_identifier) @base)

; Uses.
(arguments) @call.arguments
(arguments [(argument) (named_argument)] @call.argument)
(identifier) @reference
(type_identifier) @reference
(identifier_dollar_escaped) @reference
(label (identifier) @binding.key)
(labeled_statement . (identifier) @binding.key)
(break_statement (identifier) @binding.key)
(continue_statement (identifier) @binding.key)

; Other files. What a part says is of its library.
(library_import) @import
(library_export) @import.reexport
(part_directive) @import
(import_specification (configurable_uri . (uri) @import.from))
(import_specification (uri) @import.from)
(library_export (configurable_uri . (uri) @import.from))
(part_directive (uri) @import.from)
(import_specification "as" . (identifier) @import.namespace)
(import_specification (configurable_uri) . (combinator "show" (identifier) @import.name))
(library_export (configurable_uri) . (combinator "show" (identifier) @import.name))
(import_specification (configurable_uri) . ";" @import.star)
(import_specification (configurable_uri) . (combinator . "hide" @import.star))
(library_export (configurable_uri) . ";" @import.star)
(library_export (configurable_uri) . (combinator . "hide" @import.star))

; Names that get a value; their type stands before them.
(initialized_variable_definition [(type_identifier) (record_type) (function_type) (final_builtin) (const_builtin) (inferred_type)] @binding.type)
(initialized_variable_definition name: (identifier) @binding)
(initialized_variable_definition name: (identifier) . "=" . value: (_) @binding.value)
(initialized_variable_definition (initialized_identifier . (identifier) @binding))
(declaration [(type_identifier) (record_type) (function_type) (final_builtin) (const_builtin) (inferred_type)] @binding.type)
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @binding.property)))
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @binding.property)))
(program [(type_identifier) (record_type) (function_type) (final_builtin) (const_builtin) (inferred_type)] @binding.type)
(program (initialized_identifier_list (initialized_identifier . (identifier) @binding)))
(program (static_final_declaration_list (static_final_declaration . (identifier) @binding)))
(initialized_identifier . (identifier) . "=" . (_) @binding.value)
(static_final_declaration . (identifier) . "=" . (_) @binding.value)
(formal_parameter [(type_identifier) (record_type) (function_type)] @binding.type)
(formal_parameter name: (identifier) @binding)
(formal_parameter . (identifier) @binding.item .)
; A loop has its parts in a node `for_loop_parts`. Said by name, each of these patterns would take 0.17 s to compile.
(for_statement (_ [(type_identifier) (record_type) (final_builtin) (inferred_type)] @binding.type name: (identifier)))
(for_element (_ [(type_identifier) (record_type) (final_builtin) (inferred_type)] @binding.type name: (identifier)))
(for_statement (_ [(final_builtin) (inferred_type)] @binding.type (record_pattern)))
(for_element (_ [(final_builtin) (inferred_type)] @binding.type (record_pattern)))
(for_statement (_ name: (identifier) @binding))
(for_element (_ name: (identifier) @binding))
(for_statement (_ name: (identifier) . "in" . value: (_) @binding.elements))
(for_element (_ name: (identifier) . "in" . value: (_) @binding.elements))
(for_statement (_ (record_pattern (constant_pattern (identifier) @binding.item))))
(for_element (_ (record_pattern (constant_pattern (identifier) @binding.item))))
(try_statement (type_identifier) @binding.type . (catch_clause (catch_parameters . (identifier) @binding)))
(catch_parameters . (identifier) @binding.item)
(catch_parameters (identifier) (identifier) @binding.item)
(variable_pattern [(type_identifier) (final_builtin) (inferred_type)] @binding.type)
(variable_pattern (identifier) @binding .)
(pattern_variable_declaration [(final_builtin) (inferred_type)] @binding.type)
(pattern_variable_declaration (record_pattern) @binding.pattern)
(pattern_variable_declaration (record_pattern (constant_pattern (identifier) @binding)))
(pattern_variable_declaration (record_pattern) . "=" . (_) @binding.value)
(type_parameter (type_identifier) @binding.item)
(type_bound (type_identifier) @binding.type)
(function_expression) @lambda
(function_expression parameters: (formal_parameter_list (formal_parameter . (identifier) @binding.item @binding.handed .)))
(function_signature [(type_identifier) (record_type)] @returns)
(getter_signature [(type_identifier) (record_type)] @returns)
; A name is of the type that it is checked to be of: in that branch, or in the rest of the block if it is not.
((if_statement (type_test_expression (type_test (is_operator) @_is))) @region (#eq? @_is "is"))
(if_statement (logical_and_expression)) @region
(conditional_expression) @region
(type_test_expression . (identifier) @binding.subject) @binding.match
(type_test (is_operator) . (type_identifier) @checked.type)
; What a block declares is not visible behind it.
(block) @region
(for_statement) @region

; What gets a value.
(assignment_expression left: (assignable_expression) @written)
(postfix_expression (assignable_expression) @written)

; A test, or a group of them.
(arguments . (argument (string_literal)) (argument (function_expression body: (_) @handler.body))) @definition.handler
