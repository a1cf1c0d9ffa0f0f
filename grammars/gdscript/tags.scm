; Definitions. The class that a file is needs no capture of its own: its name and head are read from these.
(class_name_statement name: (name) @_class_name) @_head
(extends_statement) @_head
(get_node) @_node
(class_definition name: (name) @name body: (_) @body) @definition.class
(function_definition name: (name) @name) @definition.function
(function_definition body: (_) @body)
(constructor_definition "_init" @name.constructor body: (_) @body) @definition.method
(enum_definition name: (name) @name body: (_) @body) @definition.enum
(enum_definition name: (name) body: (enumerator_list (enumerator left: (identifier) @name @definition.field)))
(enum_definition !name body: (enumerator_list (enumerator left: (identifier) @name @definition.constant)))
(source (const_statement name: (name) @name) @definition.constant)
(class_body (const_statement name: (name) @name) @definition.constant)
(source (variable_statement name: (name) @name) @definition.field)
(class_body (variable_statement name: (name) @name) @definition.field)
(source (export_variable_statement name: (name) @name) @definition.field)
(source (onready_variable_statement name: (name) @name) @definition.field)
(signal_statement name: (name) @name) @definition.field

; Documentation.
(comment) @comment
(annotations) @lead

; What classes derive from.
(extends_statement [(type) (string)] @base)

; Uses. Parts of a chain have one node for all of them, and what stands before it may be in there, too.
(arguments) @reference.token
(identifier) @reference
(pair left: (identifier) @binding.key)

; Names that get a value, and their types.
(source (variable_statement name: (name) @binding.property))
(class_body (variable_statement name: (name) @binding.property))
(source (const_statement name: (name) @binding.property))
(class_body (const_statement name: (name) @binding.property))
(body (variable_statement name: (name) @binding))
(body (const_statement name: (name) @binding))
(variable_statement type: (type) @binding.type)
(variable_statement value: [(identifier) (attribute) (call) (subscript) (get_node) (binary_operator) (parenthesized_expression) (await_expression) (conditional_expression)] @binding.value)
(const_statement type: (type) @binding.type)
(const_statement value: [(identifier) (attribute) (call)] @binding.value)
(assignment left: [(identifier) (attribute)] @binding right: [(identifier) (attribute) (call) (subscript) (get_node) (binary_operator)] @binding.value)
([(function_definition parameters: (parameters (identifier) @binding.item))
  (constructor_definition parameters: (parameters (identifier) @binding.item))
  (lambda parameters: (parameters (identifier) @binding.item))
  (set_body (parameters (identifier) @binding.item))])
([(function_definition parameters: (parameters [(typed_parameter . (identifier) @binding) (typed_default_parameter . (identifier) @binding) (default_parameter . (identifier) @binding)]))
  (constructor_definition parameters: (parameters [(typed_parameter . (identifier) @binding) (typed_default_parameter . (identifier) @binding) (default_parameter . (identifier) @binding)]))
  (lambda parameters: (parameters [(typed_parameter . (identifier) @binding) (typed_default_parameter . (identifier) @binding) (default_parameter . (identifier) @binding)]))
  (set_body (parameters [(typed_parameter . (identifier) @binding) (typed_default_parameter . (identifier) @binding)]))])
(signal_statement parameters: (parameters [(identifier) @binding.key (_ . (identifier) @binding.key)]))
(typed_parameter type: (type) @binding.type)
(typed_default_parameter type: (type) @binding.type)
(typed_default_parameter value: (_) @binding.value)
(default_parameter value: (_) @binding.value)
(variadic_parameter (identifier) @binding.item)
(for_statement left: (identifier) @binding)
(for_statement type: (type) @binding.type)
(for_statement left: (identifier) right: (_) @binding.elements)
(pattern_binding (identifier) @binding.item)
(function_definition return_type: (type) @returns)
(function_definition body: (body (return_statement (_) @returned)))

; A name is of the type that it is checked to be of.
(if_statement) @region
(elif_clause) @region
(binary_operator left: (identifier) @binding.subject op: "is") @binding.match
(binary_operator left: (identifier) op: "is" right: [(identifier) (attribute)] @checked.type)
(body) @region
(for_statement) @region
(lambda) @region

; What is held.
(attribute) @member
(assignment left: [(identifier) (attribute)] @written)
(augmented_assignment left: [(identifier) (attribute)] @written)
