; An element is a call of its component. Not for TypeScript without JSX, whose grammar does not know these nodes.
(jsx_opening_element name: [(identifier) (member_expression)] @reference.call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @reference.call)
(jsx_closing_element name: (identifier) @lead)
