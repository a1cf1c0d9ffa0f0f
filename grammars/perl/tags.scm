; Definitions. A package without a block holds all that stands behind it, up to the next one.
((package_statement name: (package) @name) @definition.class (#not-eq? @name "main"))
(package_statement (block) @body)
(package_statement ";" @body) @onward
(class_statement name: (package) @name) @definition.class
(class_statement (block) @body)
(class_statement ";" @body) @onward
(subroutine_declaration_statement name: (_) @name body: (_) @body) @definition.function
(method_declaration_statement name: (_) @name body: (_) @body) @definition.method
; `*open = sub {…}` is a function, too.
((assignment_expression left: (glob (varname) @name) right: (anonymous_subroutine_expression body: (_) @body)) @definition.function
  (#match? @name "^[A-Za-z_]\\w*$"))
((assignment_expression left: (glob (varname) @name) right: (refgen_expression (function) @body @_other)) @definition.function
  (#not-match? @_other "::") (#match? @name "^[A-Za-z_]\\w*$"))
; Values whose names are in capitals, and constants.
((source_file (expression_statement (assignment_expression left: (variable_declaration variable: (_ (varname) @name)))) @definition.constant)
  (#match? @name "^[A-Z][A-Z0-9_]*$") (#not-match? @name "^(VERSION|ISA|EXPORT|EXPORT_OK|EXPORT_TAGS|AUTHORITY|AUTOLOAD)$"))
((source_file (expression_statement (ambiguous_function_call_expression function: (function) @_make
    arguments: (list_expression . (variable_declaration variable: (_ (varname) @name))))) @definition.constant)
  (#match? @_make "^(Readonly|Const::Fast|const$)"))
((use_statement module: (package) @_constant (list_expression . [(autoquoted_bareword) (string_literal (string_content))] @name)) @definition.constant
  (#eq? @_constant "constant"))
((use_statement module: (package) @_constant (anonymous_hash_expression (list_expression (autoquoted_bareword) @name @definition.constant)))
  (#eq? @_constant "constant"))
; Attributes are methods that a call makes: of Moose and its relatives.
((ambiguous_function_call_expression function: (function) @_has arguments: [
    (string_literal (string_content) @name)
    (list_expression . [(autoquoted_bareword) @name (string_literal (string_content) @name)])]) @definition.method
  (#eq? @_has "has") (#not-match? @name "^\\+"))
((function_call_expression function: (function) @_has arguments: [
    (string_literal (string_content) @name)
    (list_expression . [(autoquoted_bareword) @name (string_literal (string_content) @name)])]) @definition.method
  (#eq? @_has "has") (#not-match? @name "^\\+"))
((_ function: (function) @_has arguments: (quoted_word_list (string_content) @name @definition.method @word)) (#eq? @_has "has"))
((_ function: (function) @_has arguments: [
    (anonymous_array_expression [(quoted_word_list (string_content) @name @definition.method @word)
      (string_literal (string_content) @name @definition.method @word)
      (list_expression (string_literal (string_content) @name @definition.method @word))])
    (list_expression . (anonymous_array_expression [(quoted_word_list (string_content) @name @definition.method @word)
      (string_literal (string_content) @name @definition.method @word)
      (list_expression (string_literal (string_content) @name @definition.method @word))]))])
  (#eq? @_has "has"))
; What they hold: `isa => "Door"`, `default => sub { Door->new }`.
((ambiguous_function_call_expression function: (function) @_has arguments: (list_expression (parenthesized_expression (list_expression
    (autoquoted_bareword) @_key . [
      (string_literal (string_content) @returns.within)
      (interpolated_string_literal (string_content) @returns.within)
      (_ (list_expression . (anonymous_array_expression (string_literal (string_content) @returns.within))))
      (_ (anonymous_array_expression (string_literal (string_content) @returns.within)))
      (anonymous_subroutine_expression body: (block (expression_statement
        (method_call_expression invocant: (bareword) @returns.within method: (method) @_new)) .))]))))
  (#eq? @_has "has") (#any-of? @_key "isa" "default") (#not-match? @_new "^(?!new$)"))
((ambiguous_function_call_expression function: (function) @_has arguments: (list_expression . (autoquoted_bareword) .
    (anonymous_subroutine_expression body: (block (expression_statement
      (method_call_expression invocant: (bareword) @returns.within method: (method) @_new)) .))))
  (#eq? @_has "has") (#eq? @_new "new"))
; Modules and methods that make accessors of the names that they are given.
((use_statement module: (package) @_maker [
    (quoted_word_list (string_content) @name @definition.method @word)
    (list_expression (string_literal (string_content) @name @definition.method @word))
    (string_literal (string_content) @name @definition.method @word)])
  (#match? @_maker "(^|::)Accessors?$|^(Class|Object)::Tiny"))
((method_call_expression method: (method) @_maker arguments: [
    (quoted_word_list (string_content) @name @definition.method @word)
    (list_expression (string_literal (string_content) @name @definition.method @word))
    (string_literal (string_content) @name @definition.method @word)])
  (#match? @_maker "^mk_(\\w+_)?accessors?$"))

; Documentation.
(comment) @comment

; What packages derive from, and roles.
((use_statement module: (package) @_parent [
    (quoted_word_list (string_content) @base @word) (string_literal (string_content) @base @word)
    (interpolated_string_literal (string_content) @base @word)
    (list_expression [(quoted_word_list (string_content) @base @word) (string_literal (string_content) @base @word)])
    (parenthesized_expression [(string_literal (string_content) @base @word)
      (list_expression (string_literal (string_content) @base @word))])])
  (#any-of? @_parent "parent" "base" "Mojo::Base"))
((assignment_expression left: [(variable_declaration variable: (array (varname) @_isa)) (array (varname) @_isa)] right: [
    (quoted_word_list (string_content) @base @word)
    (parenthesized_expression [(string_literal (string_content) @base @word)
      (interpolated_string_literal (string_content) @base @word) (quoted_word_list (string_content) @base @word)
      (list_expression [(string_literal (string_content) @base @word) (interpolated_string_literal (string_content) @base @word)])])])
  (#eq? @_isa "ISA"))
((ambiguous_function_call_expression function: (function) @_push arguments: (list_expression . (array (varname) @_isa) [
    (string_literal (string_content) @base @word) (quoted_word_list (string_content) @base @word)]))
  (#any-of? @_push "push" "unshift") (#eq? @_isa "ISA"))
((_ function: (function) @_extends arguments: [
    (string_literal (string_content) @base @word) (quoted_word_list (string_content) @base @word)
    (interpolated_string_literal (string_content) @base @word)
    (list_expression (string_literal (string_content) @base @word))])
  (#eq? @_extends "extends"))
((_ function: (function) @_with arguments: [
    (string_literal (string_content) @base.mixin @word) (quoted_word_list (string_content) @base.mixin @word)
    (list_expression (string_literal (string_content) @base.mixin @word))])
  (#eq? @_with "with"))
((class_statement (attrlist (attribute name: (attribute_name) @_isa value: (attribute_value) @base @word)))
  (#any-of? @_isa "isa" "extends"))

; Uses. Operators of the language are no calls of what a package names alike.
((function_call_expression function: (function) @call.name) @call (#not-match? @call.name "^(abs|accept|atan2|bind|binmode|bless|caller|chdir|chmod|chomp|chop|chown|chr|chroot|close|closedir|connect|cos|crypt|defined|delete|die|do|each|eof|eval|exec|exists|exit|exp|fileno|flock|fork|getc|glob|gmtime|goto|grep|hex|index|int|ioctl|join|keys|kill|last|lc|lcfirst|length|link|listen|local|localtime|lock|log|lstat|map|mkdir|next|no|oct|open|opendir|ord|our|pack|pipe|pop|pos|print|printf|push|quotemeta|rand|read|readdir|readline|readlink|recv|redo|ref|rename|require|reset|return|reverse|rewinddir|rindex|rmdir|say|scalar|seek|seekdir|select|send|shift|shutdown|sin|sleep|socket|sort|splice|split|sprintf|sqrt|srand|stat|study|sub|substr|symlink|syscall|sysopen|sysread|sysseek|system|syswrite|tell|telldir|tie|tied|time|times|truncate|uc|ucfirst|umask|undef|unlink|unpack|unshift|untie|use|utime|values|vec|wait|waitpid|wantarray|warn|write)$"))
((ambiguous_function_call_expression function: (function) @call.name) @call (#not-match? @call.name "^(abs|accept|atan2|bind|binmode|bless|caller|chdir|chmod|chomp|chop|chown|chr|chroot|close|closedir|connect|cos|crypt|defined|delete|die|do|each|eof|eval|exec|exists|exit|exp|fileno|flock|fork|getc|glob|gmtime|goto|grep|hex|index|int|ioctl|join|keys|kill|last|lc|lcfirst|length|link|listen|local|localtime|lock|log|lstat|map|mkdir|next|no|oct|open|opendir|ord|our|pack|pipe|pop|pos|print|printf|push|quotemeta|rand|read|readdir|readline|readlink|recv|redo|ref|rename|require|reset|return|reverse|rewinddir|rindex|rmdir|say|scalar|seek|seekdir|select|send|shift|shutdown|sin|sleep|socket|sort|splice|split|sprintf|sqrt|srand|stat|study|sub|substr|symlink|syscall|sysopen|sysread|sysseek|system|syswrite|tell|telldir|tie|tied|time|times|truncate|uc|ucfirst|umask|undef|unlink|unpack|unshift|untie|use|utime|values|vec|wait|waitpid|wantarray|warn|write)$"))
(method_call_expression method: (method) @call.name) @call
((bareword) @call.word (#match? @call.word "^([a-z_]\\w*|[A-Z][A-Z0-9_]*)$"))
(method_call_expression invocant: (bareword) @binding.key)
(sort_expression callback: (function) @call.word)
; A function that is handed on.
(refgen_expression (function) @reference.callable)

; Other files, and what they give.
((use_statement module: (package) @import.from) @import (#not-match? @import.from "^(strict|warnings|utf8|feature|lib|vars|constant|parent|base|integer|bytes|locale|overload|mro|bigint|bignum|experimental|diagnostics|autodie|fields|filetest|if|less|open|ops|re|sigtrap|sort|subs|threads|version|vmsish|English|Mojo::Base)$"))
((use_statement module: (package) @import.star .) (#not-match? @import.star "^(strict|warnings|utf8|feature|lib|vars|constant|parent|base|integer|bytes|locale|overload|mro|bigint|bignum|experimental|diagnostics|autodie|fields|filetest|if|less|open|ops|re|sigtrap|sort|subs|threads|version|vmsish|English|Mojo::Base)$"))
((use_statement module: (package) @import.star version: (_) .) (#not-match? @import.star "^(strict|warnings|utf8|feature|lib|vars|constant|parent|base|integer|bytes|locale|overload|mro|bigint|bignum|experimental|diagnostics|autodie|fields|filetest|if|less|open|ops|re|sigtrap|sort|subs|threads|version|vmsish|English|Mojo::Base)$"))
((use_statement module: (package) @_module [
    (quoted_word_list (string_content) @import.name @word) (string_literal (string_content) @import.name @word)
    (list_expression [(quoted_word_list (string_content) @import.name @word) (string_literal (string_content) @import.name @word)])
    (parenthesized_expression [(quoted_word_list (string_content) @import.name @word)
      (string_literal (string_content) @import.name @word)
      (list_expression (string_literal (string_content) @import.name @word))])])
  (#not-match? @_module "^(strict|warnings|utf8|feature|lib|vars|constant|parent|base|integer|bytes|locale|overload|mro|bigint|bignum|experimental|diagnostics|autodie|fields|filetest|if|less|open|ops|re|sigtrap|sort|subs|threads|version|vmsish|English|Mojo::Base)$"))
((use_statement module: (package) @_module [(quoted_word_list (string_content) @import.from @word)
    (string_literal (string_content) @import.from @word)
    (list_expression (string_literal (string_content) @import.from @word))]) @import
  (#any-of? @_module "parent" "base" "Mojo::Base"))
(require_expression (bareword) @import.from) @import
(require_expression [(string_literal (string_content) @import.from) (interpolated_string_literal (string_content) @import.from)]) @import
(eval_expression (filename [(string_literal (string_content) @import.from) (interpolated_string_literal (string_content) @import.from)])) @import
((assignment_expression left: (glob (varname) @import.alias.ahead) right: (refgen_expression (function) @import.tree)) @import
  (#match? @import.tree "::"))

; Names that get a value.
(assignment_expression left: [
  (scalar) @binding (variable_declaration variable: (scalar) @binding) (hash_element_expression) @binding])
(assignment_expression right: [
  (scalar) (method_call_expression) (function_call_expression) (hash_element_expression) (bareword)] @binding.value)
((assignment_expression right: (ambiguous_function_call_expression function: (function) @_make) @binding.value)
  (#not-match? @_make "^(abs|accept|atan2|bind|binmode|bless|caller|chdir|chmod|chomp|chop|chown|chr|chroot|close|closedir|connect|cos|crypt|defined|delete|die|do|each|eof|eval|exec|exists|exit|exp|fileno|flock|fork|getc|glob|gmtime|goto|grep|hex|index|int|ioctl|join|keys|kill|last|lc|lcfirst|length|link|listen|local|localtime|lock|log|lstat|map|mkdir|next|no|oct|open|opendir|ord|our|pack|pipe|pop|pos|print|printf|push|quotemeta|rand|read|readdir|readline|readlink|recv|redo|ref|rename|require|reset|return|reverse|rewinddir|rindex|rmdir|say|scalar|seek|seekdir|select|send|shift|shutdown|sin|sleep|socket|sort|splice|split|sprintf|sqrt|srand|stat|study|sub|substr|symlink|syscall|sysopen|sysread|sysseek|system|syswrite|tell|telldir|tie|tied|time|times|truncate|uc|ucfirst|umask|undef|unlink|unpack|unshift|untie|use|utime|values|vec|wait|waitpid|wantarray|warn|write)$"))
(assignment_expression right: (binary_expression left: [(method_call_expression) (hash_element_expression)] @binding.value))
; `my $self = { door => Door->new }`, `bless { door => Door->new }, $class`
((assignment_expression left: [(scalar) @_self (variable_declaration variable: (scalar) @_self)] right: (anonymous_hash_expression
    (list_expression (autoquoted_bareword) @binding.property . [(method_call_expression) (hash_element_expression)] @binding.value)))
  (#any-of? @_self "$self" "$this"))
((_ function: (function) @_bless arguments: (list_expression . (anonymous_hash_expression
    (list_expression (autoquoted_bareword) @binding.property . [(method_call_expression) (hash_element_expression)] @binding.value))))
  (#eq? @_bless "bless"))
; `$door->isa("Door")`, and the same of Test::More.
((method_call_expression invocant: [(scalar) (method_call_expression)] @narrowed method: (method) @_isa
    arguments: (string_literal (string_content) @narrowed.type))
  (#eq? @_isa "isa"))
((_ function: (function) @_isa arguments: (list_expression . [(scalar) (method_call_expression)] @narrowed . (string_literal (string_content) @narrowed.type)))
  (#any-of? @_isa "isa_ok" "new_isa_ok"))
(variable_declaration variable: (scalar) @binding.item)
(variable_declaration variables: (scalar) @binding.item)
(mandatory_parameter (scalar) @binding.item)
(optional_parameter (scalar) @binding.item)
(for_statement variable: (scalar) @binding.item)

; What functions give.
(subroutine_declaration_statement body: (block (expression_statement
  (return_expression [(scalar) (method_call_expression) (function_call_expression) (hash_element_expression)] @returned))))
(method_declaration_statement body: (block (expression_statement
  (return_expression [(scalar) (method_call_expression) (function_call_expression) (hash_element_expression)] @returned))))
(subroutine_declaration_statement body: (block (expression_statement [
  (scalar) (method_call_expression) (hash_element_expression)] @returned) .))
; What a variable holds, which is returned early, is mostly what is made otherwise.
(conditional_statement (block (expression_statement (return_expression (method_call_expression) @returned.early))))
(postfix_conditional_expression (return_expression (method_call_expression) @returned.early))
((return_expression (_ function: (function) @_bless arguments: (list_expression (_) . (scalar) @returned .))) (#eq? @_bless "bless"))
((subroutine_declaration_statement body: (block (expression_statement
    (_ function: (function) @_bless arguments: (list_expression (_) . (scalar) @returned .))) .)) (#eq? @_bless "bless"))

; A function that is given to a call behind a string.
(ambiguous_function_call_expression function: (function) arguments: (list_expression . [(string_literal) (interpolated_string_literal)]
  (anonymous_subroutine_expression body: (_) @handler.body))) @definition.handler
