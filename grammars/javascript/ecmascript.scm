; What JavaScript and TypeScript have in common, in nodes that their grammars name alike.
; A call or a comparison inside of a pattern is `_`, as its fields tell it. To compile a query, tree-sitter walks the
; grammar for each node with a name and children: 4 ms for a call.

; Definitions. A capture without a @name inside is the anonymous default of its file.
(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method

; Called by being named: what it returns is what the member holds.
(method_definition "get") @property

; Functions and classes that are values of a name.
(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)
  (parenthesized_expression [(arrow_function body: (_) @body) (function_expression body: (_) @body)])]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(assignment_expression left: [(identifier) (member_expression)] @name right: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(assignment_expression left: (member_expression) @name right: (class body: (_) @body)) @definition.class
((assignment_expression left: (subscript_expression object: [(identifier) (member_expression)] index: (string (string_fragment) @_key)) @name right: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
  (#match? @_key "^[~@$]?[A-Za-z_][A-Za-z0-9_$~-]*$"))
; What is exported as a whole is called by a name of its own if it has one.
((assignment_expression left: (member_expression) @_whole @exports right: [
  (function_expression name: (identifier) @name @exports.value) (generator_function name: (identifier) @name @exports.value) (class name: (_) @name @exports.value)])
  (#eq? @_whole "module.exports"))
(pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.method
(export_statement value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
(export_statement value: (class !name body: (_) @body)) @definition.class
(export_statement value: (function_expression name: (identifier) @name body: (_) @body)) @definition.function
(export_statement value: (class name: (_) @name body: (_) @body)) @definition.class

; A component in a wrapper that hands it on as it is.
((variable_declarator name: (identifier) @name value: (_ function: [(identifier) @_wrapper (_ object: (identifier) property: (property_identifier) @_wrapper)] arguments: (arguments . [
  (arrow_function body: (_) @body) (function_expression body: (_) @body)
  (call_expression arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))]))) @definition.function
  (#any-of? @_wrapper "memo" "forwardRef" "observer"))
((export_statement "default" value: (_ function: [(identifier) @_wrapper (_ object: (identifier) property: (property_identifier) @_wrapper)] arguments: (arguments . [
  (arrow_function body: (_) @body) (function_expression !name body: (_) @body)
  (call_expression arguments: (arguments . [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]))])) @definition.function)
  (#any-of? @_wrapper "memo" "forwardRef" "observer"))
((export_statement "default" value: (_ function: [(identifier) @_wrapper (_ object: (identifier) property: (property_identifier) @_wrapper)] arguments: (arguments . [
  (function_expression name: (identifier) @name @export.default body: (_) @body) @definition.function
  (call_expression arguments: (arguments . (function_expression name: (identifier) @name @export.default body: (_) @body) @definition.function))])))
  (#any-of? @_wrapper "memo" "forwardRef" "observer"))
((export_statement "default" value: (_ function: [(identifier) @_wrapper (_ object: (identifier) property: (property_identifier) @_wrapper)] arguments: (arguments . [
  (identifier) @export.default
  (call_expression arguments: (arguments . (identifier) @export.default))])))
  (#any-of? @_wrapper "memo" "forwardRef" "observer"))

; A function that runs when the action it makes is dispatched.
((variable_declarator name: (identifier) @name value: (_ function: (identifier) @_wrapper arguments: (arguments . (_) . [
  (arrow_function body: (_) @body) (function_expression body: (_) @body)]))) @definition.function
  (#any-of? @_wrapper "createAsyncThunk" "createAppAsyncThunk"))
((variable_declarator name: (identifier) @name value: (_ function: (identifier) @_wrapper arguments: (_) @body)) @definition.function
  (#eq? @_wrapper "createReducer"))

; A function that is called once and returns what a module shows: var M = (function () { … return { f: f } })().
(program (_ (variable_declarator name: (identifier) @name value: (call_expression function: [
  (parenthesized_expression [
    (function_expression body: (statement_block (return_statement (object))) @body)
    (arrow_function body: (statement_block (return_statement (object))) @body)])
  (function_expression body: (statement_block (return_statement (object))) @body)])) @definition.namespace))

; A function or class with a name of its own that is handed back; as an argument it belongs to where it stands.
(return_statement [
  (function_expression name: (identifier) @name body: (_) @body)
  (generator_function name: (identifier) @name body: (_) @body)] @definition.function)
; Begun at the sign before it: what begins at a long sum or list waits at each of its levels for the last part.
(["&&" "||" "??" "?" "["] . [
  (function_expression name: (identifier) @name body: (_) @body)
  (generator_function name: (identifier) @name body: (_) @body)] @definition.function)
(return_statement (class name: (_) @name body: (_) @body) @definition.class)
(arrow_function body: (function_expression name: (identifier) @name body: (_) @body) @definition.function)
(arrow_function body: (class name: (_) @name body: (_) @body) @definition.class)

(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant)))
(program (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant)))

; A function that is given to a call behind a string, by itself or in a wrapper. Behind a name it must follow at once:
; a state that waits for it through nested calls would make the query quadratic.
(arguments . [(string) (template_string)] [
  (arrow_function body: (_) @handler.body) (function_expression body: (_) @handler.body)
  (call_expression arguments: (arguments [(arrow_function body: (_) @handler.body) (function_expression body: (_) @handler.body)]))]) @definition.handler
(arguments . [(member_expression) (identifier)] . [
  (arrow_function body: (_) @handler.body) (function_expression body: (_) @handler.body)
  (call_expression arguments: (arguments . [(arrow_function body: (_) @handler.body) (function_expression body: (_) @handler.body)]))]) @definition.handler

; What gives a name to the functions inside of it without being a symbol itself.
(variable_declarator name: (identifier) @name value: (object)) @holder
(pair key: (_) @name value: (object)) @holder
(assignment_expression left: (member_expression) @name right: (object)) @holder
; An object that is frozen is the object.
((variable_declarator name: (identifier) @name value: (_ function: [(identifier) @_freeze (_ object: (identifier) property: (property_identifier) @_freeze)] arguments: (arguments . (object) .))) @holder
  (#any-of? @_freeze "freeze" "seal"))
((pair key: (_) @name value: (_ function: [(identifier) @_freeze (_ object: (identifier) property: (property_identifier) @_freeze)] arguments: (arguments . (object) .))) @holder
  (#any-of? @_freeze "freeze" "seal"))
((assignment_expression left: (member_expression) @name right: (_ function: [(identifier) @_freeze (_ object: (identifier) property: (property_identifier) @_freeze)] arguments: (arguments . (object) .))) @holder
  (#any-of? @_freeze "freeze" "seal"))

((call_expression function: [(identifier) @_assign (_ object: (identifier) property: (property_identifier) @_assign)] arguments: (arguments . [(identifier) (member_expression)] @name . (object))) @holder
  (#any-of? @_assign "assign" "extend"))
((call_expression function: [(identifier) @_assign (_ object: (identifier) property: (property_identifier) @_assign)] arguments: (arguments
  . [(identifier) (member_expression)] @name . [(identifier) (member_expression)] . (object))) @holder
  (#any-of? @_assign "assign" "extend"))

; Documentation, and the statement that a definition's comment stands above of.
(comment) @comment
(export_statement) @span
(lexical_declaration) @span
(variable_declaration) @span
(expression_statement (assignment_expression)) @span

; Prototypes that are put behind one another, in the ways of before there were classes.
((call_expression function: [(identifier) @_derive (_ object: (identifier) property: (property_identifier) @_derive)] arguments: (arguments . [(identifier) (member_expression)] @base.of . [(identifier) (member_expression)] @base))
  (#any-of? @_derive "inherits" "setPrototypeOf" "inherit" "__extends" "_inherits" "_inheritsLoose"))
((assignment_expression left: (_ property: (property_identifier) @_prototype) @base.of right: [
  (_ function: (member_expression object: (identifier)) arguments: (arguments . (_) @base))
  (new_expression constructor: (_) @base)])
  (#eq? @_prototype "prototype"))

; What a function is seen to give back, where no condition stands around it.
(function_declaration body: (statement_block (return_statement (_) @returned)))
(method_definition body: (statement_block (return_statement (_) @returned)))
(variable_declarator name: (identifier) value: [
  (_ "=>" body: (statement_block (return_statement (_) @returned)))
  (function_expression body: (statement_block (return_statement (_) @returned)))
  (_ "=>" body: [(identifier) (member_expression) (call_expression) (new_expression) (class)] @returned)
  (_ "=>" body: (parenthesized_expression (object) @returned))])
(assignment_expression right: [
  (_ "=>" body: (statement_block (return_statement (_) @returned)))
  (function_expression body: (statement_block (return_statement (_) @returned)))])
(pair value: [
  (_ "=>" body: (statement_block (return_statement (_) @returned)))
  (function_expression body: (statement_block (return_statement (_) @returned)))])
(if_statement (statement_block (return_statement (_) @returned.early)))
(if_statement (return_statement (_) @returned.early))
(else_clause (statement_block (return_statement (_) @returned.early)))
(switch_case (return_statement (_) @returned.early))

; Uses.
(call_expression function: (_) @reference.call)
(new_expression constructor: (_) @reference.call)
(decorator [(identifier) (member_expression)] @reference.call)
(identifier) @reference
(shorthand_property_identifier) @reference

; Imports and exports.
(import_statement) @import
(import_statement source: (string (string_fragment) @import.from))
(import_clause (identifier) @import.default)
(import_clause (namespace_import (identifier) @import.namespace))
(import_specifier name: _ @import.name)
(import_specifier alias: _ @import.alias)
(export_statement source: (string (string_fragment) @import.from)) @import.reexport
(export_statement "*" source: (string)) @import.star
(namespace_export (_) @import.namespace)
(export_specifier name: _ @import.name)
(export_specifier alias: _ @import.alias)
(export_statement (export_clause)) @export
(export_statement "default" value: (_) @export.default)
(export_statement "default" declaration: (_ name: (_) @export.default))
(assignment_expression left: [(identifier) (member_expression)] @exports)
(assignment_expression left: [(identifier) (member_expression)] right: [
  (identifier) (member_expression) (call_expression) (new_expression)] @exports.value)
(assignment_expression left: (member_expression) right: (object) @exports.object)
(assignment_expression left: (member_expression) right: (object (shorthand_property_identifier) @exports.item))
(assignment_expression left: (member_expression) right: (object (spread_element [(identifier) (call_expression)] @exports.item)))
(assignment_expression left: (member_expression) right: (object (pair
  key: [(property_identifier) (string)] @exports.key value: [(identifier) (member_expression) (call_expression)] @exports.item)))
((call_expression function: [(identifier) @_assign (_ object: (identifier) property: (property_identifier) @_assign)] arguments: (arguments . (member_expression) @exports . (call_expression) @exports.value))
  (#any-of? @_assign "assign" "extend"))
; var app = exports = module.exports = {}: what is exported has a name here.
((variable_declarator name: (identifier) @export.default value: (assignment_expression left: (_ object: (identifier) @_module property: (property_identifier) @_exports) right: (object)))
  (#eq? @_module "module") (#eq? @_exports "exports"))
((variable_declarator name: (identifier) @export.default
  value: (assignment_expression right: (assignment_expression left: (_ object: (identifier) @_module property: (property_identifier) @_exports) right: (object))))
  (#eq? @_module "module") (#eq? @_exports "exports"))
(call_expression function: [(identifier) (import)] @require arguments: (arguments . (string (string_fragment) @require.module)))

; Names that get a value, with the value as far as a chain of names can tell it.
(variable_declarator name: (identifier) @binding)
(variable_declarator value: (_) @binding.value)
(variable_declarator name: (object_pattern) @binding.pattern)
(shorthand_property_identifier_pattern) @binding.item
(object_pattern (pair_pattern key: (_) @binding.key value: (identifier) @binding.item))
(array_pattern (identifier) @binding.item)
(rest_pattern (identifier) @binding.item)
(assignment_pattern left: (identifier) @binding.item)
(arrow_function parameter: (identifier) @binding)
(catch_clause parameter: (identifier) @binding.item)
(for_in_statement left: (identifier) @binding operator: "of" right: (_) @binding.elements)
(for_in_statement left: (identifier) @binding.item)
(variable_declarator name: (array_pattern . (identifier) @binding .) value: (_) @binding.elements)
(call_expression function: (member_expression object: (_) @binding.receiver))
(arrow_function parameter: (identifier) @binding.handed)
(if_statement condition: (parenthesized_expression (_
  left: (identifier) @narrowed operator: "instanceof" right: [(identifier) (member_expression)] @narrowed.type)))
(binary_expression left: (_
  left: (identifier) @narrowed operator: "instanceof" right: [(identifier) (member_expression)] @narrowed.type) operator: "&&")
(ternary_expression condition: [(parenthesized_expression (_
  left: (identifier) @narrowed operator: "instanceof" right: [(identifier) (member_expression)] @narrowed.type))
  (_ left: (identifier) @narrowed operator: "instanceof" right: [(identifier) (member_expression)] @narrowed.type)])
(unary_expression operator: "!" argument: (parenthesized_expression (_
  left: (identifier) @narrowed operator: "instanceof" right: [(identifier) (member_expression)] @narrowed.type)))
(if_statement condition: (parenthesized_expression (_
  function: (identifier) @narrowed.guard arguments: (arguments . (identifier) @narrowed.guarded .))))
(unary_expression operator: "!" argument: (_
  function: (identifier) @narrowed.guard arguments: (arguments . (identifier) @narrowed.guarded .)))
(binary_expression left: (_
  function: (identifier) @narrowed.guard arguments: (arguments . (identifier) @narrowed.guarded .)) operator: "&&")
(ternary_expression condition: (_
  function: (identifier) @narrowed.guard arguments: (arguments . (identifier) @narrowed.guarded .)))
(assignment_expression left: (identifier) @binding)
(assignment_expression left: (member_expression) @binding)
((assignment_expression left: (subscript_expression object: [(identifier) (member_expression)] index: (string (string_fragment) @_key)) @binding)
  (#match? @_key "^[~@$]?[A-Za-z_][A-Za-z0-9_$~-]*$"))
(assignment_expression right: (_) @binding.value)

; What is held: members, and what gets a value.
(member_expression) @member
(assignment_expression left: [(identifier) (member_expression)] @written)
(assignment_expression left: (subscript_expression object: [(identifier) (member_expression)] @written))
(augmented_assignment_expression left: [(identifier) (member_expression)] @written)
(augmented_assignment_expression left: (subscript_expression object: [(identifier) (member_expression)] @written))
(update_expression argument: [(identifier) (member_expression)] @written)
(unary_expression operator: "delete" argument: (member_expression) @written)
