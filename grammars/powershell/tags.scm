; Definitions.
(function_statement (function_name) @name (script_block) @body) @definition.function
(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.enum
(enum_member (simple_name) @name) @definition.field
(class_property_definition (variable) @name) @definition.field
(class_method_definition (simple_name) @name) @definition.method
(class_method_definition (script_block) @body)
((program (statement_list (pipeline (assignment_expression (left_assignment_expression) @name)) @definition.constant))
  (#match? @name "^\\$(script|global|Script|Global):\\w+$"))

; Documentation.
(comment) @comment

; Bases.
(class_statement ":" (type_spec) @base)

; Files that are run in this scope, and modules by their path.
((command (command_invocation_operator) @_dot command_name: (command_name_expr (_) @import.from)) @import
  (#eq? @_dot "."))
((command command_name: (command_name) @_load
    command_elements: (command_elements [(generic_token) (unary_expression (string_literal))] @import.from)) @import
  (#any-of? @_load "Import-Module" "import-module") (#match? @import.from "[./\\\\]+.*\\.ps[md]?1[\"']?$"))

(using_statement) @import
((using_statement (command_name) @import.from) (#match? @import.from "\\.ps[md]?1$"))

; Uses. What is called is a word, whatever signs are in it.
(command_name) @call.word
(path_command_name (path_command_name_token) @call.word)
(invocation_expression) @call
(invocation_expression (member_name (simple_name) @call.name))
(invocation_expression . (type_literal (type_spec (type_name) @call.type)) . (member_name (simple_name) @_new)
  (#any-of? @_new "new" "New" "NEW"))
(argument_list) @call.arguments
(argument_list (argument_expression_list (argument_expression) @call.argument))
(type_identifier) @reference

; Names that get a value. A type stands right before its name.
(script_parameter (attribute_list (attribute (type_literal (type_spec) @binding.type))))
(script_parameter (variable) @binding)
(class_method_parameter (type_literal (type_spec) @binding.type @parameter))
(class_method_parameter . (variable) @parameter)
(class_method_parameter (variable) @binding)
(class_property_definition (type_literal (type_spec) @binding.type))
(class_property_definition (variable) @binding.property)
(class_method_definition [(type_literal (type_spec) @returns) (attribute (type_literal (type_spec) @returns))])
(left_assignment_expression (unary_expression [(variable) (member_access)] @binding))
(left_assignment_expression (unary_expression (expression_with_unary_operator (cast_expression
  (type_literal (type_spec) @binding.type) (unary_expression (variable) @binding)))))
(assignment_expression value: (assignment_value (pipeline_chain . (unary_expression
  [(variable) (member_access) (invocation_expression) (element_access)] @binding.value) .)))
(foreach_statement (variable) @binding . (pipeline) @binding.elements)

; A block that is given to a command behind a string.
(command command_elements: (command_elements (unary_expression
  (script_block_expression (script_block) @handler.body)))) @definition.handler
