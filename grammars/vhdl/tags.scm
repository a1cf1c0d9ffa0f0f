; Definitions. An architecture is named as a part of its entity when the names of a file are read.
(entity_declaration entity: (_) @name) @definition.class
(architecture_definition architecture: (_) @name) @definition.class @_architecture
(architecture_definition [(architecture_head) (concurrent_block)] @body)
(package_declaration package: (_) @name) @definition.namespace
(package_declaration_body) @body
(package_definition package: (_) @name) @definition.namespace
(package_definition_body) @body
((package_instantiation_declaration package: (_) @name) @definition.namespace)
(context_declaration . "context" . (_) @name) @definition.namespace
(configuration_declaration configuration: (_) @name) @definition.class
(component_declaration component: (_) @name) @definition.interface
(subprogram_declaration [(function_specification function: (_) @name) (procedure_specification procedure: (_) @name)])
  @definition.function
(subprogram_definition [(function_specification function: (_) @name) (procedure_specification procedure: (_) @name)])
  @definition.function
(subprogram_definition [(subprogram_head) (sequential_block)] @body)
(subprogram_instantiation_declaration [function: (_) procedure: (_)] @name) @definition.function
(alias_declaration . "alias" . (_) @name (name (signature))) @definition.function
(package_declaration_body (alias_declaration . "alias" . (identifier) @name . "is" .
  (name [(identifier) (library_type) (selection)] .)) @definition.type)
(package_definition_body (alias_declaration . "alias" . (identifier) @name . "is" .
  (name [(identifier) (library_type) (selection)] .)) @definition.type)
(architecture_head (alias_declaration . "alias" . (identifier) @name . "is" .
  (name [(identifier) (library_type) (selection)] .)) @definition.type)
(process_statement (label_declaration (label) @name)) @definition.function
(process_statement [(process_head) (sequential_block)] @body)
(type_declaration type: (_) @name (record_type_definition)) @definition.struct
(type_declaration type: (_) @name (enumeration_type_definition)) @definition.enum
(type_declaration type: (_) @name [(protected_type_declaration) (protected_type_body)]) @definition.class
(type_declaration type: (_) @name [(array_type_definition) (access_type_definition) (range_constraint)
  (physical_type_definition) (file_type_definition)]) @definition.type
(subtype_declaration type: (_) @name) @definition.type
(enumeration_literal (identifier) @name.outer @definition.field)
(element_declaration (identifier_list (identifier) @name @definition.field))
(entity_head [(generic_clause (interface_list (_ (identifier_list (identifier) @name @definition.field))))
  (port_clause (interface_list (_ (identifier_list (identifier) @name @definition.field))))])
(package_declaration_body [(constant_declaration (identifier_list (identifier) @name @definition.constant))
  (signal_declaration (identifier_list (identifier) @name @definition.constant))
  (variable_declaration (identifier_list (identifier) @name @definition.constant))
  (alias_declaration . "alias" . (identifier) @name @definition.constant (subtype_indication))])
(package_definition_body [(constant_declaration (identifier_list (identifier) @name @definition.constant))
  (variable_declaration (identifier_list (identifier) @name @definition.constant))])
(architecture_head [(constant_declaration (identifier_list (identifier) @name @definition.constant))
  (signal_declaration (identifier_list (identifier) @name @definition.constant))
  (variable_declaration (identifier_list (identifier) @name @definition.constant))
  (alias_declaration . "alias" . (identifier) @name @definition.constant (subtype_indication))])

; Documentation.
(line_comment) @comment
(block_comment) @comment

; An architecture is what its entity does.
(architecture_definition entity: (_) @base.implements)

; Uses. What the text says of calls and declarations is read from these nodes.
(design_file) @_design
(library_clause) @_library
[(use_clause) (context_reference)] @_used
(subprogram_declaration) @_declared
[(package_definition) (type_declaration (protected_type_body)) (context_declaration)] @_body
[(process_statement) (block_statement) (generate_body) (for_generate_statement) (loop_statement)] @_block
[(package_instantiation_declaration) (subprogram_instantiation_declaration) (alias_declaration)] @_instance
[(type_declaration) (subtype_declaration)] @_type
[(function_specification) (procedure_specification)] @_heading
[(constant_declaration) (signal_declaration) (variable_declaration) (file_declaration) (element_declaration)
 (interface_declaration) (interface_constant_declaration) (interface_signal_declaration)
 (interface_variable_declaration) (interface_file_declaration)] @_object
(parameter_specification) @_loop
[(simple_variable_assignment) (simple_waveform_assignment) (concurrent_simple_signal_assignment)] @_assigned
(return_statement) @_result
(component_instantiation_statement) @_unit
(name) @_term
(identifier) @reference

; What is written.
(simple_variable_assignment . (name) @written)
(simple_waveform_assignment . (name) @written)
(concurrent_simple_signal_assignment . (name) @written)
