; Definitions. Equations of one name are one function; what a class declares is visible outside of it.
(data_type name: (name) @name) @definition.class
(newtype name: (name) @name) @definition.class
(type_synonym name: (name) @name) @definition.type
(class name: (name) @name declarations: (_) @body) @definition.interface
(data_constructor (_ name: (_) @name)) @definition.field
(newtype name: (_) constructor: (newtype_constructor name: (constructor) @name) @definition.field)
(fields (field name: (field_name (variable) @name)) @definition.field)
(newtype_constructor field: (record (field name: (field_name (variable) @name) @definition.field)))
(function name: (variable) @name match: (_) @body) @definition.function
(function (infix operator: (infix_id (variable) @name)) match: (_) @body) @definition.function
(function (infix operator: (operator) @name) match: (_) @body) @definition.function
(declarations (bind name: (variable) @name match: (_) @body) @definition.function)
(declarations (bind name: (variable) @name match: (_)) @definition.function)
(class_declarations (signature name: (variable) @name.outer) @definition.function)
(class_declarations (default_signature) @lead)
; What an instance defines belongs to its type.
(instance name: (_) @owner.implements) @holder
(instance patterns: (type_patterns . [(name) (qualified)] @owner))
(instance patterns: (type_patterns . (parens type: (apply constructor: [(name) (qualified)] @owner))))
(instance patterns: (type_patterns . (parens type: (apply constructor: (apply constructor: [(name) (qualified)] @owner)))))
(instance patterns: (type_patterns . (parens type: (apply constructor: (apply constructor: (apply constructor: [(name) (qualified)] @owner))))))
; Of what has no name, it belongs to the class.
(instance name: (name) @owner patterns: (type_patterns . [(list) (tuple) (unit) (variable)]))
(instance name: (name) @owner patterns: (type_patterns . (parens type: [(function) (variable)])))
(instance_declarations (bind name: (variable) @name match: (_) @body) @definition.function)

; Documentation, and the signature above a function.
(haddock) @comment
(comment) @comment
(declarations (signature) @lead)

; Uses. A function that is given to another is a reference.
(apply function: [(variable) (qualified id: (variable))] @reference.call)
(infix_id [(variable) (qualified)] @reference.call)
((infix left_operand: [(variable) (qualified id: (variable))] @reference.call operator: (operator) @_op)
  (#match? @_op "^([.]|[$]|[$]!|<[$]>|=<<|<=<|>=>|&&&|[*]{3}|>>|[*]>|<[*]|>>=|<[*]>|<[|]>|[|]{2}|&&)$"))
((infix operator: (operator) @_op right_operand: [(variable) (qualified id: (variable))] @reference.call)
  (#match? @_op "^([.]|>>=|>>|[*]>|<[*]|<=<|>=>|&|<&>|<[|]>|[|]{2}|&&)$"))
(do (exp [(variable) (qualified id: (variable))] @reference.call))
(do (bind expression: [(variable) (qualified id: (variable))] @reference.call))
(match expression: (variable) @reference.call)
(expression/variable) @reference
(qualified id: (variable)) @reference
(constructor) @reference
(name) @reference

; Modules. An import without a list brings everything, under its plain and its qualified name.
(import) @import
((import module: (module) @import.from names: (import_list name: (import_name [(variable) (type) (name)] @import.name))) @_how
  (#not-match? @_how "\\shiding\\b"))
((import module: (module) @import.from !names) @import.star (#not-match? @import.star "\\squalified\\b"))
((import module: (module) @import.from "hiding") @import.star (#not-match? @import.star "\\squalified\\b"))
(import module: (module) @import.from alias: (module) @import.namespace)
(import module: (module) @import.module !alias)
(export [(variable) (name)] @import.name) @export
(export (qualified id: (_) @import.name)) @export
(module_export module: (module) @import.from) @import.reexport @import.star

; Names that get a value.
(pattern/variable) @binding.item
(local_binds (bind name: (variable) @binding.item))
