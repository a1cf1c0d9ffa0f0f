; Definitions. A submodule has the name of the module that it completes; what an interface declares is defined elsewhere.
(module (module_statement (name) @name)) @definition.namespace
(submodule (submodule_statement ancestor: (module_name (name) @name))) @definition.namespace
(program (program_statement (name) @name)) @definition.function
(internal_procedures [(subroutine) (function) (module_procedure)] @definition.function)
(translation_unit [(subroutine) (function)] @definition.function)
(preproc_ifdef [(subroutine) (function) (module_procedure)] @definition.function)
(preproc_if [(subroutine) (function) (module_procedure)] @definition.function)
(preproc_else [(subroutine) (function) (module_procedure)] @definition.function)
(preproc_elif [(subroutine) (function) (module_procedure)] @definition.function)
(subroutine . (subroutine_statement name: (name) @name))
(function . (function_statement name: (name) @name))
(module_procedure . (module_procedure_statement name: (name) @name))
(interface (interface_statement (abstract_specifier)) [(subroutine) (function)] @definition.type)
(derived_type_definition (derived_type_statement (type_name) @name)) @definition.class
(derived_type_statement base: (base_type_specifier (identifier) @base))
; Names that stand for others: generic ones, and those of procedures that belong to a type.
((interface (interface_statement (name) @name)) @definition.function)
(derived_type_procedures (procedure_statement declarator: (method_name) @name @definition.function))
(derived_type_procedures (procedure_statement declarator: (binding (binding_name (identifier) @name)) @definition.function))
(derived_type_procedures (generic_statement declarator: (binding_list (binding_name (identifier) @name)) @definition.function))
(derived_type_definition (variable_declaration declarator: [(identifier) @name @definition.field
  (sized_declarator . (identifier) @name) @definition.field (init_declarator left: (identifier) @name) @definition.field
  (init_declarator left: (sized_declarator . (identifier) @name)) @definition.field
  (pointer_init_declarator left: (identifier) @name) @definition.field]))
(module (variable_declaration declarator: [(identifier) @name @definition.constant
  (sized_declarator . (identifier) @name) @definition.constant (init_declarator left: (identifier) @name) @definition.constant
  (init_declarator left: (sized_declarator . (identifier) @name)) @definition.constant
  (pointer_init_declarator left: (identifier) @name) @definition.constant]))
(module (preproc_ifdef (variable_declaration declarator: [(identifier) @name @definition.constant
  (sized_declarator . (identifier) @name) @definition.constant (init_declarator left: (identifier) @name) @definition.constant
  (init_declarator left: (sized_declarator . (identifier) @name)) @definition.constant
  (pointer_init_declarator left: (identifier) @name) @definition.constant])))
(module (preproc_if (variable_declaration declarator: [(identifier) @name @definition.constant
  (sized_declarator . (identifier) @name) @definition.constant (init_declarator left: (identifier) @name) @definition.constant
  (init_declarator left: (sized_declarator . (identifier) @name)) @definition.constant
  (pointer_init_declarator left: (identifier) @name) @definition.constant])))
(module (preproc_ifdef (preproc_else (variable_declaration declarator: [(identifier) @name @definition.constant
  (sized_declarator . (identifier) @name) @definition.constant (init_declarator left: (identifier) @name) @definition.constant
  (init_declarator left: (sized_declarator . (identifier) @name)) @definition.constant
  (pointer_init_declarator left: (identifier) @name) @definition.constant]))))
(module (preproc_if (preproc_else (variable_declaration declarator: [(identifier) @name @definition.constant
  (sized_declarator . (identifier) @name) @definition.constant (init_declarator left: (identifier) @name) @definition.constant
  (init_declarator left: (sized_declarator . (identifier) @name)) @definition.constant
  (pointer_init_declarator left: (identifier) @name) @definition.constant]))))

; Documentation.
(comment) @comment

; Modules.
(use_statement) @import
((use_statement (module_name) @import.from @import.star) @_how (#not-match? @_how "(?i),\\s*only\\s*:"))
(use_statement (module_name) @import.from (included_items (identifier) @import.name))
(use_statement (module_name) @import.from (included_items (use_alias (local_name) @import.alias.ahead (identifier) @import.name)))
(use_statement (module_name) @import.from (use_alias (local_name) @import.alias.ahead (identifier) @import.name))

; Uses. Elements of arrays are written alike; what is called is known by its declaration.
(subroutine_call subroutine: [(identifier) (derived_type_member_expression)] @reference.call)
(call_expression . [(identifier) (derived_type_member_expression)] @reference.call)
(identifier) @reference
(procedure_interface) @reference
(derived_type name: (type_name) @reference)
(method_name) @reference

; Names that get a value; their type stands before them.
(variable_declaration type: (intrinsic_type) @binding.type)
(variable_declaration type: (derived_type name: (type_name) @binding.type))
(variable_declaration type: (procedure) @binding.type)
(variable_declaration declarator: [(identifier) @binding (sized_declarator . (identifier) @binding)
  (init_declarator left: (identifier) @binding) (init_declarator left: (sized_declarator . (identifier) @binding))
  (pointer_init_declarator left: (identifier) @binding) (pointer_init_declarator left: (sized_declarator . (identifier) @binding))])
(derived_type_definition (variable_declaration declarator: [(identifier) @binding.property
  (sized_declarator . (identifier) @binding.property) (init_declarator left: (identifier) @binding.property)
  (init_declarator left: (sized_declarator . (identifier) @binding.property))
  (pointer_init_declarator left: (identifier) @binding.property)]))
(parameters (identifier) @binding.item)
((function_statement name: (name) @binding.item) @_how (#not-match? @_how "(?i)result\\s*\\("))
(association name: (identifier) @binding.item)
(association name: (identifier) @binding selector: [(identifier) (derived_type_member_expression) (call_expression)] @binding.value)
(selector (pointer_association_statement . (identifier) @binding . [(identifier) (derived_type_member_expression) (call_expression)] @binding.value))

; What is held: members, and what gets a value.
(derived_type_member_expression) @member
(assignment_statement left: [(identifier) (derived_type_member_expression)] @written)
(pointer_association_statement . [(identifier) (derived_type_member_expression)] @written)
