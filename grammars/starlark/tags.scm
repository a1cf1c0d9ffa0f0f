(function_definition name: (identifier) @name body: (_) @body) @definition.function
(module (expression_statement (assignment left: (identifier) @name) @definition.constant))
(call function: (_) @reference.call)
