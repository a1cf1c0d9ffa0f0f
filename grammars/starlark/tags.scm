; Definitions. What makes a rule, a repository or an aspect gives something that is called by its name.
(function_definition name: (identifier) @name body: (_) @body) @definition.function
((module (expression_statement (assignment left: (identifier) @name right: (call arguments: (argument_list
  (keyword_argument name: (identifier) @_made)) @body) @_value) @definition.function))
  (#any-of? @_made "implementation" "impl") (#not-match? @_value "^\\w+\\s*=\\s*module_extension\\b"))
((module (expression_statement (assignment left: (identifier) @name right: (call function: (identifier) @_make arguments: (_) @body)) @definition.function))
  (#any-of? @_make "rule" "repository_rule" "aspect" "macro"))
((module (expression_statement (assignment left: (identifier) @name right: (call function: (attribute attribute: (identifier) @_make)
  arguments: (argument_list . (identifier)) @body)) @definition.function))
  (#eq? @_make "make"))
((module (expression_statement (assignment left: (identifier) @name right: (lambda body: (_) @body)) @definition.function)))
; An extension of a module is a type, whose methods are the classes of its tags.
((module (expression_statement (assignment left: (identifier) @name right: (call function: (identifier) @_make arguments: (_) @body)) @definition.class))
  (#eq? @_make "module_extension"))
((module (expression_statement (assignment right: (call function: (identifier) @_make arguments: (argument_list
  (keyword_argument name: (identifier) @_tags value: (dictionary (pair key: (string (string_content) @name)) @definition.method)))))))
  (#eq? @_make "module_extension") (#eq? @_tags "tag_classes"))
; A provider is a type, whose fields are what it is made of. A structure is one of what it holds.
((module (expression_statement (assignment left: (identifier) @name right: (call function: (identifier) @_make arguments: (_) @body)) @definition.class))
  (#any-of? @_make "provider" "record" "enum" "transitive_set" "struct"))
((module (expression_statement (assignment left: (pattern_list . (identifier) @name) right: (call function: (identifier) @_make arguments: (_) @body)) @definition.class))
  (#eq? @_make "provider"))
((module (expression_statement (assignment right: (call function: (identifier) @_make arguments: (argument_list
  (keyword_argument value: (list (string (string_content) @name @definition.field))))))))
  (#eq? @_make "provider"))
((module (expression_statement (assignment right: (call function: (identifier) @_make arguments: (argument_list
  (keyword_argument value: (dictionary (pair key: (string (string_content) @name) @definition.field))))))))
  (#eq? @_make "provider"))
((module (expression_statement (assignment right: (call function: (identifier) @_make arguments: (argument_list
  (keyword_argument name: (identifier) @name) @definition.field)))))
  (#eq? @_make "record"))
((module (expression_statement (assignment right: (call function: (identifier) @_make arguments: (argument_list
  (keyword_argument name: (identifier) @name @binding.property value: [
    (identifier) (attribute) (call) (subscript) (string) (integer) (list) (dictionary) (tuple) (conditional_expression)
    (binary_operator) (boolean_operator) (none) (true) (false) (concatenated_string) (list_comprehension)
    (dictionary_comprehension)] @binding.value) @definition.field)))))
  (#eq? @_make "struct"))
((module (expression_statement (assignment right: (call function: (identifier) @_make arguments: (argument_list
  (keyword_argument name: (identifier) @name value: (lambda body: (_) @body)) @definition.method)))))
  (#eq? @_make "struct"))
; Other values of the file.
((module (expression_statement (assignment left: (identifier) @name right: (_) @_value) @definition.constant))
  (#not-match? @_value "^lambda\\b|^(module_extension|use_extension|use_repo_rule|rule|repository_rule|aspect|macro|provider|record|enum|transitive_set|struct|import_module)[(]"))

; A target of a build.
((module (expression_statement (call function: (identifier) @_rule arguments: (argument_list
  (keyword_argument name: (identifier) @_name value: (string (string_content) @name))))) @definition.constant)
  (#eq? @_name "name") (#not-match? @_rule "^(module|workspace|package)$"))

; Documentation.
(module . (expression_statement (string) @doc))
(module . (comment) . (expression_statement (string) @doc))
(function_definition body: (block . (expression_statement (string) @doc)))
((module (expression_statement (assignment left: (_) right: (call function: (_) @_make arguments: (argument_list
  (keyword_argument name: (identifier) @_doc value: (string) @doc)))))) (#eq? @_doc "doc") (#not-eq? @_make "struct"))
((module (expression_statement (assignment left: (_) right: (call function: (identifier) @_make arguments: (argument_list . (string) @doc)))))
  (#eq? @_make "provider"))

; Uses.
(call function: (_) @reference.call)
; Names where the grammar reads an expression.
(primary_expression/identifier) @reference
(list_splat (identifier) @reference)

; Other files.
((call function: (identifier) @_load arguments: (argument_list . (string (string_content) @import.from))) @import
  (#any-of? @_load "load" "include" "load_dynamic" "import_module"))
((call function: (identifier) @_load arguments: (argument_list . (string) (string (string_content) @import.name)))
  (#eq? @_load "load"))
((call function: (identifier) @_load arguments: (argument_list . (string)
  (keyword_argument name: (identifier) @import.alias.ahead value: (string (string_content) @import.name))))
  (#eq? @_load "load"))
((assignment left: (identifier) @import.namespace right: (call function: (identifier) @_load
  arguments: (argument_list . (string (string_content) @import.from)))) @import
  (#eq? @_load "import_module"))

; An extension of a module, and a rule for repositories, by a name of the repository's own.
((assignment left: (identifier) @import.alias.ahead right: (call function: (identifier) @_use
  arguments: (argument_list . (string (string_content) @import.from) . (string (string_content) @import.name)))) @import
  (#any-of? @_use "use_extension" "use_repo_rule"))

; Names that get a value.
(assignment left: (identifier) @binding)
(assignment right: (_) @binding.value)
(augmented_assignment left: (identifier) @binding.item)
(pattern_list (identifier) @binding.item)
(tuple_pattern (identifier) @binding.item)
(list_pattern (identifier) @binding.item)
(for_statement left: (identifier) @binding.item)
(for_in_clause left: (identifier) @binding.item)
(parameters (identifier) @binding)
(lambda_parameters (identifier) @binding)
(default_parameter name: (identifier) @binding)
(typed_parameter . (identifier) @binding)
(typed_parameter type: (type) @binding.type)
(typed_default_parameter name: (identifier) @binding)
(typed_default_parameter type: (type) @binding.type)
(list_splat_pattern (identifier) @binding.item)
(dictionary_splat_pattern (identifier) @binding.item)
(function_definition return_type: (type) @returns)

; What reaches names in other ways.
(assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @place right: (_) @place.value)
(for_statement left: (_) @place right: (_) @place.elements)
(for_in_clause left: (_) @place right: (_) @place.elements)
(return_statement (_) @returned)

; What is held: members, and what gets a value.
(attribute) @member
(assignment left: (subscript value: [(identifier) (attribute)] @written))
