; Definitions. A module is what classes mix in, and a name around others.
(class name: [(constant) (scope_resolution)] @name) @definition.class
(module name: [(constant) (scope_resolution)] @name) @definition.trait
(method name: (_) @name) @definition.function
(method body: (_) @body)
(singleton_method name: (_) @name) @definition.function
(singleton_method body: (_) @body)
(alias name: (_) @name) @definition.method
(singleton_class value: [(constant) (scope_resolution) (call)] @name) @holder
(assignment left: [(constant) (scope_resolution)] @name) @definition.constant
; Types that are made by a call, with what stands in its block.
((assignment left: (constant) @name
  right: (_ receiver: (constant) @_type method: (identifier) @_make)) @definition.class
  (#any-of? @_type "Struct" "Class" "Data") (#any-of? @_make "new" "define"))
((assignment left: (constant) @name right: (_ receiver: (constant) @_type method: (identifier) @_make)) @definition.trait
  (#eq? @_type "Module") (#eq? @_make "new"))
((assignment right: (_ receiver: (constant) @_type method: (identifier) @_make
  arguments: (argument_list . [(constant) (scope_resolution)] @base)))
  (#eq? @_type "Class") (#eq? @_make "new"))
((assignment right: (_ receiver: (constant) @_type method: (identifier) @_make
  arguments: (argument_list (simple_symbol) @name @definition.field)))
  (#any-of? @_type "Struct" "Data") (#any-of? @_make "new" "define"))
; Members that are made by a call: of the language itself, of ActiveSupport and ActiveRecord.
((call !receiver method: (identifier) @_make arguments: (argument_list [(simple_symbol) (string)] @name @definition.field)) @span
  (#any-of? @_make "attr_reader" "attr_writer" "attr_accessor" "attr" "cattr_accessor" "cattr_reader" "mattr_accessor"
    "mattr_reader" "class_attribute" "thread_mattr_accessor"))
((call !receiver method: (identifier) @_make arguments: (argument_list . [(simple_symbol) (string)] @name @definition.field)) @span
  (#any-of? @_make "belongs_to" "delegated_type" "has_many" "has_one" "has_and_belongs_to_many" "has_one_attached" "has_many_attached"
    "attribute" "enum" "store_accessor"))
((call !receiver method: (identifier) @_make arguments: (argument_list . [(simple_symbol) (string)] @name)) @definition.method
  (#any-of? @_make "alias_method" "define_method" "define_singleton_method" "scope" "def_delegator"))
((call !receiver method: (identifier) @_make arguments: (argument_list (simple_symbol) @name @definition.method)) @span
  (#eq? @_make "delegate"))
((call !receiver method: (identifier) @_make arguments: (argument_list . (_) (simple_symbol) @name @definition.method)) @span
  (#any-of? @_make "def_delegators" "instance_delegate"))
; Tasks of Rake.
((call !receiver method: (identifier) @_make arguments: (argument_list . [
    (simple_symbol) @name (string) @name (pair key: [(hash_key_symbol) (simple_symbol) (string)] @name)])) @definition.function
  (#any-of? @_make "task" "multitask"))
((call !receiver method: (identifier) @_make arguments: (argument_list . [(simple_symbol) (string)] @name) block: (_)) @holder
  (#eq? @_make "namespace"))
; `private def open`, and whatever else takes a definition as its argument.
(call !receiver arguments: (argument_list [(method) (singleton_method)])) @span

; Documentation.
(comment) @comment

; What types derive from.
(superclass [(constant) (scope_resolution)] @base)
(superclass (_ receiver: [(constant) (scope_resolution)] @base))
(superclass (_ arguments: (argument_list (simple_symbol) @name @definition.field)))
((class body: (body_statement (_ !receiver method: (identifier) @_mix
  arguments: (argument_list [(constant) (scope_resolution)] @base.mixin))))
  (#any-of? @_mix "include" "prepend" "extend"))
((module body: (body_statement (_ !receiver method: (identifier) @_mix
  arguments: (argument_list [(constant) (scope_resolution)] @base.mixin))))
  (#any-of? @_mix "include" "prepend" "extend"))
((class body: (body_statement (singleton_class body: (body_statement (_ !receiver method: (identifier) @_mix
  arguments: (argument_list [(constant) (scope_resolution)] @base.mixin))))))
  (#any-of? @_mix "include" "prepend"))

; Uses. What is called is the last name of what has no arguments.
(call) @call
((call receiver: [(constant) (scope_resolution)] @call.type method: (identifier) @_new) @call (#eq? @_new "new"))
[(argument_list) (block) (do_block)] @call.arguments
[(identifier) (super)] @call.word
(constant) @reference

; Other files.
((call !receiver method: (identifier) @_require arguments: (argument_list . (string . (string_content) @import.from .))) @import
  (#any-of? @_require "require" "require_relative" "load" "require_dependency"))
((call !receiver method: (identifier) @_require arguments: (argument_list . (_) . (string . (string_content) @import.from .))) @import
  (#eq? @_require "autoload"))

; Names that get a value.
; The parameter of a block that runs with each element.
((call receiver: [(call !block) (identifier) (constant) (instance_variable) (scope_resolution)] @binding.elements
  method: (identifier) @_each block: [
    (block parameters: (block_parameters . (identifier) @binding.element))
    (do_block parameters: (block_parameters . (identifier) @binding.element))])
  (#any-of? @_each "each" "each_with_index" "each_with_object" "each_entry" "reverse_each" "find_each" "map" "map!" "collect"
    "flat_map" "filter_map" "select" "filter" "reject" "find" "detect" "any?" "all?" "none?" "one?" "count" "sum" "sort_by"
    "min_by" "max_by" "group_by" "partition" "index_by" "to_h" "uniq" "delete_if" "find_index" "sort_by!"))
(assignment left: [(identifier) (instance_variable) (class_variable) (constant)] @binding)
(assignment right: [
  (call) (constant) (scope_resolution) (identifier) (instance_variable) (class_variable) (self)] @binding.value)
; What the examples of RSpec have by a name.
((call !receiver method: (identifier) @_let arguments: (argument_list . (simple_symbol) @binding)
  block: [(block body: (block_body . (_) @binding.value .)) (do_block body: (body_statement . (_) @binding.value .))])
  (#any-of? @_let "let" "let!" "subject" "subject!") (#not-match? @binding.value "^Class\\.new"))
((call !receiver method: (identifier) @binding !arguments
  block: [(block body: (block_body . (_) @binding.value .)) (do_block body: (body_statement . (_) @binding.value .))])
  (#eq? @binding "subject") (#not-match? @binding.value "^Class\\.new"))
(operator_assignment left: [(identifier) (instance_variable) (class_variable)] @binding operator: "||="
  right: [(call) (constant) (scope_resolution) (identifier) (instance_variable)] @binding.value)
(operator_assignment left: (identifier) @binding.item)
(left_assignment_list [(identifier) (instance_variable)] @binding.item)
(rest_assignment (identifier) @binding.item)
(destructured_left_assignment (identifier) @binding.item)
(method_parameters (identifier) @binding.item)
(block_parameters (identifier) @binding.item)
(lambda_parameters (identifier) @binding.item)
(destructured_parameter (identifier) @binding.item)
(optional_parameter name: (identifier) @binding)
(optional_parameter value: [(call) (constant) (scope_resolution)] @binding.value)
(keyword_parameter name: (identifier) @binding)
(keyword_parameter value: [(call) (constant) (scope_resolution)] @binding.value)
[(splat_parameter name: (identifier) @binding.item) (hash_splat_parameter name: (identifier) @binding.item)
  (block_parameter name: (identifier) @binding.item)]
(exception_variable (identifier) @binding.item)
(for pattern: (identifier) @binding.item)
(keyword_pattern key: (hash_key_symbol) @binding.item !value)
(keyword_pattern value: (identifier) @binding.item)
(array_pattern (identifier) @binding.item)
(as_pattern name: (identifier) @binding.item)
(in_clause pattern: (identifier) @binding.item)
(method body: (body_statement (_) @returned . (comment)* .))
(singleton_method body: (body_statement (_) @returned . (comment)* .))
(return (argument_list . (_) @returned .))

; A block that is given to a call behind a string. A receiver that is a call itself would make long chains quadratic.
(call !receiver arguments: (argument_list . (string)) block: (do_block body: (_) @handler.body)) @definition.handler
(call receiver: [(constant) (identifier)] arguments: (argument_list . (string)) block: (do_block body: (_) @handler.body)) @definition.handler

; Methods that are named by symbols.
((call method: (identifier) @_send arguments: (argument_list . (simple_symbol) @reference.symbol))
  (#any-of? @_send "send" "public_send" "__send__" "method" "instance_method"))
(block_argument (simple_symbol) @reference.symbol)
((call !receiver method: (identifier) @_macro arguments: (argument_list (simple_symbol) @reference.symbol))
  (#any-of? @_macro "before_action" "after_action" "around_action" "skip_before_action" "prepend_before_action"
    "before_save" "after_save" "before_create" "after_create" "before_update" "after_update" "before_destroy" "after_destroy"
    "before_validation" "after_validation" "after_commit" "after_create_commit" "after_update_commit"
    "after_destroy_commit" "after_rollback" "after_initialize" "after_find" "around_save" "validate" "helper_method"
    "private_class_method" "before_perform" "after_perform" "before_enqueue" "set_callback" "delegate_missing_to"))
((call !receiver method: (identifier) @_macro arguments: (argument_list (pair key: (hash_key_symbol) @_with value: (simple_symbol) @reference.symbol)))
  (#any-of? @_macro "rescue_from" "before_action" "after_action" "validates" "validate" "before_save" "after_save") (#any-of? @_with "with" "if" "unless"))
