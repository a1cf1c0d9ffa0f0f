; Definitions. A capture without a @name inside is the anonymous default of its file.
(function_definition name: (identifier) @name body: (_) @body) @definition.function
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(decorated_definition) @span
; Called by being named: what it returns is what the attribute holds.
((decorated_definition (decorator (identifier) @_decorator) definition: (function_definition) @property)
  (#any-of? @_decorator "property" "cached_property"))
((decorated_definition (decorator (attribute attribute: (identifier) @_decorator)) definition: (function_definition) @property)
  (#any-of? @_decorator "property" "cached_property" "abstractproperty"))
; What a module exports is a list of names, like an import, and no answer to any question.
((module (expression_statement (assignment left: (identifier) @name) @definition.constant))
  (#not-eq? @name "__all__"))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @definition.field)))
(type_alias_statement left: (type (identifier) @name)) @definition.type

; Documentation.
(module . (expression_statement (string) @doc))
(module . (comment) . (expression_statement (string) @doc))
(function_definition body: (block . (expression_statement (string) @doc)))
(class_definition body: (block . (expression_statement (string) @doc)))

; Base classes, also parametrised ones: class A(Base[T]).
(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @base)))
; A manager of Django has the methods of the queries that it is made from.
((class_definition superclasses: (argument_list (call function: (attribute attribute: (identifier) @_from)
  arguments: (argument_list . [(identifier) (attribute)] @base)))) (#eq? @_from "from_queryset"))

; Uses.
(call function: (_) @reference.call)
(decorator [(identifier) (attribute)] @reference.call)
; Names where the grammar reads an expression: two in five of all identifiers. Members, keywords of arguments and names
; that are given a value are none, and asking for each of them takes a sixth of the time that a file takes.
(primary_expression/identifier) @reference
(generic_type . (identifier) @reference)
(list_splat (identifier) @reference)
(case_pattern (dotted_name . (identifier) @reference))
(class_pattern (dotted_name . (identifier) @reference))
(union_pattern (dotted_name . (identifier) @reference))
(dict_pattern (dotted_name . (identifier) @reference))

; Imports.
(import_statement) @import
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module))
(import_from_statement) @import
(import_from_statement module_name: (_) @import.from)
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import name: (dotted_name) @import.name))
(aliased_import alias: (identifier) @import.alias)
(wildcard_import) @import.star

; Names that get a value, with the type or the value as far as a chain of names can tell it.
(assignment left: [(identifier) (attribute)] @binding)
(assignment type: (type) @binding.type)
(assignment right: (_) @binding.value)
(augmented_assignment left: (identifier) @binding.item)
(named_expression name: (identifier) @binding value: (_) @binding.value)
(pattern_list (identifier) @binding.item)
(tuple_pattern (identifier) @binding.item)
(list_pattern (identifier) @binding.item)
(for_statement left: (identifier) @binding.item)
(for_in_clause left: (identifier) @binding.item)
(as_pattern_target (identifier) @binding.item)
(parameters (identifier) @binding)
(lambda_parameters (identifier) @binding)
(typed_parameter . (identifier) @binding)
(typed_parameter type: (type) @binding.type)
(default_parameter name: (identifier) @binding)
(typed_default_parameter name: (identifier) @binding)
(typed_default_parameter type: (type) @binding.type)
(case_pattern (dotted_name . (identifier) @binding.item .))
(case_pattern (splat_pattern (identifier) @binding.item))
(dict_pattern (splat_pattern (identifier) @binding.item))
(keyword_pattern (identifier) . (dotted_name . (identifier) @binding.item .))
(union_pattern (dotted_name . (identifier) @binding.item .))
(case_pattern (as_pattern (identifier) @binding.item))
(function_definition type_parameters: (type_parameter (type [(identifier) @binding.item (constrained_type . (type (identifier) @binding.item))])))
(class_definition type_parameters: (type_parameter (type [(identifier) @binding.item (constrained_type . (type (identifier) @binding.item))])))
(list_splat_pattern (identifier) @binding.item)
(dictionary_splat_pattern (identifier) @binding.item)
(function_definition return_type: (type) @returns)
(global_statement (identifier) @global)
(nonlocal_statement (identifier) @global)

; What reaches names in other ways: parts of a tuple, elements, what `with` and `except` bind, what a check of types says.
(assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @place right: (_) @place.value)
(for_statement left: (_) @place right: (_) @place.elements)
(for_in_clause left: (_) @place right: (_) @place.elements)
(with_item value: (as_pattern . (_) @place.entered alias: (as_pattern_target (_) @place)))
(except_clause value: (as_pattern . (_) @place.caught alias: (as_pattern_target (identifier) @place)))
((call function: (identifier) @_function arguments: (argument_list . (identifier) @narrowed . (_) @narrowed.type .))
  (#eq? @_function "isinstance"))
(return_statement (_) @returned)
(yield (_) @yielded)
(module (expression_statement (assignment left: (identifier) right: [(subscript) (binary_operator) (call)] @aliased)))

; What is held: members, and what gets a value.
(attribute) @member
(assignment !type left: [(identifier) (attribute)] @written)
(assignment left: [(identifier) (attribute)] @written type: (_) right: (_))
(assignment left: (subscript value: [(identifier) (attribute)] @written))
(augmented_assignment left: [(identifier) (attribute)] @written)
(augmented_assignment left: (subscript value: [(identifier) (attribute)] @written))
(pattern_list [(identifier) (attribute)] @written)
(tuple_pattern [(identifier) (attribute)] @written)
(delete_statement (attribute) @written)
(delete_statement (subscript value: [(identifier) (attribute)] @written))
(as_pattern_target (attribute) @written)
(for_statement left: (attribute) @written)
