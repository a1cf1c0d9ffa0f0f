; Definitions. Functions and classes may stand inside of conditions and other functions.
(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(anonymous_class "class" @name.numbered body: (_) @body) @definition.class
(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name) @definition.method
(method_declaration [(compound_statement) ";"] @body)
(property_declaration (property_element name: (variable_name (name) @name)) @definition.field)
(enum_case name: (name) @name) @definition.field
(enum_case ";" @body)
(const_element . (name) @name) @definition.constant
((function_call_expression function: (name) @_define arguments: (arguments . (argument (string (string_content) @name)))) @definition.constant
  (#eq? @_define "define"))

; Documentation, and the statement that a member's comment stands above of.
(comment) @comment
(property_declaration) @span
(const_declaration) @span

; What types derive from. The members of a trait come before those of the superclass.
(class_declaration (base_clause [(name) (qualified_name) (relative_name)] @base))
(anonymous_class (base_clause [(name) (qualified_name) (relative_name)] @base))
(interface_declaration (base_clause [(name) (qualified_name) (relative_name)] @base))
(class_interface_clause [(name) (qualified_name) (relative_name)] @base.implements)
(use_declaration [(name) (qualified_name) (relative_name)] @base.mixin)

; Uses. What is called stands before the arguments.
[(function_call_expression) (member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression)] @call
(object_creation_expression [(name) (qualified_name) (relative_name) (variable_name)] @call.type) @call
(anonymous_class) @call
(arguments) @call.arguments
[(name) (qualified_name) (relative_name) (relative_scope)] @reference
; An object or class and the name of a method: what is called later.
(array_creation_expression
  . (array_element_initializer . [(variable_name) (class_constant_access_expression)] .)
  . (array_element_initializer . [(string) (encapsed_string)] .) .) @reference.callable
(argument name: (name) @binding.key)
(use_as_clause (name) @binding.key .)
(property_hook . (name) @binding.key)

; The namespace, imports, and files that are included by a path that is written out.
(namespace_definition name: (namespace_name) @package)
(namespace_use_declaration) @import
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import.tree))
(namespace_use_declaration (namespace_name) @import.from)
(namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @import.name))
(namespace_use_clause alias: (name) @import.alias)
(_ ["include" "include_once" "require" "require_once"] [
  (string (string_content) @import.from) (binary_expression right: (string (string_content) @import.from))
  (parenthesized_expression [
    (string (string_content) @import.from) (binary_expression right: (string (string_content) @import.from))])]) @import

; Names that get a value. A type stands right before its name; `null` is no type of its own.
(simple_parameter type: [(named_type) (primitive_type) (union_type) (intersection_type) (disjunctive_normal_form_type)] @binding.type)
(simple_parameter type: (optional_type (_) @binding.type))
(simple_parameter name: (variable_name) @binding)
(property_promotion_parameter type: [(named_type) (primitive_type) (union_type) (intersection_type) (disjunctive_normal_form_type)] @binding.type)
(property_promotion_parameter type: (optional_type (_) @binding.type))
(property_promotion_parameter name: (variable_name (name) @binding.property) @binding)
(variadic_parameter name: (variable_name) @binding.item)
(property_declaration type: [(named_type) (primitive_type) (union_type) (intersection_type) (disjunctive_normal_form_type)] @binding.type)
(property_declaration type: (optional_type (_) @binding.type))
(property_declaration type: (_) (property_element name: (variable_name (name) @binding.property)))
(catch_clause type: (_) @binding.type)
(catch_clause name: (variable_name) @binding)
(assignment_expression left: [(variable_name) (member_access_expression) (scoped_property_access_expression)] @binding)
(assignment_expression right: [
  (variable_name) (member_access_expression) (nullsafe_member_access_expression) (scoped_property_access_expression)
  (class_constant_access_expression) (function_call_expression) (member_call_expression)
  (nullsafe_member_call_expression) (scoped_call_expression) (object_creation_expression) (clone_expression)
  (subscript_expression) (parenthesized_expression)] @binding.value)
(assignment_expression right: (binary_expression left: [
  (variable_name) (member_access_expression) (function_call_expression) (member_call_expression) (scoped_call_expression)
  (scoped_property_access_expression)] @binding.value operator: "??"))
(assignment_expression right: (conditional_expression condition: (variable_name) @binding.value))
(augmented_assignment_expression left: (variable_name) @binding.item)
(reference_assignment_expression left: (variable_name) @binding)
(list_literal (variable_name) @binding.item)
(foreach_statement . (_) @binding.elements . (variable_name) @binding.element)
; The parameter of a function that a collection runs with each element.
((member_call_expression object: [(variable_name) (member_access_expression) (member_call_expression)
    (scoped_call_expression)] @binding.elements name: (name) @_each arguments: (arguments . (argument [
    (anonymous_function parameters: (formal_parameters . (simple_parameter !type name: (variable_name) @binding.element)))
    (arrow_function parameters: (formal_parameters . (simple_parameter !type name: (variable_name) @binding.element)))])))
  (#any-of? @_each "each" "eachById" "chunk" "chunkById" "map" "filter" "reject" "flatMap" "mapWithKeys" "sortBy"
    "sortByDesc" "groupBy" "keyBy" "every" "some" "contains" "doesntContain" "first" "last" "sum" "avg" "min" "max"
    "partition" "unique" "transform" "mapToGroups" "takeWhile" "skipWhile" "countBy"))
(foreach_statement . (_) @binding.elements . (pair (_) (variable_name) @binding.element))
(foreach_statement . (_) . (pair . (variable_name) @binding.item))
(static_variable_declaration name: (variable_name) @binding.item)
(global_declaration (variable_name) @global)
(binary_expression left: [(variable_name) (member_access_expression) (nullsafe_member_access_expression)
  (scoped_property_access_expression)] @narrowed operator: "instanceof" right: [(name) (qualified_name)] @narrowed.type)
(function_definition return_type: [(named_type) (primitive_type) (union_type) (intersection_type) (disjunctive_normal_form_type)] @returns)
(function_definition return_type: (optional_type (_) @returns))
(method_declaration return_type: [(named_type) (primitive_type) (union_type) (intersection_type) (disjunctive_normal_form_type)] @returns)
(method_declaration return_type: (optional_type (_) @returns))
; A relation of Laravel's models, whatever class of the library it is said to be.
((return_statement (member_call_expression object: (variable_name) @_this name: (name) @_make
  arguments: (arguments . (argument (class_constant_access_expression . [(name) (qualified_name)] @returns.within)))))
  (#eq? @_this "$this")
  (#any-of? @_make "hasOne" "hasMany" "belongsTo" "belongsToMany" "hasOneThrough" "hasManyThrough" "morphOne" "morphMany"
    "morphToMany" "morphedByMany"))
((return_statement (member_call_expression object: (member_call_expression object: (variable_name) @_this name: (name) @_make
  arguments: (arguments . (argument (class_constant_access_expression . [(name) (qualified_name)] @returns.within))))))
  (#eq? @_this "$this")
  (#any-of? @_make "hasOne" "hasMany" "belongsTo" "belongsToMany" "hasOneThrough" "hasManyThrough" "morphOne" "morphMany"
    "morphToMany" "morphedByMany"))

; A function that is given to a call behind a string.
(arguments . (argument [(string) (encapsed_string)]) (argument [
  (anonymous_function body: (_) @handler.body) (arrow_function body: (_) @handler.body)])) @definition.handler

; Properties that are read and written.
[(member_access_expression) (nullsafe_member_access_expression) (scoped_property_access_expression)] @member
(assignment_expression left: [(member_access_expression) (scoped_property_access_expression)] @written)
(assignment_expression left: (subscript_expression . [(member_access_expression) (scoped_property_access_expression)] @written))
(augmented_assignment_expression left: [(member_access_expression) (scoped_property_access_expression)] @written)
(augmented_assignment_expression left: (subscript_expression . [(member_access_expression) (scoped_property_access_expression)] @written))
(reference_assignment_expression left: [(member_access_expression) (scoped_property_access_expression)] @written)
(update_expression [(member_access_expression) (scoped_property_access_expression)] @written)
(list_literal [(member_access_expression) (scoped_property_access_expression)] @written)
(unset_statement [(member_access_expression) (scoped_property_access_expression)] @written)
(unset_statement (subscript_expression . [(member_access_expression) (scoped_property_access_expression)] @written))
