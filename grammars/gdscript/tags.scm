(class_definition name: (name) @name body: (_) @body) @definition.class
(function_definition name: (name) @name body: (_) @body) @definition.function
(comment) @comment
