; Definitions. Methods stand in blocks that may be far from their type, and take its name.
(mod_item name: (identifier) @name body: (_) @body) @definition.namespace
(struct_item name: (type_identifier) @name) @definition.struct
(struct_item body: (field_declaration_list) @body)
(union_item name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum
(enum_variant name: (identifier) @name) @definition.field
([(struct_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
  (union_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))])
(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait
(function_item name: (_) @name body: (_) @body) @definition.function
(function_signature_item name: (_) @name) @definition.function
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(macro_definition name: (identifier) @name) @definition.macro

; Blocks of methods. What is implemented for every type, or for a type without a name, is known by its trait.
(impl_item body: (declaration_list) @body) @holder
(impl_item type_parameters: (type_parameters (type_parameter name: (type_identifier) @_parameter))
  trait: (_) @owner type: (type_identifier) @_type (#eq? @_parameter @_type))
(impl_item type_parameters: (type_parameters (type_parameter name: (type_identifier) @_parameter))
  trait: (_) @owner type: (reference_type type: (type_identifier) @_type) (#eq? @_parameter @_type))
(impl_item trait: (_) @owner type: [
  (tuple_type) (array_type) (unit_type) (function_type) (never_type) (pointer_type type: (array_type))
  (reference_type type: (array_type)) (reference_type type: (tuple_type)) (macro_invocation) (qualified_type)])
(impl_item type: (_) @owner)
(impl_item trait: (_) @owner.implements)
(impl_item (declaration_list (function_item) @definition.method))
(impl_item (declaration_list (function_signature_item) @definition.method))

; Attributes belong to what follows them; documentation stands above or, with an exclamation mark, inside.
(attribute_item) @lead
[(line_comment) (block_comment)] @comment
([(line_comment (inner_doc_comment_marker)) (block_comment (inner_doc_comment_marker))] @doc)

; Supertraits.
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @base))
(trait_item bounds: (trait_bounds (generic_type type: (_) @base)))

; Uses. Arguments of a macro are tokens: a name before a parenthesis is taken for a call. (Patterns that wait for a
; sibling take quadratic time in deep trees; what stands before is found in the text.)
(call_expression function: (_) @reference.call)
(macro_invocation macro: [(identifier) (scoped_identifier)] @reference.macro)
(token_tree . ["(" "[" "{"] @reference.token)
[(identifier) (type_identifier) (crate) (super)] @reference

; Modules and imports.
(mod_item name: (identifier) @import.module !body) @import
(attribute_item (attribute (identifier) @_path value: (string_literal (string_content) @import.path)) (#eq? @_path "path"))
(use_declaration argument: (_) @import.tree) @import
(extern_crate_declaration name: (identifier) @import.tree) @import
(extern_crate_declaration alias: (identifier) @import.alias)

; Names that get a value. A binding is visible after its statement, to the end of its block.
[(block) (match_arm) (closure_expression) (for_expression) (if_expression) (while_expression)] @block
[(let_declaration) (let_condition)] @binding.statement
(let_declaration pattern: [(identifier) @binding (ref_pattern (identifier) @binding) (mut_pattern (identifier) @binding)])
(let_declaration type: (_) @binding.type)
(let_declaration value: (_) @binding.value)
(struct_pattern) @binding.pattern
(let_declaration pattern: (tuple_pattern) @binding.pattern)
(struct_pattern type: (_) @binding.variant)
(let_condition pattern: (identifier) @binding)
(let_condition value: (_) @binding.value)
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_some . [(identifier) @binding (ref_pattern (identifier) @binding) (mut_pattern (identifier) @binding)] .)
  (#any-of? @_some "Some" "Ok"))
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_some . [(identifier) @binding (ref_pattern (identifier) @binding) (mut_pattern (identifier) @binding)] .)
  (#any-of? @_some "Some" "Ok"))
(tuple_struct_pattern type: (_) (identifier) @binding.item)
(tuple_pattern [(identifier) @binding.item (mut_pattern (identifier) @binding.item) (ref_pattern (identifier) @binding.item)])
(slice_pattern (identifier) @binding.item)
(or_pattern (identifier) @binding.item)
(captured_pattern . (identifier) @binding.item)
(reference_pattern (identifier) @binding.item)
(ref_pattern (identifier) @binding.item)
(mut_pattern (identifier) @binding.item)
(match_pattern . (identifier) @binding.item)
(field_pattern name: (shorthand_field_identifier) @binding.item)
(field_pattern name: (field_identifier) @binding.key pattern: (identifier) @binding.item)
(for_expression pattern: [(identifier) @binding (reference_pattern (identifier) @binding) (mut_pattern (identifier) @binding)])
(for_expression pattern: (tuple_pattern "_" [(identifier) @binding (reference_pattern (identifier) @binding)] .))
(for_expression pattern: (tuple_pattern (_) . [(identifier) @binding (reference_pattern (identifier) @binding)] .))
(for_expression value: (_) @binding.elements)
(closure_parameters (identifier) @binding.item)
(call_expression function: (field_expression value: (_) @binding.receiver))
(closure_parameters . [
  (identifier) @binding.handed
  (reference_pattern (identifier) @binding.handed)
  (tuple_pattern (_) . [(identifier) @binding.handed (reference_pattern (identifier) @binding.handed)] .)])
(match_expression) @binding.match
(match_expression value: (_) @binding.subject)
(match_pattern . (identifier) @binding.matched)
(match_pattern . (tuple_struct_pattern type: (identifier) @_some . [(identifier) @binding.matched (ref_pattern (identifier) @binding.matched) (mut_pattern (identifier) @binding.matched)] .)
  (#any-of? @_some "Some" "Ok"))
(tuple_struct_pattern
  type: [(identifier) (scoped_identifier)] @binding.variant
  . [(identifier) @binding.payload (ref_pattern (identifier) @binding.payload) (mut_pattern (identifier) @binding.payload)])
(parameter pattern: [(identifier) @binding (mut_pattern (identifier) @binding) (reference_pattern (identifier) @binding)])
(parameter type: (_) @binding.type)
(const_item name: (identifier) @binding)
(const_item type: (_) @binding.type)
(static_item name: (identifier) @binding)
(static_item type: (_) @binding.type)
(struct_item body: (field_declaration_list (field_declaration name: (field_identifier) @binding.property)))
(union_item body: (field_declaration_list (field_declaration name: (field_identifier) @binding.property)))
(field_declaration type: (_) @binding.type)
(struct_item body: (ordered_field_declaration_list type: (_) @binding.position))
(enum_variant body: (ordered_field_declaration_list type: (_) @binding.position))
(enum_variant body: (field_declaration_list (field_declaration name: (field_identifier) @binding.property)))
(type_parameter name: (type_identifier) @binding.generic)
(type_parameter bounds: (_) @binding.type)
(where_predicate left: (type_identifier) @binding.generic)
(where_predicate bounds: (_) @binding.type)
(function_item return_type: (_) @returns)
(function_signature_item return_type: (_) @returns)
(type_item type: (_) @returns)

; What is held: members, and what gets a value.
(field_expression) @member
(assignment_expression left: [(identifier) (field_expression)] @written)
(assignment_expression left: (index_expression . [(identifier) (field_expression)] @written))
(compound_assignment_expr left: [(identifier) (field_expression)] @written)
(compound_assignment_expr left: (index_expression . [(identifier) (field_expression)] @written))
