"""Tracebacks of all languages, as their programs print them: places, innermost first, and what was raised."""

from textwrap import dedent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from causalist.rank.query.query import parse_query
from causalist.rank.query.tracebacks import ExceptionMention, StackFrame, read_frames, without_colors


def places(text: str) -> list[tuple[str, int, str]]:
    return [(f.path, f.line, f.function) for f in read_frames(dedent(text))[0]]


def raised(text: str) -> list[tuple[str, str]]:
    return [(r.type, r.message) for r in read_frames(dedent(text))[1]]


def test_python() -> None:
    text = """\
    Traceback (most recent call last):
      File "C:\\app\\cli.py", line 3, in <module>
        main()
        ~~~~^^
      File "/app/src/web/auth.py", line 31, in verify
        raise Expired
    web.errors.Expired: token is too old: 7 days
    """
    assert places(text) == [("/app/src/web/auth.py", 31, "verify"), ("C:/app/cli.py", 3, "")]
    assert raised(text) == [("Expired", "token is too old: 7 days")]


def test_the_direct_cause_comes_first() -> None:
    text = """\
    Traceback (most recent call last):
      File "store.py", line 12, in load
    KeyError: 'a'

    The above exception was the direct cause of the following exception:

    Traceback (most recent call last):
      File "auth.py", line 31, in verify
    AuthError: no such user
    """
    frames, errors = read_frames(dedent(text))
    assert frames == (StackFrame("store.py", 12, "load", 0, 0), StackFrame("auth.py", 31, "verify", 1, 0))
    assert errors == (ExceptionMention("KeyError", "'a'"), ExceptionMention("AuthError", "no such user"))


def test_an_error_in_a_handler_comes_before_what_it_handled() -> None:
    text = """\
    Traceback (most recent call last):
      File "store.py", line 12, in load
    KeyError: 'a'

    During handling of the above exception, another exception occurred:

    Traceback (most recent call last):
      File "auth.py", line 31, in verify
    AuthError: no such user
    """
    assert [f.path for f in read_frames(dedent(text))[0]] == ["auth.py", "store.py"]


def test_python_groups() -> None:
    text = """\
      + Exception Group Traceback (most recent call last):
      |   File "run.py", line 9, in run
      | ExceptionGroup: several (1 sub-exception)
      +-+---------------- 1 ----------------
        | Traceback (most recent call last):
        |   File "job.py", line 4, in work
        | ValueError: bad job
        +------------------------------------
    """
    assert places(text) == [("run.py", 9, "run"), ("job.py", 4, "work")]
    assert ("ValueError", "bad job") in raised(text)


def test_pytest() -> None:
    text = """\
    E       ValueError: bad thing
    src/shop/x.py:12: in f
    src/shop/y.py:33: ValueError
    """
    assert places(text) == [("src/shop/y.py", 33, ""), ("src/shop/x.py", 12, "f")]
    assert raised(text) == [("ValueError", "bad thing")]


def test_ipython() -> None:
    text = """\
    ---------------------------------------------------------------------------
    ValueError                                Traceback (most recent call last)
    Cell In[3], line 1
    ----> 1 shop.plot(stock)

    File ~/shop/_core/plot.py:841, in Plot._draw(self, options={'a': (1, 2)})
        839 # draws what is in stock: see item.py:7
        840 for item in self.items:
    --> 841     self.mark(item)

    File ~/shop/_core/marks.py:12, in mark.<locals>.check(item)
         10 def check(item):
    ---> 12     raise ValueError("no mark")

    File shop/fast.pyx:7, in shop.fast.Table.get()

    File <timed exec>:1

    File C:\\My Shop\\item.py:9

    ValueError: no mark
    """
    assert places(text) == [
        ("C:/My Shop/item.py", 9, ""),
        ("shop/fast.pyx", 7, "get"),
        ("~/shop/_core/marks.py", 12, "check"),
        ("~/shop/_core/plot.py", 841, "_draw"),
    ]
    assert raised(text) == [("ValueError", "no mark")]


def test_older_ipython_tells_lines_in_listings() -> None:
    text = """\
    KeyError                                  Traceback (most recent call last)
    ~/shop/stock.py in get(self, name)
         30     if not name:
    ---> 31         raise KeyError(name)
         32

    KeyError: 'pear'

    During handling of the above exception, another exception occurred:

    StockError                                Traceback (most recent call last)
    <ipython-input-7-0123456789ab> in <module>
    ----> 1 shop.show('pear')

    /srv/my shop/show.py in show(name, *args)
         11
    ---> 12     return [item(each) for each in get(name)]

    /srv/my shop/show.py in <listcomp>(.0)
    ---> 12     return [item(each) for each in get(name)]

    C:\\My Shop\\item.py in item(name)
    <ipython-input-8-0123456789ab> in check(name)
    ----> 4     raise StockError(name)

    StockError: pear
    """
    frames, _ = read_frames(dedent(text))
    assert frames == (
        StackFrame("C:/My Shop/item.py", 0, "item", 0, 0),
        StackFrame("/srv/my shop/show.py", 12, "show", 0, 1),
        StackFrame("~/shop/stock.py", 31, "get", 1, 0),
    )
    assert raised(text) == [("StockError", "pear"), ("KeyError", "'pear'")]


def test_a_second_header_of_ipython_begins_another_trace() -> None:
    text = """\
    TypeError                                 Traceback (most recent call last)
    File ~/shop/a.py:1, in f()
    File ~/shop/b.py:2, in g()
    TypeError                                 Traceback (most recent call last)
    File ~/shop/c.py:3, in h()
    """
    assert [(f.path, f.trace, f.depth) for f in read_frames(dedent(text))[0]] == [
        ("~/shop/b.py", 0, 0),
        ("~/shop/a.py", 0, 1),
        ("~/shop/c.py", 1, 0),
    ]


@pytest.mark.parametrize("escape", ["\x1b", "\\x1b", "\\u001b", "\\033", ""])
def test_colors_of_a_terminal_are_left_out(escape: str) -> None:
    colored = (
        "{e}[0;32m~/shop/stock.py{e}[0m in {e}[0;36mget{e}[0;34m(self, name){e}[0m\n"
        "{e}[0;32m---> 31{e}[0;31m     {e}[0;32mraise{e}[0m KeyError{e}[0;34m({e}[0mname{e}[0;34m){e}[0m\n"
        "{e}[0;31mKeyError{e}[0m: 'pear'"
    ).replace("{e}", escape)
    question = parse_query(colored)
    assert question.frames == (StackFrame("~/shop/stock.py", 31, "get"),)
    assert question.raised == (ExceptionMention("KeyError", "'pear'"),)
    assert question == parse_query(
        "~/shop/stock.py in get(self, name)\n---> 31     raise KeyError(name)\nKeyError: 'pear'"
    )


def test_what_is_no_color_stays() -> None:
    for text in ("why does items[0] fail", "rate(http_total[5m]) is wrong", "a[1;2] and b[0", "[0] is m"):
        assert without_colors(text) == text


def test_node() -> None:
    text = """\
    TypeError [ERR_BAD]: token is undefined
        at Session.verify (/app/src/auth.ts:31:7)
        at async Object.run [as go] (C:\\app\\cli.ts:3:1)
        at new Store (file:///home/u/store.mjs:2:3)
        at Object.<anonymous> (/app/src/main.js:1:2)
        at /app/src/plain.js:8:2
        at eval (webpack-internal:///./src/a.tsx:5:6)
        at node:internal/process/task_queues:95:5
        at process.emit (node:events:513:28)
    """
    assert places(text) == [
        ("/app/src/auth.ts", 31, "verify"),
        ("C:/app/cli.ts", 3, "run"),
        ("/home/u/store.mjs", 2, "Store"),
        ("/app/src/main.js", 1, ""),
        ("/app/src/plain.js", 8, ""),
        ("src/a.tsx", 5, "eval"),
    ]
    assert raised(text) == [("TypeError", "token is undefined")]


def test_browsers() -> None:
    text = """\
    verify@https://host/static/js/auth.js?v=3:31:7
    async*run@webpack:///src/cli.ts:3:1
    @http://localhost:3000/main.js:1:2
    """
    assert places(text) == [("static/js/auth.js", 31, "verify"), ("src/cli.ts", 3, "run"), ("main.js", 1, "")]


def test_go() -> None:
    text = """\
    panic: runtime error: index out of range [recovered]
    goroutine 18 [running]:
    panic(0x1234, 0x55)
    \t/usr/local/go/src/runtime/panic.go:884 +0x212
    example.com/shop/store.(*Store).Open(0xc0000b2000, {0x0, 0x0})
    \t/home/u/shop/store/store.go:42 +0x1d
    main.run.func1()
    \t/home/u/shop/main.go:7 +0x5
    created by net/http.(*Server).Serve in goroutine 1
    \t/usr/local/go/src/net/http/server.go:3086 +0x5cb

    goroutine 19 [select]:
    example.com/shop/worker.Loop(...)
    \t/home/u/shop/worker.go:3
    """
    assert places(text) == [
        ("/usr/local/go/src/runtime/panic.go", 884, "panic"),
        ("/home/u/shop/store/store.go", 42, "Open"),
        ("/home/u/shop/main.go", 7, "run"),
        ("/usr/local/go/src/net/http/server.go", 3086, "Serve"),
        ("/home/u/shop/worker.go", 3, "Loop"),
    ]
    assert raised(text) == [("", "runtime error: index out of range")]
    assert [f.trace for f in read_frames(dedent(text))[0]] == [0, 0, 0, 0, 1]


def test_java() -> None:
    text = """\
    Exception in thread "main" shop.OrderException: cannot place order
    \tat shop.Orders.place(Orders.java:31)
    \tat shop.Main.main(Main.java:9)
    Caused by: java.lang.IllegalStateException: stock is locked
    \tat shop.stock.Stock$Lock.take(Stock.java:77)
    \tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
    \tat shop.stock.Stock.<init>(Stock.java:12)
    \tat shop.stock.Native.call(Native Method)
    \t... 12 more
    """
    assert places(text) == [
        ("shop/stock/Stock.java", 77, "take"),
        ("java/util/ArrayList.java", 1511, "forEach"),
        ("shop/stock/Stock.java", 12, "Stock"),
        ("shop/Orders.java", 31, "place"),
        ("shop/Main.java", 9, "main"),
    ]
    assert raised(text) == [("IllegalStateException", "stock is locked"), ("OrderException", "cannot place order")]


def test_rust() -> None:
    text = """\
    thread 'main' panicked at src/store.rs:10:5:
    index out of bounds
    stack backtrace:
       0: rust_begin_unwind
                 at /rustc/abc/library/std/src/panicking.rs:645:5
       1: shop::store::Store::open
                 at ./src/store.rs:10:5
       2: <shop::cli::Args as core::str::FromStr>::from_str::h0123456789abcdef
                 at ./src/cli.rs:4:9
       3: shop::main::{{closure}}
                 at ./src/main.rs:4:9
    """
    assert places(text) == [
        ("src/store.rs", 10, "open"),
        ("/rustc/abc/library/std/src/panicking.rs", 645, "rust_begin_unwind"),
        ("src/cli.rs", 4, "from_str"),
        ("src/main.rs", 4, "main"),
    ]
    assert raised(text) == [("", "index out of bounds")]
    before_2023 = "thread 'main' panicked at 'bad index', src/store.rs:10:5"
    assert (places(before_2023), raised(before_2023)) == ([("src/store.rs", 10, "")], [("", "bad index")])


def test_rust_on_one_line_as_a_title_has_it() -> None:
    text = "thread 'main' panicked at view/src/tree.rs:10:5: called `Option::unwrap()` on a `None` value"
    assert places(text) == [("view/src/tree.rs", 10, "")]
    assert raised(text) == [("", "called `Option::unwrap()` on a `None` value")]


def test_dotnet() -> None:
    """What is below the end of an inner exception threw the outer one. Compiled names stand for what is written: a
    state machine for its method, a lambda for the method around it, a local function for itself."""
    text = """\
    Unhandled exception. System.InvalidOperationException: cannot place order
     ---> System.NullReferenceException: Object reference not set to an instance of an object.
       at Shop.Stock.Lock`1.Take[T](List`1 items, Int32& n) in C:\\src\\Stock\\Lock.cs:line 77
       at Shop.Stock.Store.<LoadAsync>d__12.MoveNext() in /src/Stock/Store.cs:line 12
       at Shop.Stock.Store.<>c__DisplayClass3_0.<Load>b__1(String id)
       --- End of inner exception stack trace ---
       at Shop.Orders..ctor(Store store) in /src/Orders.cs:line 31
       at Shop.Program.<Main>g__Run|0_1(String[] args) in /src/Program.cs:line 9
       at System.String.Join(String separator, Object[] values)
       at System.String.Format(String format, Object[] args)
    """
    assert places(text) == [
        ("C:/src/Stock/Lock.cs", 77, "Take"),
        ("/src/Stock/Store.cs", 12, "LoadAsync"),
        ("Shop/Stock/Store.cs", 0, "Load"),
        ("/src/Orders.cs", 31, "Orders"),
        ("/src/Program.cs", 9, "Run"),
        ("System/String.cs", 0, "Join"),
        ("System/String.cs", 0, "Format"),
    ]
    assert raised(text) == [
        ("NullReferenceException", "Object reference not set to an instance of an object."),
        ("InvalidOperationException", "cannot place order"),
    ]


def test_elixir() -> None:
    text = """\
    ** (Shop.StockError) stock is locked
        (shop 0.1.0) lib/shop/stock.ex:77: Shop.Stock.take!/2
        (shop 0.1.0) lib/shop/orders.ex:31: anonymous fn/1 in Shop.Orders.place/1
        (elixir 1.15.0) lib/enum.ex:1693: Enum."-map/2-lists^map/1-1-"/2
    """
    assert places(text)[:2] == [("lib/shop/stock.ex", 77, "take!"), ("lib/shop/orders.ex", 31, "place")]
    assert raised(text) == [("StockError", "stock is locked")]


def test_lua() -> None:
    text = """\
    lua: src/stock.lua:77: attempt to index a nil value
    stack traceback:
    \tsrc/stock.lua:77: in function 'stock.take'
    \tsrc/cli.lua:9: in main chunk
    \t[C]: in ?
    """
    assert places(text) == [("src/stock.lua", 77, "take"), ("src/cli.lua", 9, "")]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("shop: db/stock.cc:77: void shop::Stock::Take(int) const: Assertion `n > 0' failed.",
         ("db/stock.cc", 77, "Take"), "n > 0"),
        ("Assertion failed: (n > 0), function Take, file stock.cc, line 77.", ("stock.cc", 77, "Take"), "n > 0"),
        ("F0123 10:11:12.123456 4321 stock.cc:77] Check failed: n > 0", ("stock.cc", 77, ""), "n > 0"),
        ("Fatal error: stock is locked: file Shop/Stock.swift, line 77", ("Shop/Stock.swift", 77, ""),
         "stock is locked"),
        ("./run.sh: line 7: shop: command not found", ("run.sh", 7, ""), "shop: command not found"),
    ],
)  # fmt: skip
def test_failed_checks(text: str, place: tuple[str, int, str], said: str) -> None:
    assert (places(text), raised(text)) == ([place], [("", said)])


def test_php_tells_the_callee_of_each_line() -> None:
    """The line of #0 lies in what #1 called: `get` calls `parse`."""
    text = """\
    PHP Fatal error:  Uncaught InvalidArgumentException: bad uri in /srv/app/src/Uri.php:31
    Stack trace:
    #0 /srv/app/src/Client.php(12): Shop\\Uri->parse('x')
    #1 /srv/app/index.php(3): Shop\\Client::get()
    #2 {main}
      thrown in /srv/app/src/Uri.php on line 31
    """
    assert places(text) == [
        ("/srv/app/src/Uri.php", 31, "parse"),
        ("/srv/app/src/Client.php", 12, "get"),
        ("/srv/app/index.php", 3, ""),
    ]
    assert raised(text) == [("InvalidArgumentException", "bad uri")]


def test_ruby() -> None:
    text = """\
    /srv/app/lib/store.rb:12:in `open': no such table (Shop::MissingError)
    \tfrom /srv/app/lib/cli.rb:3:in `block in run'
    \tfrom /srv/bin/x.rb:1:in `<main>'
    """
    assert places(text) == [
        ("/srv/app/lib/store.rb", 12, "open"),
        ("/srv/app/lib/cli.rb", 3, "run"),
        ("/srv/bin/x.rb", 1, ""),
    ]
    assert raised(text) == [("MissingError", "no such table")]


def test_debuggers() -> None:
    text = """\
    #0  0x00007ffff7e4 in jv_free (j=...) at src/jv.c:100
    #1  main () at src/main.c:7
        #2 0x55d4 in jv_parse /home/u/jq/src/jv_parse.c:80:3
    """
    assert places(text) == [
        ("src/jv.c", 100, "jv_free"),
        ("src/main.c", 7, "main"),
        ("/home/u/jq/src/jv_parse.c", 80, "jv_parse"),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/a.ts(12,5): error TS2345: Argument of type", ("src/a.ts", 12, "")),
        ("src/b.ts:3:9 - error TS2322: Type", ("src/b.ts", 3, "")),
        (" --> src/main.rs:5:9", ("src/main.rs", 5, "")),
        ("./x/y.go:4:2: undefined: z", ("x/y.go", 4, "")),
        ("src\\stock.cpp(77): error C2065: 'n': undeclared identifier", ("src/stock.cpp", 77, "")),
        ("e: file:///home/u/shop/Stock.kt:77:5 Unresolved reference: n", ("/home/u/shop/Stock.kt", 77, "")),
        ("e: /home/u/shop/Stock.kt: (77, 5): Unresolved reference: n", ("/home/u/shop/Stock.kt", 77, "")),
        ("[ERROR] /home/u/shop/Stock.java:[77,5] cannot find symbol", ("/home/u/shop/Stock.java", 77, "")),
        ("src\\web\\auth.py:31: error: no", ("src/web/auth.py", 31, "")),
    ],
)
def test_compilers_and_linters(text: str, place: tuple[str, int, str]) -> None:
    assert places(text) == [place]


@pytest.mark.parametrize(
    "text",
    [
        "we meet at noon:12:30",
        "at 12:30 it fails",
        "see src/auth.py",
        "the cache (in memory) is empty",
        "#3 is about the same (see above)",
        "ratio 3:4 or 16:9",
        "error: it fails",
        "http://localhost:3000/a",
        "Note: this is no error",
        "it fails at Cart.Load(id) and I do not know why",
        "see printf(3) and nginx.conf(5)",
        "the error is raised in stock.py in get(name)",
        "stock.py in get(name) is wrong",
        "stock.py in the shop (src)",
        "File stock.py:12 is wrong",
        "Cell In[3], line 1",
        "<ipython-input-3-0123456789ab> in <module>",
    ],
)
def test_prose_has_no_frames(text: str) -> None:
    assert read_frames(text) == ((), ())


lines = st.sampled_from(
    ['  File "a.py", line 1, in f', "ValueError: x", "    at f (/a.js:1:2)", "Caused by: a.B: c", "goroutine 1 [x]:",
     "a.f(1)", "\t/a.go:3 +0x1", "#0 /a.php(3): f()", "During handling of the above exception, another", "   ^^^", ""]
)  # fmt: skip


@given(st.lists(lines, max_size=12).map("\n".join) | st.text(max_size=60))
@example("\ud800")
@example("\n at x (\ud800:1:1)")
def test_any_text_can_be_read(text: str) -> None:
    frames, errors = read_frames(text)
    assert len({(f.trace, f.path, f.line, f.function) for f in frames}) == len(frames)
    assert [f.trace for f in frames] == sorted(f.trace for f in frames)
    assert all(f.line >= 0 for f in frames)
    assert len(set(errors)) == len(errors)
