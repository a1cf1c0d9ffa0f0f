; Definitions. Functions, types and what a package holds; a function that is the value of a name is that function.
(package_clause (package_identifier) @package)
(function_declaration name: (identifier) @name body: (block)? @body) @definition.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (field_identifier) @name body: (block)? @body) @definition.method
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (type_identifier) @name type: [
  (type_identifier) (qualified_type) (generic_type) (pointer_type) (array_type) (slice_type) (map_type) (channel_type)
  (function_type) (parenthesized_type)] @returns) @definition.type
(type_alias name: (type_identifier) @name type: (_) @returns) @definition.type
(type_spec type: (interface_type (method_elem name: (field_identifier) @name result: (_)? @returns) @definition.method))
(type_spec type: (struct_type (field_declaration_list (field_declaration . name: (field_identifier) @name) @definition.field)))
(type_spec type: (struct_type (field_declaration_list (field_declaration name: (field_identifier) name: (field_identifier) @name @definition.field))))
(source_file (const_declaration (const_spec . name: (identifier) @name) @definition.constant) (#not-eq? @name "_"))
(source_file (const_declaration (const_spec name: (identifier) name: (identifier) @name @definition.constant)) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec . name: (identifier) @name) @definition.constant) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec name: (identifier) name: (identifier) @name @definition.constant)) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec_list (var_spec . name: (identifier) @name) @definition.constant)) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) name: (identifier) @name @definition.constant))) (#not-eq? @name "_"))
(var_spec . name: (identifier) @name value: (expression_list . (func_literal body: (block) @body) .)) @definition.function
(short_var_declaration left: (expression_list . (identifier) @name .) right: (expression_list . (func_literal body: (block) @body) .)) @definition.function
(assignment_statement left: (expression_list . (identifier) @name .) right: (expression_list . (func_literal body: (block) @body) .)) @definition.function

(function_declaration result: (_) @returns)
(method_declaration result: (_) @returns)
(var_spec value: (expression_list . (func_literal result: (_) @returns) .))
(short_var_declaration right: (expression_list . (func_literal result: (_) @returns) .))
(assignment_statement right: (expression_list . (func_literal result: (_) @returns) .))

; Documentation, and the keyword before what stands alone in its declaration.
(comment) @comment
(type_declaration . (_) .) @span
(source_file (const_declaration . (const_spec) .) @span)
(source_file (var_declaration . (var_spec) .) @span)

; What is embedded is a base, and a member that has the name of its type.
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @declaration.embedded))))
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: [(type_identifier) (qualified_type)] @base))))
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (generic_type type: (_) @base)))))
(type_spec type: (interface_type (type_elem . [(type_identifier) (qualified_type)] @base .)))
(type_spec type: (interface_type (type_elem . (generic_type type: (_) @base) .)))
(type_spec type: (interface_type (type_elem . [(negated_type) (pointer_type) (slice_type) (map_type) (array_type)] @base)))
(type_spec type: (interface_type (type_elem (_) (_)) @base))

; Uses. What looks like a generic type's conversion may be the call of a generic function.
(call_expression function: (_) @reference.call)
(type_conversion_expression type: (generic_type) @reference.call)
(identifier) @reference
(type_identifier) @reference
(package_identifier) @reference
(keyed_element key: (literal_element (identifier) @key))
(parameter_declaration name: (identifier) @key)
(variadic_parameter_declaration name: (identifier) @key)
(type_switch_statement alias: (expression_list (identifier) @key))
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @key (pointer_type (type_identifier) @key) (generic_type type: (type_identifier) @key)
  (pointer_type (generic_type type: (type_identifier) @key))])))
(argument_list (selector_expression) @reference.value)
(literal_element (selector_expression) @reference.value)
(assignment_statement right: (expression_list (selector_expression) @reference.value))
(short_var_declaration right: (expression_list (selector_expression) @reference.value))
(var_spec value: (expression_list (selector_expression) @reference.value))
(return_statement (expression_list (selector_expression) @reference.value))

; Imports.
(import_spec) @import
(import_spec !name path: (_ (_) @import.module))
(import_spec name: (package_identifier) @import.namespace path: (_ (_) @import.from))
(import_spec name: (dot) @import.star path: (_ (_) @import.from))
(import_spec name: (blank_identifier) path: (_ (_) @import.from))

; Blocks: a name is visible until the one ends in which it is declared.
(func_literal) @block
(if_statement) @block
(if_statement consequence: (block) @block)
(if_statement alternative: (block) @block)
(for_statement) @block
(for_statement body: (block) @block)
(statement_list (block) @block)
(expression_switch_statement) @block
(expression_case) @block
(default_case) @block
(type_case) @block
(communication_case) @block

; Declarations.
(method_declaration receiver: (parameter_list (parameter_declaration name: (identifier) @declaration.self) @declaration))
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @type.parameter))))))
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @type.parameter)))))))
(type_parameter_declaration name: (identifier) @declaration.parameter type: (_) @declaration.type) @declaration
(function_declaration parameters: (parameter_list (parameter_declaration name: (identifier) @declaration.name type: (_) @declaration.type) @declaration))
(function_declaration parameters: (parameter_list (variadic_parameter_declaration name: (identifier) @declaration.name) @declaration @declaration.type))
(function_declaration result: (parameter_list (parameter_declaration name: (identifier) @declaration.name type: (_) @declaration.type) @declaration))
(method_declaration parameters: (parameter_list (parameter_declaration name: (identifier) @declaration.name type: (_) @declaration.type) @declaration))
(method_declaration parameters: (parameter_list (variadic_parameter_declaration name: (identifier) @declaration.name) @declaration @declaration.type))
(method_declaration result: (parameter_list (parameter_declaration name: (identifier) @declaration.name type: (_) @declaration.type) @declaration))
(func_literal parameters: (parameter_list (parameter_declaration name: (identifier) @declaration.name type: (_) @declaration.type) @declaration))
(func_literal parameters: (parameter_list (variadic_parameter_declaration name: (identifier) @declaration.name) @declaration @declaration.type))
(func_literal result: (parameter_list (parameter_declaration name: (identifier) @declaration.name type: (_) @declaration.type) @declaration))
(var_spec name: (identifier) @declaration.name) @declaration
(var_spec type: (_) @declaration.type)
(var_spec value: (expression_list (_) @declaration.value))
(const_spec name: (identifier) @declaration.name) @declaration
(const_spec !value) @declaration.repeat
(const_spec type: (_) @declaration.type)
(const_spec value: (expression_list (_) @declaration.value))
(short_var_declaration left: (expression_list (identifier) @declaration.name) right: (expression_list (_) @declaration.value)) @declaration
(range_clause left: (expression_list (identifier) @declaration.name) right: (_) @declaration.items) @declaration
(receive_statement left: (expression_list (identifier) @declaration.name) right: (_) @declaration.value) @declaration
(type_spec type: (struct_type (field_declaration_list (field_declaration name: (field_identifier) @declaration.member type: (_) @declaration.type) @declaration)))
(type_switch_statement) @declaration.switch
(type_switch_statement alias: (expression_list (identifier) @declaration.alias) value: (_) @declaration.subject)
(type_case . type: (_) @declaration.case . (statement_list) .)

; What is held: members, and what gets a value.
(selector_expression) @member
(assignment_statement left: (expression_list [(identifier) (selector_expression)] @written))
(assignment_statement left: (expression_list (index_expression operand: [(identifier) (selector_expression)] @written)))
(inc_statement [(identifier) (selector_expression)] @written)
(inc_statement (index_expression operand: [(identifier) (selector_expression)] @written))
(dec_statement [(identifier) (selector_expression)] @written)
(dec_statement (index_expression operand: [(identifier) (selector_expression)] @written))
