(one_line_comment) @comment
(block_comment) @comment
