; Definitions. A function with the name of another module before its own adds a method there: `function Base.show`.
(module_definition name: (identifier) @name) @definition.namespace
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . (identifier) @name)
  (binary_expression . (parametrized_type_expression . (identifier) @name))])) @definition.struct
(primitive_definition (type_head [
  (identifier) @name
  (binary_expression . (identifier) @name)])) @definition.struct
(abstract_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . (identifier) @name)
  (binary_expression . (parametrized_type_expression . (identifier) @name))])) @definition.interface
(type_head (binary_expression (operator) . [
  (identifier) @base
  (field_expression) @base
  (parametrized_type_expression . (_) @base)]))
(struct_definition (identifier) @name @definition.field)
(struct_definition (typed_expression . (identifier) @name) @definition.field)
(struct_definition (assignment . (typed_expression . (identifier) @name)) @definition.field)
(struct_definition (assignment . (identifier) @name) @definition.field)
(struct_definition (type_head) . (_) @body)
; Values of an enumeration are known by their names alone.
((macrocall_expression (macro_identifier (identifier) @_enum) (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])) @definition.enum
  (#eq? @_enum "enum"))
(function_definition) @definition.function
(function_definition (signature) . (_) @body)
(macro_definition) @definition.macro
(macro_definition (signature) . (_) @body)
(assignment . (call_expression) . (operator) . (_) @body) @definition.function
(assignment . (typed_expression . (call_expression)) . (operator) . (_) @body) @definition.function
(assignment . (where_expression . (call_expression)) . (operator) . (_) @body) @definition.function
(assignment . (where_expression . (typed_expression . (call_expression))) . (operator) . (_) @body) @definition.function
(assignment . (where_expression . (where_expression . (call_expression))) . (operator) . (_) @body) @definition.function
(signature . (identifier) @name)
(signature . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))]))
(signature . (typed_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))])))
(signature . (where_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))])))
(signature . (where_expression . (typed_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))]))))
(signature . (where_expression . (where_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))]))))
(assignment . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))]))
(assignment . (typed_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))])))
(assignment . (where_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))])))
(assignment . (where_expression . (typed_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))]))))
(assignment . (where_expression . (where_expression . (call_expression . [
  (identifier) @name (field_expression) @name (operator) @name
  (parametrized_type_expression . (_) @name)
  (parenthesized_expression (typed_expression (_) [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))
  (parenthesized_expression (unary_typed_expression [
    (identifier) @owner @name.constructor (parametrized_type_expression . (_) @owner @name.constructor)]))]))))
(const_statement (assignment . [
  (identifier) @name
  (typed_expression . (identifier) @name)
  (parametrized_type_expression . (identifier) @name)])) @definition.constant

; Documentation: a string right before what it is about.
(line_comment) @comment
(block_comment) @comment
(source_file (string_literal) @doc.lead)
(module_definition (string_literal) @doc.lead)
((macrocall_expression (macro_identifier (identifier) @_doc) (macro_argument_list . (string_literal) @doc.lead)) (#eq? @_doc "doc"))

; Uses. The head of a method looks like a call.
(call_expression . [
  (identifier) @reference.call (field_expression) @reference.call
  (parametrized_type_expression . (_) @reference.call)])
(broadcast_call_expression . [
  (identifier) @reference.call (field_expression) @reference.call
  (parametrized_type_expression . (_) @reference.call)])
(macro_identifier (identifier) @reference.macro)
(identifier) @reference

; Files that are included, and modules.
((call_expression . (identifier) @_include (argument_list . (string_literal (content) @import.from) .)) @import
  (#eq? @_include "include"))
((call_expression . (identifier) @_include (argument_list . (call_expression . (identifier) @_join
    (argument_list (string_literal (content) @import.from) .)) .)) @import
  (#eq? @_include "include") (#eq? @_join "joinpath"))
(using_statement [(identifier) (scoped_identifier) (import_path)] @import @import.from @import.star)
(import_statement [(identifier) (scoped_identifier) (import_path)] @import @import.module)
(import_statement (import_alias . (_) @import.module (identifier) @import.alias) @import)
(selected_import . (_) @import.from) @import
(selected_import (_) . [(identifier) (operator) (macro_identifier)] @import.name)
(selected_import (_) . (import_alias . (_) @import.name (_) @import.alias))

; Names that get a value, and their types.
(struct_definition (typed_expression . (identifier) @binding.property (_) @binding.type))
(struct_definition (assignment . (typed_expression . (identifier) @binding.property (_) @binding.type)))
(assignment . (identifier) @binding . (operator) . (_) @binding.value)
(assignment . (typed_expression . (identifier) @binding (_) @binding.type))
(typed_expression . (identifier) @binding (_) @binding.type)
; Parameters.
(signature . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)])))
(signature . (typed_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)]))))
(signature . (where_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)]))))
(signature . (where_expression . (typed_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)])))))
(signature . (where_expression . (where_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)])))))
(assignment . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)])))
(assignment . (typed_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)]))))
(assignment . (where_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)]))))
(assignment . (where_expression . (typed_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)])))))
(assignment . (where_expression . (where_expression . (call_expression (argument_list [(identifier) @binding.item (named_argument . (identifier) @binding.item) (splat_expression (identifier) @binding.item)])))))
(let_binding . (identifier) @binding . (operator) . (_) @binding.value)
(for_binding . (identifier) @binding.item)
(for_binding . (tuple_expression (identifier) @binding.item))
(assignment . (open_tuple (identifier) @binding.item))
(assignment . (tuple_expression (identifier) @binding.item))
(arrow_function_expression . (identifier) @binding.item)
(arrow_function_expression . (argument_list (identifier) @binding.item))
(do_clause . (argument_list (identifier) @binding.item))
(catch_clause . (identifier) @binding.item)
(return_statement (_) @returned)
; What comes last is returned, too.
(function_definition [(identifier) (call_expression) (field_expression) (string_literal) (vector_expression) (macrocall_expression)
  (tuple_expression) (boolean_literal) (binary_expression) (integer_literal) (assignment)] @returned .)
(assignment . (call_expression) . (operator) . (_) @returned)
(assignment . (where_expression . (call_expression)) . (operator) . (_) @returned)

; Names are visible to the end of these.
(let_statement) @region
(for_statement) @region
(do_clause) @region
(arrow_function_expression) @region
(comprehension_expression) @region

; A group of tests, which is named by a string.
((macrocall_expression . (macro_identifier (identifier) @_tests) (macro_argument_list (string_literal) (compound_statement) @handler.body)) @definition.handler
  (#eq? @_tests "testset"))
((macrocall_expression . (macro_identifier (identifier) @_tests) (macro_argument_list (string_literal) (for_statement) @handler.body)) @definition.handler
  (#eq? @_tests "testset"))
