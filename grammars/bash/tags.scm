; Definitions.
(function_definition name: (word) @name body: (_) @body) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.constant)
(program (declaration_command (variable_assignment name: (variable_name) @name) @definition.constant))

; Documentation, and what a comment stands above of.
(comment) @comment
(declaration_command) @span

; Uses. What is called is a word, whatever signs are in it; some commands are given the name of a function.
(command_name (word) @call.word)
((command name: (command_name) @_giver . argument: (word) @call.word)
  (#any-of? @_giver "trap" "run" "time"))

; Files that are run in the same shell. What stands before the path, as "$(dirname "$0")", is not known.
((command name: (command_name) @_source . argument: [
    (word) @import.from
    (raw_string) @import.from
    (string . (string_content) @import.from .)
    (string (_) . (string_content) @import.from .)
    (concatenation (_) . (word) @import.from .)
    (concatenation (string) . (string (string_content) @import.from .) .)]) @import
  (#any-of? @_source "source" "." "load"))
