; Definitions.
(class_definition name: (identifier) @name) @definition.class
(function_definition name: (identifier) @name) @definition.function
(function_definition (block) @body)
; What is declared without a body stands in a file of its own, unless it is abstract.
((methods (attributes (attribute (identifier) @_abstract)) (function_signature name: (identifier) @name) @definition.function)
  (#eq? @_abstract "Abstract"))
(properties (property name: (identifier) @name) @definition.field)
(enumeration (enum . (identifier) @name) @definition.field)
(events (identifier) @name @definition.field)

; Documentation, which stands below the head.
(comment) @comment
(class_definition (comment) @doc @body)
(function_definition (comment) @doc @body)
(function_definition (arguments_statement) @body)
(class_definition [(properties) (methods) (events) (enumeration)] @body)

; What classes derive from, also by the call that makes an object in the folder of a class.
(superclasses (property_name) @base)
((function_call name: (identifier) @_make
  (arguments . (_) . (string (string_content) @base.of) (function_call name: (identifier) @base)))
  (#eq? @_make "class"))

; Uses. A node holds all calls of a chain; what is in braces is an element.
(field_expression) @call
(field_expression (function_call . name: (identifier) @call.name . "("))
(function_call . name: (identifier) . "(") @call
(function_call . name: (identifier) @call.name . "(")
(function_call "(" (arguments) @call.arguments)
(function_call "(" (arguments argument: (_) @call.argument))
(function_call (superclass) @reference.call)
(handle_operator) @reference.callable
; Naming a function calls it.
(command . (command_name) @call.word)
(arguments argument: (identifier) @call.word)
(assignment right: (identifier) @call.word)
(lambda expression: (identifier) @call.word)
(_ condition: (identifier) @call.word)
(binary_operator (identifier) @call.word)
(boolean_operator (identifier) @call.word)
(comparison_operator (identifier) @call.word)
(not_operator (identifier) @call.word)
(unary_operator (identifier) @call.word)
(postfix_operator (identifier) @call.word)
(parenthesis (identifier) @call.word)
(range (identifier) @call.word)
(row (identifier) @call.word)
(default_value (identifier) @call.word)
(iterator (identifier) . (identifier) @call.word)

; Other files.
((command . (command_name) @_import (command_argument) @import.tree) @import
  (#eq? @_import "import"))

; Names that get a value.
(properties (property name: (identifier) @binding.property))
(properties (property name: (identifier) . (dimensions)? . (identifier) @binding.type))
(properties (property (default_value [(function_call) (field_expression)] @binding.value)))
(assignment left: (identifier) @binding)
(assignment left: (field_expression . object: (identifier) . field: (identifier) .) @binding)
(assignment left: (function_call name: (identifier) @binding.item))
(assignment left: (field_expression object: (identifier) @binding.item))
(assignment left: (field_expression object: (function_call name: (identifier) @binding.item)))
(assignment right: [(function_call) (field_expression) (identifier)] @binding.value)
(multioutput_variable (identifier) @binding.item)
(multioutput_variable (function_call name: (identifier) @binding.item))
(multioutput_variable (field_expression object: (identifier) @binding.item))
(iterator . (identifier) @binding.item)
(catch_clause . (identifier) @binding.item)
(global_operator (identifier) @binding.item)
(persistent_operator (identifier) @binding.item)
(lambda (arguments (identifier) @binding.item))
(function_arguments (identifier) @binding.item)
(function_output (identifier) @binding.item)
