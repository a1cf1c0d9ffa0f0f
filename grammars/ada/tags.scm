; Definitions. A body, a subunit and the declaration of either have one qualified name.
(compilation_unit [(package_declaration name: (_) @name) (package_body name: (_) @name)] @definition.namespace)
(package_declaration [(package_declaration name: (_) @name) (package_body name: (_) @name)] @definition.namespace)
(non_empty_declarative_part [(package_declaration name: (_) @name) (package_body name: (_) @name)] @definition.namespace)
(subunit parent_unit_name: (_) @package)
(subunit (package_body name: (_) @name) @definition.namespace)
((generic_package_declaration (package_declaration name: (_) @name.behind)) @definition.namespace)
((package_renaming_declaration name: (_) @name) @definition.namespace)
((generic_instantiation "package" name: (_) @name) @definition.namespace)
((generic_instantiation ["procedure" "function"] name: (_) @name) @definition.function)
((formal_package_declaration . "with" . "package" . (identifier) @name) @definition.namespace)
(package_body [(non_empty_declarative_part) (handled_sequence_of_statements)] @body)
((subprogram_declaration [(procedure_specification name: (_) @name) (function_specification name: (_) @name)])
  @definition.function)
((generic_subprogram_declaration
  [(procedure_specification name: (_) @name.behind) (function_specification name: (_) @name.behind)])
  @definition.function)
((subprogram_body [(procedure_specification name: (_) @name) (function_specification name: (_) @name)])
  @definition.function)
((subprogram_body_stub [(procedure_specification name: (_) @name) (function_specification name: (_) @name)])
  @definition.function)
((null_procedure_declaration (procedure_specification name: (_) @name)) @definition.function)
((expression_function_declaration (function_specification name: (_) @name)) @definition.function)
((subprogram_renaming_declaration [(procedure_specification name: (_) @name) (function_specification name: (_) @name)])
  @definition.function)
(subprogram_body [(non_empty_declarative_part) (handled_sequence_of_statements)] @body)
((entry_declaration entry_name: (_) @name) @definition.method)
((entry_body . (identifier) @name) @definition.method)
(entry_body [(non_empty_declarative_part) (handled_sequence_of_statements)] @body)
((full_type_declaration . (identifier) @name [(record_type_definition) (derived_type_definition (record_extension_part))])
  @definition.class)
((full_type_declaration . (identifier) @name (interface_type_definition)) @definition.interface)
((full_type_declaration . (identifier) @name (enumeration_type_definition)) @definition.enum)
((full_type_declaration . (identifier) @name [(array_type_definition) (access_to_object_definition)
  (access_to_subprogram_definition) (signed_integer_type_definition) (modular_type_definition)
  (floating_point_definition) (ordinary_fixed_point_definition) (decimal_fixed_point_definition)
  (derived_type_definition)]) @definition.type)
((private_type_declaration . (identifier) @name) @definition.class)
((private_extension_declaration . (identifier) @name) @definition.class)
((subtype_declaration . (identifier) @name) @definition.type)
((formal_complete_type_declaration . (identifier) @name) @definition.type)
((formal_incomplete_type_declaration . (identifier) @name) @definition.type)
((task_type_declaration (identifier) @name) @definition.class)
((single_task_declaration (identifier) @name) @definition.class)
((task_body . (identifier) @name) @definition.class)
((protected_type_declaration (identifier) @name) @definition.class)
((single_protected_declaration (identifier) @name) @definition.class)
((protected_body . (identifier) @name) @definition.class)
(enumeration_type_definition (identifier) @name.outer @definition.field)
(component_declaration (identifier) @name @definition.field)
(discriminant_specification . (identifier) @name @definition.field)
(package_declaration (object_declaration name: (identifier) @name @definition.constant))
(package_body (non_empty_declarative_part (object_declaration name: (identifier) @name @definition.constant)))
(package_declaration (object_renaming_declaration . (identifier) @name @definition.constant))
(package_body (non_empty_declarative_part (object_renaming_declaration . (identifier) @name @definition.constant)))
(package_declaration (number_declaration (identifier) @name @definition.constant))
(package_body (non_empty_declarative_part (number_declaration (identifier) @name @definition.constant)))
(package_declaration (exception_declaration (identifier) @name @definition.constant))
(package_body (non_empty_declarative_part (exception_declaration (identifier) @name @definition.constant)))

; Documentation.
(comment) @comment

; Units, and packages whose names hold without them.
(with_clause) @import
(with_clause [(identifier) (selected_component)] @import.module)
(use_clause) @_used

; Types above.
(derived_type_definition subtype_mark: [(identifier) (selected_component)] @base)
(private_extension_declaration subtype_mark: [(identifier) (selected_component)] @base)

; Uses. The rest of what the text says of calls and declarations is read from these nodes.
(identifier) @reference
(term name: [(identifier) (selected_component) (function_call) (slice)]) @_term
[(factor_not) (factor_power) (factor_abs)] @_term
(expression ["and" "or" "xor"]) @_joined
(procedure_call_statement) @_call
(assignment_statement) @_assigned
(iterator_specification) @_loop
(loop_parameter_specification) @_loop
(range_g prefix: [(identifier) (selected_component) (function_call)] @_use)
(requeue_statement name: (_) @_use)
[(object_declaration) (extended_return_object_declaration) (object_renaming_declaration) (number_declaration)
 (exception_declaration) (formal_object_declaration) (component_declaration) (discriminant_specification)
 (choice_parameter_specification)] @_object
(simple_return_statement) @_result
(expression_function_declaration) @_expressed
[(block_statement) (loop_statement) (extended_return_statement) (accept_statement) (exception_handler)
 (declare_expression) (quantified_expression) (iterated_element_association)] @_block
(_ condition: (expression) @_condition)
(pragma_g) @_pragma
[(generic_instantiation) (formal_package_declaration) (package_renaming_declaration)
 (subprogram_renaming_declaration)] @_instance
[(full_type_declaration) (private_type_declaration) (private_extension_declaration) (subtype_declaration)
 (formal_complete_type_declaration) (formal_incomplete_type_declaration)] @_type
[(function_specification) (procedure_specification) (entry_declaration) (entry_body)] @_heading
(formal_subprogram_declaration) @_formal
[(subprogram_declaration) (generic_subprogram_declaration) (subprogram_body_stub) (entry_declaration)] @_declared
[(package_body) (protected_body) (task_body)] @_body
(accept_statement) @_accept

; What is written.
(assignment_statement variable_name: [(identifier) (selected_component)] @written)
