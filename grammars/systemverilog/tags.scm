; Definitions. A module is a class: what it has is found behind its instances.
(module_declaration [(module_ansi_header name: (_) @name) (module_nonansi_header name: (_) @name)]) @definition.class
(module_declaration . [(module_ansi_header) (module_nonansi_header)] . (_) @body)
(interface_declaration [(interface_ansi_header name: (_) @name) (interface_nonansi_header name: (_) @name)]) @definition.class
(interface_declaration . [(interface_ansi_header) (interface_nonansi_header)] . (_) @body)
(program_declaration [(program_ansi_header name: (_) @name) (program_nonansi_header name: (_) @name)]) @definition.class
(program_declaration . [(program_ansi_header) (program_nonansi_header)] . (_) @body)
(udp_declaration [(udp_ansi_declaration (simple_identifier) @name) (udp_nonansi_declaration . (simple_identifier) @name)]) @definition.class
(checker_declaration name: (_) @name) @definition.class
(package_declaration name: (_) @name) @definition.namespace
(package_declaration (package_item) @body)
(class_declaration name: (_) @name) @definition.class
(class_declaration (class_item) @body)
(interface_class_declaration name: (_) @name) @definition.interface
(interface_class_declaration (interface_class_item) @body)
(covergroup_declaration name: (_) @name) @definition.class
(covergroup_declaration (coverage_spec_or_option) @body)

(function_declaration (function_body_declaration name: (_) @name)) @definition.function
(function_body_declaration [(block_item_declaration) (function_statement_or_null) (tf_item_declaration)] @body)
(task_declaration (task_body_declaration name: (_) @name)) @definition.function
(task_body_declaration [(block_item_declaration) (statement_or_null) (tf_item_declaration)] @body)
(class_constructor_declaration "new" @name.constructor) @definition.method
(class_constructor_declaration [(block_item_declaration) (function_statement_or_null)] @body)
(class_constructor_declaration "super" @body)
(function_declaration (function_body_declaration (class_scope))) @definition.method
(task_declaration (task_body_declaration (class_scope))) @definition.method
(function_body_declaration (class_scope (class_type . (simple_identifier) @owner)))
(task_body_declaration (class_scope (class_type . (simple_identifier) @owner)))
(class_constructor_declaration (class_scope (class_type . (simple_identifier) @owner)))
(class_method "pure" [(function_prototype name: (_) @name) (task_prototype name: (_) @name)]) @definition.method
(interface_class_method [(function_prototype name: (_) @name) (task_prototype name: (_) @name)]) @definition.method
(class_method "pure" ";" @body)
(interface_class_method ";" @body)
(dpi_function_proto (function_prototype name: (_) @name)) @definition.function
(dpi_task_proto (task_prototype name: (_) @name)) @definition.function
(property_declaration name: (_) @name) @definition.function
(sequence_declaration name: (_) @name) @definition.function
(let_declaration name: (_) @name) @definition.function
(text_macro_definition (text_macro_name . (simple_identifier) @name)) @definition.macro
(text_macro_definition (macro_text) @body)

(type_declaration (data_type "enum") type_name: (_) @name.behind) @definition.enum
(enum_name_declaration . (simple_identifier) @name.outer) @definition.field
(type_declaration (data_type (struct_union)) type_name: (_) @name.behind) @definition.struct
(struct_union_member (list_of_variable_decl_assignments (variable_decl_assignment name: (_) @name) @definition.field))
(type_declaration (data_type . (simple_identifier) @returns) type_name: (_) @name) @definition.type
(type_declaration (data_type . (class_scope) . (simple_identifier) @returns) type_name: (_) @name) @definition.type
(type_declaration (data_type . (class_type) @returns) type_name: (_) @name) @definition.type
(type_declaration . "typedef" . (class_type) @returns type_name: (_) @name) @definition.type
(type_declaration . "typedef" . (simple_identifier) @returns @link.of . (class_type) @link type_name: (_) @name) @definition.type
(type_declaration (data_type . [(integer_vector_type) (integer_atom_type) (non_integer_type) "string" "chandle" "event"])
  type_name: (_) @name) @definition.type
(type_assignment name: (_) @name) @definition.type
(type_assignment value: [(simple_identifier) (class_type)] @returns)
(param_assignment . (simple_identifier) @name) @definition.constant
(class_property (data_declaration (list_of_variable_decl_assignments (variable_decl_assignment name: (_) @name) @definition.field)))
(constraint_declaration . (simple_identifier) @name) @definition.field
(modport_item . (simple_identifier) @name) @definition.field
(clocking_declaration name: (_) @name) @definition.field

; Documentation.
(one_line_comment) @comment
(block_comment) @comment
(package_item) @span
(class_item) @span

; What classes derive from.
(class_declaration (class_type) @base)
(class_declaration (interface_class_type) @base.implements)
(interface_class_declaration (interface_class_type) @base)

; Packages, and text that stands in other files.
(package_import_item) @import
(package_import_item . (simple_identifier) @import.from . (simple_identifier) @import.name)
(package_import_item (simple_identifier) @import.from . "*" @import.star)
(include_compiler_directive [(quoted_string) (system_lib_string)] @import.from) @import

; Uses. An instance is a call of its module; `x = new` calls what x is of.
(tf_call) @call
(tf_call . (hierarchical_identifier) @call.name "(")
(subroutine_call_statement (subroutine_call (tf_call . (hierarchical_identifier) @call.name)))
(method_call) @call
(method_call_body name: (simple_identifier) @call.name "(")
(subroutine_call_statement (subroutine_call (method_call (method_call_body name: (simple_identifier) @call.name))))
(method_call . (_) @reference.call (method_call_body (new_method_call)))
(class_constructor_declaration "super" @reference.call)
(blocking_assignment (class_new)) @call
((blocking_assignment (hierarchical_identifier) @call.name (class_new) @_new) (#match? @_new "^new\\s*(\\(|$)"))
(data_declaration (data_type_or_implicit (data_type . [(simple_identifier) (class_type)] @reference.call))
  (list_of_variable_decl_assignments (variable_decl_assignment (class_new))))
(module_instantiation instance_type: (_) @reference.call)
(interface_instantiation . (simple_identifier) @reference.call)
(program_instantiation . (simple_identifier) @reference.call)
(checker_instantiation . (simple_identifier) @reference.call)
(udp_instantiation . (simple_identifier) @reference.call)
(text_macro_usage . (simple_identifier) @reference.call)
(list_of_arguments) @call.arguments
(simple_identifier) @reference
(named_port_connection port_name: (_) @binding.key)
(named_parameter_assignment . (simple_identifier) @binding.key)
(function_prototype name: (_) @binding.key)
(task_prototype name: (_) @binding.key)

; Names that get a value; their type stands before them.
(data_type . [(simple_identifier) (class_type) (integer_vector_type) (integer_atom_type) (non_integer_type) (struct_union)] @binding.type)
(data_type . (class_scope) . (simple_identifier) @binding.type)
(data_type ["string" "chandle" "event" "enum"] @binding.type)
(variable_decl_assignment name: (_) @binding)
(class_property (data_declaration (list_of_variable_decl_assignments (variable_decl_assignment name: (_) @binding.property))))
(module_declaration (data_declaration (list_of_variable_decl_assignments (variable_decl_assignment name: (_) @binding.property))))
(interface_declaration (interface_item (data_declaration (list_of_variable_decl_assignments (variable_decl_assignment name: (_) @binding.property)))))
(struct_union_member (list_of_variable_decl_assignments (variable_decl_assignment name: (_) @binding.property)))
(net_declaration . (simple_identifier) @binding.type)
(net_declaration (list_of_net_decl_assignments (net_decl_assignment . (simple_identifier) @binding @binding.property)))
(module_instantiation instance_type: (_) @binding.type)
((module_instantiation instance_type: (_) @_type (hierarchical_instance (name_of_instance instance_name: (_) @binding @binding.property)))
  (#not-eq? @_type @binding.property))
(tf_port_item name: (_) @binding)
(ansi_port_declaration (interface_port_header interface_name: (_) @binding.type))
(ansi_port_declaration port_name: (_) @binding @binding.property)
(for_variable_declaration (data_type) . (simple_identifier) @binding)
(loop_variables (simple_identifier) @binding.item)
(function_body_declaration (data_type_or_void (data_type . [(simple_identifier) (class_type)] @returns)))
(function_body_declaration (data_type_or_void (data_type . (class_scope) . (simple_identifier) @returns)))
(function_prototype (data_type_or_void (data_type . [(simple_identifier) (class_type)] @returns)))
(function_prototype (data_type_or_void (data_type . (class_scope) . (simple_identifier) @returns)))

; What is held.
(hierarchical_identifier) @member
(variable_lvalue (hierarchical_identifier) @written)
