; What C++ has otherwise than C.

; Namespaces give their names to what they hold.
(namespace_definition name: (_) @name body: (_) @body) @holder

; Types.
(class_specifier name: (type_identifier) @name body: (_) @body) @definition.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @definition.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @definition.struct
(class_specifier name: (qualified_identifier scope: (_) @owner name: [(type_identifier) @name
  (qualified_identifier scope: (_) @owner name: (type_identifier) @name)]) body: (_) @body) @definition.class
(struct_specifier name: (qualified_identifier scope: (_) @owner name: [(type_identifier) @name
  (qualified_identifier scope: (_) @owner name: (type_identifier) @name)]) body: (_) @body) @definition.struct
(concept_definition name: (identifier) @name) @definition.interface
(alias_declaration name: (type_identifier) @name type: (type_descriptor type: (_) @returns)) @definition.type
(type_definition type: [(template_type) (qualified_identifier)] @returns declarator: [(type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)]) @definition.type
(template_declaration [(class_specifier) (struct_specifier) (function_definition) (alias_declaration) (concept_definition)]) @span
(enum_specifier . "enum" . (type_identifier) body: (enumerator_list (enumerator name: (identifier) @name.outer) @definition.constant))
(enum_specifier !name body: (enumerator_list (enumerator name: (identifier) @name.outer) @definition.constant))
(enum_specifier ["class" "struct"] body: (enumerator_list (enumerator name: (identifier) @name) @definition.field))

; Functions that stand outside of their type, or have names of their own.
((function_definition declarator: [
    (function_declarator declarator: (qualified_identifier) parameters: (_) @_taken)
    (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) parameters: (_) @_taken))
    (reference_declarator (function_declarator declarator: (qualified_identifier) parameters: (_) @_taken))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier) parameters: (_) @_taken)))])
  @definition.method
  (#not-match? @_taken "^(?:[^;/\"'{]|/(?![/*])|//[^\n]*\n|/[*](?:[^*]|[*](?!/))*[*]/|\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*')*;"))
(function_definition declarator: (reference_declarator (function_declarator))) @definition.function
(function_definition declarator: (operator_cast type: (_) @name)) @definition.function
(function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
(function_declarator declarator: (template_function name: (identifier) @name))
; `(max)()`, which no macro takes for its own.
(function_declarator declarator: (parenthesized_declarator [(identifier) (field_identifier)] @name))
(function_declarator declarator: (qualified_identifier scope: (_) @owner
  name: [(identifier) (destructor_name) (operator_name) (template_function)] @name))
(function_declarator declarator: (qualified_identifier scope: (_) @owner name: (qualified_identifier scope: (_) @owner
  name: [(identifier) (destructor_name) (operator_name) (template_function)] @name)))
(function_declarator declarator: (qualified_identifier scope: (_) @owner name: (qualified_identifier scope: (_) @owner
  name: (qualified_identifier scope: (_) @owner name: [(identifier) (destructor_name) (operator_name) (template_function)] @name))))
; What a derived type has to define.
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name) default_value: (number_literal)) @definition.method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
  default_value: (number_literal)) @definition.method
(field_declaration declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name))
  default_value: (number_literal)) @definition.method
(field_declaration declarator: (reference_declarator (field_identifier) @name) @definition.field)

; Base classes.
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)

; Names of namespaces and types that need not be written.
(using_declaration "namespace" [(identifier) (qualified_identifier)] @import.from @import.star) @import
(using_declaration . "using" . (qualified_identifier scope: (_) @import.from @import.star)) @import
(namespace_alias_definition name: (namespace_identifier) @import.alias
  [(namespace_identifier) (nested_namespace_specifier)] @import.from @import.star) @import

; Uses.
; `a.f<1>(x)`, which the grammar takes for two comparisons.
(binary_expression left: (binary_expression left: [(identifier) (qualified_identifier) (field_expression)] @reference.call
  operator: "<") operator: ">" right: (parenthesized_expression))
(new_expression type: [(type_identifier) (qualified_identifier) (template_type)] @reference.call)

; Names that get a value.
(reference_declarator (identifier) @binding)
(reference_declarator (field_identifier) @binding.property)
(optional_parameter_declaration type: (_) @binding.type)
; Those of a function that is a parameter, or a type in angle brackets, are not the function's own.
(function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function)
    (parenthesized_declarator [(identifier) (field_identifier)])]
  parameters: (parameter_list [(optional_parameter_declaration "=" @parameter.optional) (parameter_declaration)
    (variadic_parameter_declaration)] @parameter))
(function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function)
    (parenthesized_declarator [(identifier) (field_identifier)])]
  parameters: (parameter_list "..." @parameter.rest))
(optional_parameter_declaration declarator: (identifier) @binding)
(for_range_loop type: (_) @binding.type)
(for_range_loop declarator: (identifier) @binding right: (_) @binding.elements)
(for_range_loop declarator: (reference_declarator (identifier) @binding) right: (_) @binding.elements)
(for_range_loop declarator: (pointer_declarator (identifier) @binding) right: (_) @binding.elements)
(structured_binding_declarator (identifier) @binding.item)
(init_declarator declarator: (identifier) value: [(identifier) (field_expression) (call_expression) (new_expression)
  (qualified_identifier) (subscript_expression) (pointer_expression)] @binding.value)
(init_declarator declarator: (pointer_declarator declarator: (identifier)) value: [(identifier) (field_expression)
  (call_expression) (new_expression) (pointer_expression)] @binding.value)
(init_declarator declarator: (reference_declarator (identifier)) value: [(identifier) (field_expression)
  (call_expression) (subscript_expression) (pointer_expression)] @binding.value)
(type_parameter_declaration (type_identifier) @binding.item)
; In a function `T a(f(x));` makes an object, although it reads like the declaration of a function.
([(compound_statement (declaration declarator: (function_declarator declarator: (identifier) @binding)))
  (case_statement (declaration declarator: (function_declarator declarator: (identifier) @binding)))
  (for_statement (declaration declarator: (function_declarator declarator: (identifier) @binding)))
  (compound_statement (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @binding))))
  (compound_statement (declaration declarator: (reference_declarator (function_declarator declarator: (identifier) @binding))))])
(compound_statement (declaration declarator: (function_declarator parameters: (parameter_list
  (parameter_declaration type: [(type_identifier) (qualified_identifier)] @reference.call
    declarator: (abstract_function_declarator))))))
(function_definition type: [(qualified_identifier) (template_type)] @returns)
(function_definition declarator: (function_declarator (trailing_return_type (type_descriptor
  type: [(type_identifier) (qualified_identifier) (template_type)] @returns))))
(function_definition declarator: (function_declarator (trailing_return_type (type_descriptor
  type: (dependent_type (qualified_identifier) @returns)))))
(function_definition type: (dependent_type (qualified_identifier) @returns))
(field_declaration type: [(type_identifier) (qualified_identifier) (template_type)] @returns
  declarator: (_) default_value: (number_literal))

; `auto` is what is returned.
(function_definition type: (placeholder_type_specifier) body: (compound_statement (return_statement
  [(identifier) (field_expression) (call_expression) (compound_literal_expression) (this)] @returned)))
(function_definition type: (placeholder_type_specifier) body: (compound_statement (return_statement
  (pointer_expression operator: "*" argument: (this) @returned))))

; Members and functions that are handed on by their names.
(pointer_expression operator: "&" argument: (qualified_identifier) @reference.callable)
(argument_list (qualified_identifier name: [(identifier) (qualified_identifier)]) @reference.callable)
(template_function arguments: (template_argument_list (type_descriptor type: (type_identifier) @reference.callable)))
(template_function arguments: (template_argument_list (type_descriptor type: (qualified_identifier) @reference.callable)))
(template_function arguments: (template_argument_list (pointer_expression argument: (identifier) @reference.callable)))
(template_method arguments: (template_argument_list (pointer_expression argument: (identifier) @reference.callable)))
; A macro that stands for an object.
(preproc_def "#define" @binding.type name: (identifier) @binding value: (preproc_arg) @binding.value
  (#match? @binding.value "^\\s*[A-Za-z_]\\w*(?:(?:::|->|[.])[A-Za-z_]\\w*(?:\\(\\))?)+\\s*$"))
