; An element is a call of its component; one with a small letter is of HTML, whatever else has its name. Not for
; TypeScript without JSX, whose grammar does not know these nodes.
((jsx_opening_element name: (identifier) @reference.call) (#match? @reference.call "^[^a-z]"))
((jsx_self_closing_element name: (identifier) @reference.call) (#match? @reference.call "^[^a-z]"))
(jsx_opening_element name: (member_expression) @reference.call)
(jsx_self_closing_element name: (member_expression) @reference.call)
((jsx_opening_element name: (identifier) @lead) (#match? @lead "^[a-z]"))
((jsx_self_closing_element name: (identifier) @lead) (#match? @lead "^[a-z]"))
((jsx_closing_element name: (identifier) @lead) (#match? @lead "^[a-z]"))
