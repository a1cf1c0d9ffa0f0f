; An element is a call of its component; only the TSX grammar knows these nodes.
(jsx_opening_element name: [(identifier) (member_expression)] @reference.call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @reference.call)
