; What Objective-C has otherwise than C.
(enumerator name: (identifier) @name.outer) @definition.constant

; A class of C++ is read as a block with a linkage, whose string is its name.
((linkage_specification value: (string_literal) @name body: (declaration_list) @body) @definition.struct
  (#not-match? @name "^.C(\\+\\+)?.$"))

((linkage_specification value: (string_literal) @_name body: (declaration_list (declaration declarator: [
    (pointer_declarator declarator: (identifier) @name @definition.field)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name @definition.field))])))
  (#not-match? @_name "^.C(\\+\\+)?.$"))

; Types. Their members also stand in categories, in extensions and in implementations.
((class_interface . (identifier) @name) @definition.class
  (#not-match? @definition.class "^.interface\\s+\\w+\\s*\\("))
(class_interface . (identifier) @name superclass: (identifier) @base)
((class_interface . (identifier) @owner) @holder (#match? @holder "^.interface\\s+\\w+\\s*\\(")
  (#not-match? @owner "^(NS|UI|CA|CL|WK|MK|AV|CN|PH|SK|XC)[A-Z]"))
((class_interface . (identifier) @name) @definition.class
  (#match? @definition.class "^.interface\\s+\\w+\\s*\\(") (#match? @name "^(NS|UI|CA|CL|WK|MK|AV|CN|PH|SK|XC)[A-Z]"))
((class_implementation . (identifier) @owner) @holder
  (#not-match? @owner "^(NS|UI|CA|CL|WK|MK|AV|CN|PH|SK|XC)[A-Z]") (#not-match? @holder "^.implementation {5}"))
; A macro that is longer begins this one, and its interface, too.
((class_implementation . (identifier) @name) @definition.class (#match? @definition.class "^.implementation {5}"))
((class_implementation . (identifier) @name) @definition.class
  (#match? @name "^(NS|UI|CA|CL|WK|MK|AV|CN|PH|SK|XC)[A-Z]"))
(protocol_declaration . (identifier) @name) @definition.interface
(class_interface (parameterized_arguments (type_name (type_identifier) @base.implements)))
(class_interface (protocol_reference_list (identifier) @base.implements))
(protocol_declaration (protocol_reference_list (identifier) @base))

; Methods. What an interface declares an implementation defines.
(method_definition (compound_statement) @body) @definition.method @name.selector
(protocol_declaration (method_declaration) @definition.method @name.selector)
(qualified_protocol_interface_declaration (method_declaration) @definition.method @name.selector)
(method_definition (method_type (type_name) @returns))
(protocol_declaration (method_declaration (method_type (type_name) @returns)))
(qualified_protocol_interface_declaration (method_declaration (method_type (type_name) @returns)))
(method_definition (method_parameter (method_type (type_name) @binding.type) (identifier) @binding))
(method_definition (identifier) @binding.key)
(method_declaration (identifier) @binding.key)
(method_declaration (method_parameter (identifier) @binding.key))

; Properties and variables of instances.
(property_declaration) @span
(property_attribute (identifier) @binding.key)
(property_declaration (struct_declaration . (_) @binding.type))
(instance_variable (struct_declaration . (_) @binding.type))
(property_declaration (struct_declaration (struct_declarator (identifier) @name @definition.field @binding.property)))
(property_declaration (struct_declaration (struct_declarator
  (pointer_declarator declarator: (identifier) @name @definition.field @binding.property))))
(property_declaration (struct_declaration (struct_declarator (function_declarator declarator: (parenthesized_declarator
  (block_pointer_declarator declarator: (identifier) @name @definition.field))))))
(instance_variable (struct_declaration (struct_declarator (identifier) @name @definition.field @binding.property)))
(instance_variable (struct_declaration (struct_declarator
  (pointer_declarator declarator: (identifier) @name @definition.field @binding.property))))

; Types of blocks.
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (block_pointer_declarator declarator: (type_identifier) @name)))) @definition.type

; Uses.
(message_expression) @call.message
(message_expression method: (identifier) @binding.key)

; Names that get a value.
(for_statement type: (_) @binding.type)
(declaration type: [(typedefed_specifier) (typeof_specifier)] declarator: (init_declarator
  declarator: (identifier) value: (_) @binding.value))
(for_statement type: (typedefed_specifier) . (identifier) @binding . (_) @binding.elements)
