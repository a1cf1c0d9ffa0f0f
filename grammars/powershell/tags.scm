; Definitions.
(function_statement (function_name) @name (script_block) @body) @definition.function
(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.enum
(enum_member (simple_name) @name) @definition.field
(class_property_definition (variable) @name) @definition.field
(class_method_definition (simple_name) @name (script_block) @body) @definition.method
((program (statement_list (pipeline (assignment_expression (left_assignment_expression) @name)) @definition.constant))
  (#match? @name "^\\$(script|global|Script|Global):\\w+$"))

; Documentation.
(comment) @comment

; Bases.
(class_statement ":" (type_spec) @base)

; Uses. What is called is a word, whatever signs are in it.
(command_name) @call.word
(path_command_name (path_command_name_token) @call.word)
(invocation_expression) @call
(invocation_expression (member_name (simple_name) @call.name))
(argument_list) @call.arguments
(argument_list (argument_expression_list (argument_expression) @call.argument))
(type_identifier) @reference

; Names that get a value.
(script_parameter (variable) @binding.item)
(class_method_parameter (variable) @binding.item)

; A block that is given to a command behind a string.
(command command_elements: (command_elements (unary_expression
  (script_block_expression (script_block) @handler.body)))) @definition.handler
