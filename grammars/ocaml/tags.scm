; What both kinds of files have: types, module types, classes, and the modules that they name.
(type_binding name: (type_constructor) @name) @definition.type
(type_binding body: (variant_declaration (constructor_declaration (constructor_name) @name) @definition.field))
(type_binding body: (record_declaration (field_declaration (field_name) @name) @definition.field))
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.type
(module_type_definition (module_type_name) @name body: (_) @body) @definition.interface
(class_definition (class_binding (class_name) @name body: (_) @body)) @definition.class
(method_definition (method_name) @name body: (_) @body) @definition.method
; A module type has what it includes, and modules of other module types.
(signature (include_module_type (module_type_path) @base))
(signature (include_module_type (module_type_constraint (module_type_path) @base)))
(signature (module_definition (module_binding (module_name) @binding.property module_type: (module_type_path) @binding.type)))
(signature (module_definition (module_binding (module_name) @binding.property
  module_type: (module_type_constraint (module_type_path) @binding.type))))
(external (value_name) @name) @definition.function
(inheritance_definition class: (class_path) @base)

; Documentation.
(comment) @comment

; A module is imported by naming it.
((module_path) @import.module @import)
((extended_module_path) @import.module @import)
(open_module module: (module_path) @import.from @import.star) @import
(open_module_signature module: (_) @import.from @import.star) @import

(type_constructor_path) @reference
(constructor_path) @reference
(module_type_path) @reference
