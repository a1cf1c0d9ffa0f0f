; What C has otherwise than C++.
(enumerator name: (identifier) @name.outer) @definition.constant
((function_declarator declarator: (identifier) @name parameters: (parameter_list (identifier))) (#match? @name "^[A-Z][A-Z0-9_]+$"))
