; Definitions. `function M:open` is M.open.
(function_declaration name: (_) @name) @definition.function
(function_declaration body: (_) @body)
(function_definition body: (_) @body)
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name .)
  (expression_list . value: (function_definition) .)) @definition.function
(field name: (identifier) @name value: (function_definition)) @definition.method
; Classes of the libraries that make them: `class("Door", Base)`, `Base:extend()`.
((chunk (_ (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_call name: (identifier) @_class)  .)) @definition.class))
  (#any-of? @_class "class" "Class"))
((assignment_statement (expression_list . value: (function_call name: (identifier) @_class
  arguments: (arguments (_) . [(identifier) (dot_index_expression)] @base .))))
  (#any-of? @_class "class" "Class"))
((chunk (_ (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_call name: (method_index_expression table: (_) @base method: (identifier) @_extend)) .)) @definition.class))
  (#any-of? @_extend "extend" "subclass" "derive"))
((chunk (_ (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_call name: (identifier) @_set arguments: (arguments . (table_constructor) .
    (table_constructor (field name: (identifier) @_index value: [(identifier) (dot_index_expression)] @base)))))) @definition.class))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
; Values of the file, but for what it takes from others.
((chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name)
  (expression_list . value: (_) @_value)) @definition.constant))
  (#not-match? @_value "^(require\\b|(table|string|math|os|io|vim|coroutine|debug|bit)\\.)"))
((chunk (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name)) @definition.constant)
  (#not-match? @name "\\.__index$"))
; Tables that give their name to what is in them.
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name .)
  (expression_list . value: (table_constructor) .)) @holder
(field name: (identifier) @name value: (table_constructor)) @holder

; Documentation.
(comment) @comment
(variable_declaration) @span

; Uses.
(function_call name: (_) @reference.call)
(identifier) @reference
(field name: (identifier) @binding.key)

; Other files, and what a file gives to those who ask for it.
(function_call name: (identifier) @require arguments: (arguments . (string content: (string_content) @require.module)))
(chunk (return_statement (expression_list . (identifier) @export.default)))
((chunk (return_statement (expression_list . (function_call name: (identifier) @_set arguments: (arguments . (identifier) @export.default)))))
  (#eq? @_set "setmetatable"))

; Names that get a value.
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @binding .)
  (expression_list . value: [
    (identifier) (dot_index_expression) (function_call) (bracket_index_expression) (parenthesized_expression)] @binding.value .))
(assignment_statement (variable_list . name: (identifier) @binding) (expression_list . value: (_) . (_)))
(variable_list name: (identifier) @binding.item)
(parameters name: (identifier) @binding.item)
(for_numeric_clause name: (identifier) @binding.item)
(function_declaration body: (block (return_statement (expression_list . (_) @returned))))
(function_definition body: (block (return_statement (expression_list . (_) @returned))))
(if_statement (block (return_statement (expression_list . (_) @returned.early))))
(else_statement (block (return_statement (expression_list . (_) @returned.early))))
(elseif_statement (block (return_statement (expression_list . (_) @returned.early))))

; A function that is given to a call behind a string.
(arguments . (string) (function_definition body: (_) @handler.body)) @definition.handler
