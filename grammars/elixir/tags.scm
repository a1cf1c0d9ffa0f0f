; Definitions. All of them are calls of macros; the clauses of a function are one.
((call target: (identifier) @_def (arguments . (alias) @name) (do_block)) @definition.namespace
  (#any-of? @_def "defmodule" "defimpl"))
((call target: (identifier) @_def (arguments . (alias) @name)) @definition.interface (#eq? @_def "defprotocol"))
((call target: (identifier) @_def (arguments . (alias) (keywords (pair key: (keyword) @_for value: [(alias) @name.for (list . (alias) @name.for)]))))
  (#eq? @_def "defimpl") (#match? @_for "^for:"))
((call target: (identifier) @_def (arguments . [
    (_ target: (identifier) @name) (identifier) @name
    (_ left: [(_ target: (identifier) @name) (identifier) @name] operator: "when")])) @definition.function
  (#any-of? @_def "def" "defp" "defdelegate" "defn" "defnp"))
((call target: (identifier) @_def (arguments . [
    (_ target: (identifier) @name) (identifier) @name
    (_ left: [(_ target: (identifier) @name) (identifier) @name] operator: "when")])) @definition.macro
  (#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp"))
((call target: (identifier) @_def (arguments . (binary_operator left: (identifier) operator: _ @name right: (identifier)))) @definition.function
  (#any-of? @_def "def" "defp" "defmacro") (#not-eq? @name "when"))
((call target: (identifier) @_def (do_block) @body) (#match? @_def "^def"))
; Fields of structures and schemas.
((call target: (identifier) @_make (arguments (list [(atom) @name @definition.field (keywords (pair key: (keyword) @name @definition.field))])))
  (#any-of? @_make "defstruct" "defexception"))
((call target: (identifier) @_make (arguments (keywords (pair key: (keyword) @name @definition.field))))
  (#any-of? @_make "defstruct" "defexception"))
((call target: (identifier) @_make (arguments . (atom) @name)) @definition.field
  (#any-of? @_make "field" "belongs_to" "has_many" "has_one" "many_to_many" "embeds_one" "embeds_many"))
; Attributes of modules: types, callbacks, values.
((unary_operator operator: "@" operand: (_ target: (identifier) @_kind (arguments (_
    left: [(identifier) @name (_ target: (identifier) @name)] operator: "::")))) @definition.type
  (#any-of? @_kind "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (_ target: (identifier) @_kind (arguments [
    (_ left: (_ target: (identifier) @name) operator: "::")
    (_ left: (_ left: (_ target: (identifier) @name) operator: "::") operator: "when")]))) @definition.function
  (#any-of? @_kind "callback" "macrocallback"))
((call (do_block (unary_operator operator: "@" operand: (_ target: (identifier) @name)) @definition.field))
  (#not-match? @name "^(doc|moduledoc|typedoc|shortdoc|spec|type|typep|opaque|callback|macrocallback|impl|behaviour|derive|enforce_keys|dialyzer|deprecated|since|compile|external_resource|before_compile|after_compile|on_load|on_definition|optional_callbacks|tag|moduletag|describetag|primary_key|foreign_key_type|fallback_to_any|vsn|attr|slot)$"))

; Documentation, and what belongs to the definition after it.
(comment) @comment
((unary_operator operator: "@" operand: (_ target: (identifier) @_doc (arguments [
    (string) @doc (sigil) @doc])))
  (#eq? @_doc "moduledoc"))
((unary_operator operator: "@" operand: (_ target: (identifier) @_doc (arguments [
    (string (quoted_content) @doc.lead) (sigil (quoted_content) @doc.lead)])))
  (#any-of? @_doc "doc" "typedoc"))
((unary_operator operator: "@" operand: (_ target: (identifier) @_lead)) @lead
  (#any-of? @_lead "spec" "impl" "deprecated" "since" "dialyzer" "tag"))

; What modules implement.
((unary_operator operator: "@" operand: (_ target: (identifier) @_behaviour (arguments (alias) @base.implements)))
  (#eq? @_behaviour "behaviour"))

((call target: (identifier) @_def (arguments . (alias) @base.implements . (keywords (pair key: (keyword) @_for))))
  (#eq? @_def "defimpl") (#match? @_for "^for:"))

; Uses. A member of what is no module is a field.
((call target: (identifier) @reference.call)
  (#not-match? @reference.call "^(def(p|macro|macrop|guard|guardp|delegate|module|impl|protocol|struct|exception|n|np|overridable)?|alias|import|require|use)$"))
(call target: (dot left: (alias) right: (identifier)) @reference.call)
(binary_operator operator: "|>" right: (identifier) @reference.call)
((call target: (identifier) @_def) @reference.delegate (#eq? @_def "defdelegate"))
((call target: (dot left: (identifier) @_module right: (identifier)) @reference.call) (#eq? @_module "__MODULE__"))
(alias) @reference
(unary_operator operator: "@" operand: (identifier) @reference)
(unary_operator operator: "&" operand: (_ left: (identifier) @reference operator: "/"))
(unary_operator operator: "&" operand: (_ left: (_ target: (dot left: (alias) right: (identifier))) operator: "/") @reference.callable)
; Types in attributes, which look like calls.
((unary_operator operator: "@" operand: (_ target: (identifier) @_kind (arguments (binary_operator operator: "::" right: (_) @reference.types))))
  (#any-of? @_kind "type" "typep" "opaque" "callback" "macrocallback"))
((unary_operator operator: "@" operand: (_ target: (identifier) @_kind (arguments (_
    left: (_ target: (identifier) (arguments) @reference.types) operator: "::"))))
  (#any-of? @_kind "type" "typep" "opaque" "callback" "macrocallback"))

; Other modules.
((call target: (identifier) @_import (arguments . (alias) @import.tree)) @import (#any-of? @_import "alias" "require"))
((call target: (identifier) @_import (arguments . (alias) (keywords (pair key: (keyword) @_as value: (alias) @import.alias)))) @import
  (#any-of? @_import "alias" "require") (#match? @_as "^as:"))
((call target: (identifier) @_import (arguments . (dot left: (alias) @import.from right: (tuple (alias) @import.name)))) @import
  (#any-of? @_import "alias" "require"))
((call target: (identifier) @_import @import.star (arguments . (alias) @import.from)) @import (#any-of? @_import "import" "use"))

; A block that is given to a call behind a string.
(call target: (identifier) (arguments . (string)) (do_block) @handler.body) @definition.handler
