; Definitions. A class and the object beside it share their name, and a call of it is a call of the class.
(class_definition name: (identifier) @name) @definition.class
(class_definition body: (_) @body)
(object_definition name: (identifier) @name) @definition.class
(object_definition body: (_) @body)
(package_object name: (identifier) @name body: (_) @body) @definition.class
(trait_definition name: (identifier) @name) @definition.trait
(trait_definition body: (_) @body)
(enum_definition name: (identifier) @name body: (_) @body) @definition.enum
(simple_enum_case name: (identifier) @name) @definition.field
(full_enum_case name: (identifier) @name) @definition.class
(type_definition name: (type_identifier) @name) @definition.type
(type_definition type: [(type_identifier) (generic_type) (stable_type_identifier)] @returns)
(function_definition name: (_) @name) @definition.function
(function_definition body: (_) @body)
(function_declaration name: (_) @name) @definition.function
(given_definition name: (identifier) @name body: (_) @body) @definition.class
(given_definition "given" @name.numbered !name body: (with_template_body) @body) @definition.class
(instance_expression (template_body) @definition.class)

; A function without parameters is called by naming it.
(function_definition !parameters) @property
(function_declaration !parameters) @property

; Functions that are written outside of the type that they belong to.
(extension_definition parameters: (parameters (parameter type: [(type_identifier) (generic_type)
  (stable_type_identifier)] @owner))) @holder
(extension_definition (function_definition) @definition.method)

; Values of objects stay; those of classes are one for each instance.
(object_definition body: (_ (val_definition pattern: (identifier) @name) @definition.constant))
(object_definition body: (_ (var_definition pattern: (identifier) @name) @definition.field))
(package_object body: (_ (val_definition pattern: (identifier) @name) @definition.constant))
(class_definition body: (_ (val_definition pattern: (identifier) @name) @definition.field))
(class_definition body: (_ (var_definition pattern: (identifier) @name) @definition.field))
(trait_definition body: (_ (val_definition pattern: (identifier) @name) @definition.field))
(trait_definition body: (_ (var_definition pattern: (identifier) @name) @definition.field))
(enum_body [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @definition.field)
(template_body [(val_declaration name: (identifier) @name) (var_declaration name: (identifier) @name)] @definition.field)
(compilation_unit [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)]
  @definition.constant)
(class_parameter ["val" "var"] . name: (identifier) @name) @definition.field
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (identifier) @name) @definition.field))

; Documentation.
(comment) @comment
(block_comment) @comment

; What types derive from.
(extends_clause [(type_identifier) (stable_type_identifier)] @base)
(extends_clause (generic_type type: [(type_identifier) (stable_type_identifier)] @base))
(extends_clause (compound_type base: [(type_identifier) (stable_type_identifier)] @base))
(extends_clause (compound_type [(type_identifier) (stable_type_identifier)] @base))
(extends_clause (compound_type base: (generic_type type: [(type_identifier) (stable_type_identifier)] @base)))
(extends_clause (compound_type (generic_type type: [(type_identifier) (stable_type_identifier)] @base)))
(self_type [(type_identifier) (stable_type_identifier)] @base.mixin)
(given_definition return_type: [(type_identifier) (stable_type_identifier)] @base body: (with_template_body))
(given_definition return_type: (generic_type type: (type_identifier) @base) body: (with_template_body))

; Uses. A block may stand in the place of arguments.
(call_expression) @call
(arguments) @call.arguments
(arguments (_) @call.argument)
(call_expression [(block) (case_block)] @call.further)
(instance_expression [(type_identifier) (stable_type_identifier)] @call.type) @call
(instance_expression (generic_type type: [(type_identifier) (stable_type_identifier)] @call.type)) @call
(instance_expression (compound_type base: [(type_identifier) (stable_type_identifier)] @call.type)) @call
(extends_clause . [(type_identifier) (stable_type_identifier)] @call @call.type . (arguments))
(extends_clause . (generic_type . [(type_identifier) (stable_type_identifier)] @call @call.type) . (arguments))
(identifier) @reference
(type_identifier) @reference
(arguments (assignment_expression left: (identifier) @binding.key))
(field_expression value: (wildcard) @binding.item)

; The package, which may be said in parts, and imports.
(compilation_unit . (package_clause name: (package_identifier) @package))
(compilation_unit (package_clause !body) . (package_clause name: (package_identifier) @package.further !body))
(compilation_unit . (comment) (package_clause name: (package_identifier) @package))
(compilation_unit . (block_comment) (package_clause name: (package_identifier) @package))
(import_declaration) @import
(import_declaration) @import.tree

; Names that get a value, with their types.
(val_definition pattern: (identifier) @binding)
(var_definition pattern: (identifier) @binding)
(val_definition type: (_) @binding.type)
(var_definition type: (_) @binding.type)
(val_definition value: (_) @binding.value)
(var_definition value: (_) @binding.value)
(template_body [(val_definition pattern: (identifier) @binding.property)
  (var_definition pattern: (identifier) @binding.property)])
(template_body (val_declaration name: (identifier) @binding.property))
(val_declaration type: (_) @binding.type)
(class_parameter name: (identifier) @binding)
(class_parameter ["val" "var"] . name: (identifier) @binding.property)
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (identifier) @binding.property)))
(class_parameter type: (_) @binding.type)
(parameter name: (identifier) @binding)
(parameter type: (_) @binding.type)
(binding name: (identifier) @binding)
(binding type: (_) @binding.type)
(lambda_expression) @lambda
(lambda_expression parameters: (identifier) @binding.item @binding.handed)
(enumerator . (identifier) @binding.item "<-")
(enumerator . (identifier) @binding "=" . (_) @binding.value)
(typed_pattern pattern: (identifier) @binding type: (_) @binding.type)
((case_clause pattern: (identifier) @binding.item) (#match? @binding.item "^[a-z_]"))
((case_class_pattern pattern: (identifier) @binding.item) (#match? @binding.item "^[a-z_]"))
((tuple_pattern (identifier) @binding.item) (#match? @binding.item "^[a-z_]"))
((capture_pattern name: (identifier) @binding.item))
(type_parameters name: (identifier) @binding.generic)
(type_parameters bound: (upper_bound type: (_) @binding.type))

; What functions take, in the first of their lists, and give.
(function_definition name: (_) . parameters: (parameters (parameter type: (_) @parameter)))
(function_definition name: (_) . parameters: (type_parameters) . parameters: (parameters (parameter type: (_) @parameter)))
(function_declaration name: (_) . parameters: (parameters (parameter type: (_) @parameter)))
(function_declaration name: (_) . parameters: (type_parameters) . parameters: (parameters (parameter type: (_) @parameter)))
(parameter default_value: (_) @parameter.optional)
(parameter type: (repeated_parameter_type) @parameter.rest)
(function_definition name: (_) . parameters: (parameters ["implicit" "using"] (parameter type: (_) @parameter.optional)))
(function_definition return_type: (_) @returns)
(function_declaration return_type: (_) @returns)
(function_definition body: [(call_expression) (instance_expression) (identifier) (field_expression)] @returned)

; What is held: members, and what gets a value.
(field_expression) @member
(block (assignment_expression left: [(identifier) (field_expression)] @written))
(indented_block (assignment_expression left: [(identifier) (field_expression)] @written))
(function_definition body: (assignment_expression left: [(identifier) (field_expression)] @written))
