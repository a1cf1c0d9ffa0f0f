; Namespaces, modules, types and what they consist of.
; All names of a module but the last are those of its namespace.
(namespace (long_identifier) @package)
(named_module (long_identifier . (identifier) @package (identifier)))
(named_module (long_identifier (identifier) . (identifier) @package.further . (identifier)))
(named_module (long_identifier (identifier) @name .)) @definition.namespace
(named_module (long_identifier) . (_) @body)
(module_defn (identifier) @name) @definition.namespace
(module_defn "=" @body)

(type_definition) @span
(record_type_defn (type_name type_name: (_) @name)) @definition.struct
(record_type_defn "=" @body)
((union_type_defn (type_name type_name: (_) @name) (union_type_cases) @_cases) @definition.enum
  (#not-match? @_cases "^\\w+$"))
; `type A = B` is another name for B.
((union_type_defn (type_name type_name: (_) @name)
  (union_type_cases . (union_type_case . (identifier) @returns .) .) @_cases) @definition.type (#match? @_cases "^\\w+$"))
(enum_type_defn (type_name type_name: (_) @name)) @definition.enum
(enum_type_defn "=" @body)
((anon_type_defn (type_name type_name: (_) @name)) @definition.interface (#match? @name "^I[A-Z]"))
((anon_type_defn (type_name type_name: (_) @name)) @definition.class (#not-match? @name "^I[A-Z]"))
(interface_type_defn (type_name type_name: (_) @name)) @definition.interface
(anon_type_defn "=" @body)
(type_abbrev_defn (type_name type_name: (_) @name) block: (_) @returns) @definition.type
(delegate_type_defn (type_name type_name: (_) @name)) @definition.type
(type_declaration (type_name type_name: (_) @name)) @definition.type
(exception_definition (long_identifier (identifier) @name .)) @definition.class
(type_extension (type_name type_name: (_) @owner)) @holder
(union_type_case (identifier) @name) @definition.field
(enum_type_case (identifier) @name) @definition.field
(record_field (identifier) @name) @definition.field
(member_defn (member_signature (identifier) @name)) @definition.method

; Bases.
(class_inherits_decl [(simple_type (long_identifier) @base) (generic_type . (long_identifier) @base)])
(interface_implementation [(simple_type (long_identifier) @base.implements) (generic_type . (long_identifier) @base.implements)])

; Members with types.
(record_field (identifier) @binding.property . (_) @binding.type)
(primary_constr_args (repeat_pattern (typed_pattern (identifier_pattern (long_identifier_or_op (identifier) @binding)) (_) @binding.type)))
(primary_constr_args (typed_pattern (identifier_pattern (long_identifier_or_op (identifier) @binding)) (_) @binding.type))

; Documentation.
(xml_doc) @comment
(line_comment) @comment

; Modules and namespaces that are opened.
(declaration_expression (attributes) @lead)
(import_decl (long_identifier) @import.from @import.star) @import

; Uses.
(simple_type (long_identifier) @reference)
(generic_type (long_identifier) @reference)
(atomic_type (long_identifier) @reference)

; Definitions. A value is a function if it has parameters, is one, or is made of others.
(function_or_value_defn . (function_declaration_left (identifier) @name)) @definition.function
(function_or_value_defn . (function_declaration_left (active_pattern (active_pattern_op_name) @name))) @definition.function
(function_or_value_defn "and" . (function_declaration_left (identifier) @name.outer) @definition.function)
(function_or_value_defn . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)
  body: [(fun_expression) (function_expression)]) @definition.function
((function_or_value_defn . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)
  body: (infix_expression (infix_op) @_op)) @definition.function (#any-of? @_op ">>" "<<"))
; A generic value is computed for each use.
(function_or_value_defn . (value_declaration_left
  (identifier_pattern . (long_identifier_or_op [(identifier) @name (long_identifier . (identifier) @name .)]) .)
  (type_arguments) .)) @definition.function
(function_or_value_defn "=" @body)
(file (declaration_expression (function_or_value_defn
  . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)) @definition.constant))
(namespace (declaration_expression (function_or_value_defn
  . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)) @definition.constant))
(named_module (declaration_expression (function_or_value_defn
  . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)) @definition.constant))
(module_defn (declaration_expression (function_or_value_defn
  . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)) @definition.constant))
(type_extension_elements (function_or_value_defn
  . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)) @definition.field)

(value_declaration (function_or_value_defn
  . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @name) .) .)) @definition.field)
(member_defn (method_or_prop_defn name: (property_or_ident (identifier) @name .))) @definition.method
(member_defn . (property_or_ident (identifier) @name)) @definition.field
(member_defn (additional_constr_defn) @name.constructor) @definition.method
(method_or_prop_defn "=" @body)
(additional_constr_defn "=" @body)
; A static member that is called on its first parameter.
((member_defn (attributes (attribute (simple_type (long_identifier (identifier) @_mark))))
  (method_or_prop_defn (property_or_ident) . (paren_pattern . [
    (typed_pattern (_) . (_) @owner.extended)
    (repeat_pattern . (typed_pattern (_) . (_) @owner.extended))]))) (#any-of? @_mark "Extension" "ExtensionAttribute"))

; Uses.
(application_expression . [(long_identifier_or_op) (dot_expression) (typed_expression)] @reference.call)
(application_expression
  . (infix_expression (infix_op) . [(long_identifier_or_op) (dot_expression) (typed_expression)] @reference.call .))
((infix_expression (infix_op) @_op . [(long_identifier_or_op) (dot_expression) (typed_expression)] @reference.call .)
  (#any-of? @_op "|>" "||>" "|||>" ">>" "<<"))
((infix_expression . [(long_identifier_or_op) (dot_expression) (typed_expression)] @reference.call . (infix_op) @_op)
  (#any-of? @_op "<|" "<||" ">>" "<<"))
(long_identifier_or_op) @reference

; Names that get a value. One is visible to the end of the block around it, behind the statement that binds it.
[(fun_expression) (rule) (for_expression) (declaration_expression)] @block
(declaration_expression (function_or_value_defn . (value_declaration_left)) @binding.statement)
((identifier_pattern . (long_identifier_or_op . (identifier) @binding.item .)) (#match? @binding.item "^[_a-z]"))
(argument_patterns (long_identifier (identifier) @binding.item))
(as_pattern (identifier) @binding.item)
(type_check_pattern (identifier) @binding.item)
(for_expression . (identifier) @binding.item)
(typed_pattern (identifier_pattern (long_identifier_or_op (identifier) @binding)) . (_) @binding.type)
(declaration_expression . (identifier) @binding.item)

((property_or_ident instance: (identifier) @binding.item) (#not-any-of? @binding.item "this" "self" "_" "__"))
; Types and values of variables, and what functions return.
(function_or_value_defn . (value_declaration_left (identifier_pattern . (long_identifier_or_op (identifier) @binding) .) .))
(function_or_value_defn . (value_declaration_left) . [(simple_type) (generic_type) (postfix_type) (paren_type)] @binding.type)
(function_or_value_defn . (function_declaration_left) . [(simple_type) (generic_type) (postfix_type) (paren_type)] @returns)
(function_or_value_defn . (value_declaration_left) body: [(long_identifier_or_op) (dot_expression)] @binding.value)
(function_or_value_defn . (value_declaration_left)
  body: (application_expression . [(long_identifier_or_op) (dot_expression) (typed_expression)]) @binding.value)
(function_or_value_defn . (value_declaration_left) body: (application_expression
  . (application_expression . [(long_identifier_or_op) (dot_expression) (typed_expression)])) @binding.value)
(function_or_value_defn . (value_declaration_left) body: (application_expression . (application_expression
  . (application_expression . [(long_identifier_or_op) (dot_expression) (typed_expression)]))) @binding.value)
(function_or_value_defn . (value_declaration_left) body: (prefixed_expression (application_expression)) @binding.value)
(declaration_expression . (identifier) @binding . [(long_identifier_or_op) (dot_expression)
  (application_expression . [(long_identifier_or_op) (dot_expression) (typed_expression)])
  (prefixed_expression (application_expression))] @binding.value)
