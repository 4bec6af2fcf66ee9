//! Tables: texts and the commands that are read of them.

use std::sync::Arc;

use ccm_shell::{
    CommandRole, RedirectionOperator, ShellBudget, ShellCommand, ShellContext, ShellDialect, ShellInput,
    ShellWord, UnknownOrigin, UnreadableKind, WordPiece, check, read,
};

/// Returns the commands of a text, or the kind of the reason against it.
fn reading(text: &str, dialect: ShellDialect) -> Vec<String> {
    let variables = vec![("HOME", "/home/agent")];
    let context = ShellContext { directory: "/w", variables };
    match read(text, dialect, &context, &mut ShellBudget::default()) {
        Ok(reading) => reading.commands.iter().map(shown).collect(),
        Err(error) => vec![format!("{:?}: {}", error.kind, &text[error.span.range()])],
    }
}

fn shown(command: &ShellCommand) -> String {
    let mut parts: Vec<String> = Vec::new();
    match command.role {
        CommandRole::Function => parts.push("function".to_owned()),
        CommandRole::Builtin => parts.push("builtin".to_owned()),
        CommandRole::PossibleFunction => parts.push("possible function".to_owned()),
        CommandRole::Construct | CommandRole::Program => {}
    }
    for assignment in &command.assignments {
        let value = assignment.value.as_ref().map_or_else(|| "?".to_owned(), word);
        parts.push(format!("{}={value}", assignment.name));
    }
    parts.extend(command.words.iter().map(word));
    for redirection in &command.redirections {
        let operator = match redirection.operator {
            RedirectionOperator::Read => "<",
            RedirectionOperator::Write => ">",
            RedirectionOperator::Append => ">>",
            RedirectionOperator::ReadWrite => "<>",
            RedirectionOperator::Duplicate => ">&",
            RedirectionOperator::WriteBoth => "&>",
            RedirectionOperator::AppendBoth => "&>>",
            RedirectionOperator::HereDocument => "<<",
            RedirectionOperator::HereString => "<<<",
        };
        let number = redirection.descriptor.map_or_else(String::new, |number| number.to_string());
        parts.push(format!("{number}{operator}{}", word(&redirection.target)));
    }
    match &command.input {
        ShellInput::Inherited => {}
        ShellInput::Pipe(range) => parts.push(format!("(input {range:?})")),
        ShellInput::File(_) => parts.push("(file)".to_owned()),
        ShellInput::Text(_) => parts.push("(text)".to_owned()),
        ShellInput::Unknown => parts.push("(any input)".to_owned()),
    }
    if command.directories.is_unknown && command.directories.is_bounded() {
        parts.push(format!("(below {})", command.directories.below.join(" or ")));
    } else if command.directories.is_unknown {
        parts.push("(anywhere)".to_owned());
    } else if command.directories.paths != ["/w"] {
        parts.push(format!("(in {})", command.directories.paths.join(" or ")));
    }
    parts.extend(command.doubts.iter().map(|doubt| match &doubt.output {
        Some(range) => format!("({:?} of {range:?})", doubt.kind),
        None => format!("({:?})", doubt.kind),
    }));
    parts.join(" ")
}

fn word(word: &ShellWord) -> String {
    let piece = |piece: &WordPiece| match piece {
        WordPiece::Text { text, .. } => text.replace('\n', "\\n"),
        WordPiece::Pattern(character) => format!("{{{character}}}"),
        WordPiece::Unknown { origin, is_many } => {
            let origin = match origin {
                UnknownOrigin::Variable(name) | UnknownOrigin::Listed { name, .. } => format!("${name}"),
                UnknownOrigin::Output(range) => format!("$({range:?})"),
                UnknownOrigin::Stored { name, range } => format!("${name} of {range:?}"),
                UnknownOrigin::Process(range) => format!("<({range:?})"),
                UnknownOrigin::Number => "number".to_owned(),
                UnknownOrigin::Home(user) => format!("~{user}"),
                UnknownOrigin::Braces => "braces".to_owned(),
            };
            format!("‹{origin}{}›", if *is_many { "…" } else { "" })
        }
    };
    match &*word.pieces {
        _ if word.text().is_some_and(|text| text.is_empty()) => "''".to_owned(),
        pieces => pieces.iter().map(piece).collect(),
    }
}

fn assert_read(dialect: ShellDialect, rows: &[(&str, &[&str])]) {
    for (text, expected) in rows {
        assert_eq!(reading(text, dialect), *expected, "{dialect:?}: {text}");
    }
}

/// Texts that are read in the same way for both dialects.
fn assert_read_alike(rows: &[(&str, &[&str])]) {
    assert_read(ShellDialect::Sh, rows);
    assert_read(ShellDialect::Bash, rows);
}

#[test]
fn words_are_decoded() {
    assert_read_alike(&[
        ("ls -la", &["ls -la"]),
        (r"r''m 'r'm r\m", &["rm rm rm"]),
        ("r\\\nm -rf", &["rm -rf"]),
        (r#"p "a\$b\x" '\n' """#, &[r"p a$b\x \n ''"]),
        ("p a\\ b 'c d'e", &["p a b c de"]),
        ("rm$IFS-rf$IFS/srv", &["rm -rf /srv"]),
        ("X='a b'; p $X \"$X\" x$X", &["X=a b", "p a b a b xa b"]),
        ("X=; $X p \"$X\"", &["X=''", "p ''"]),
        ("X='*'; p $X \"$X\"", &["X=*", "p {*} *"]),
        ("p *.c [ab] [ \"*\"", &["p {*}.c {[}ab] [ *"]),
        ("p ~ ~/x ~root/y x~ '~'", &["p /home/agent /home/agent/x ‹~root›/y x~ ~"]),
        ("p ~\\\n ~\\\n/x ~ro\\\not/y", &["p /home/agent /home/agent/x ‹~root›/y"]),
        ("X=~/a:~/b; p $X", &["X=/home/agent/a:/home/agent/b", "p /home/agent/a:/home/agent/b"]),
        ("p $1 \"$@\" $# $? \"${#x}\"", &["p ‹$1…› ‹$@…› ‹number› ‹number› ‹number›"]),
        ("p ${HOME:-x} ${y:-x} ${y+x} \"${y%.c}\"", &["p /home/agent ‹$y…› ‹$y…› ‹$y›"]),
        ("p $ $% a$ \"$\" '$'", &["p $ $% a$ $ $"]),
        ("X='a b'; p $X$% $%$X $X\\$ \"$X$%\"", &["X=a b", "p ‹$X…›$% $%a b a b$ a b$%"]),
        ("p a#b # c", &["p a#b"]),
        ("$X p", &["‹$X…› p"]),
        ("p $((1 + 2))", &["p ‹number›"]),
    ]);
}

#[test]
fn every_part_of_a_text_is_read() {
    assert_read_alike(&[
        ("a; b & c && d || e", &["a", "b", "c", "d", "e"]),
        ("a\nb\n\n", &["a", "b"]),
        ("a | b |\n c", &["a", "b (input 0..1)", "c (input 1..2)"]),
        ("(a; b) | { c; d; }", &["a", "b", "c (input 0..2)", "d (input 0..2)"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c\ndo d\ndone", &["a", "b", "c", "d"]),
        ("for i in x; do p $i; done", &["i=x", "p x"]),
        ("for i in x y; do p $i; done", &["i=?", "p ‹$i…›"]),
        ("for i; do a; done", &["i=?", "a"]),
        ("case $x in a|(b) p;; esac", &["Syntax: ("]),
        ("case $x in a|b) p;; (*) q; esac", &["p", "q"]),
        ("! a", &["a"]),
        ("f() { a; }; f b", &["a (any input)", "function f b"]),
        ("f() ( a )", &["a (any input)"]),
        ("p \"$(a; b)\" `c`", &["a", "b", "c", "p ‹$(0..2)› ‹$(2..3)…›"]),
        ("p ${x:-$(a)}", &["a", "p ‹$x…›"]),
        ("X=$(a) p", &["a", "X=‹$(0..1)› p"]),
        ("p $(( $(a) + 1 ))", &["a", "p ‹number› (Arithmetic of 0..1)"]),
        ("x=$(a); p $((x))", &["a", "x=‹$(0..1)›", "p ‹number› (Arithmetic of 0..1)"]),
        (
            "x=$(a); p $((x)); eval \"$y\"",
            &["a", "x=‹$(0..1)›", "p ‹number› (Arithmetic)", "builtin eval ‹$y› (Code)"],
        ),
        ("command a; exec b; command -v c", &["a", "b", "builtin command -v c"]),
        ("eval 'a; b' c", &["builtin eval a; b c", "a", "b c"]),
        ("eval \"$x\"", &["builtin eval ‹$x› (Code)"]),
        ("trap 'rm x' EXIT", &["builtin trap rm x EXIT", "rm x (any input)"]),
        // A text that leaves its directory, or may do so, leaves it before the trap runs.
        (
            "trap 'rm x' EXIT; cd d",
            &["builtin trap rm x EXIT", "rm x (any input) (anywhere)", "builtin cd d"],
        ),
        ("trap 'rm x' EXIT; $y d", &["builtin trap rm x EXIT", "rm x (any input) (anywhere)", "‹$y…› d"]),
        (
            "trap 'rm x' EXIT; . ./y",
            &["builtin trap rm x EXIT", "rm x (any input) (anywhere)", "builtin . ./y (SourcedFile)"],
        ),
        ("trap - INT", &["builtin trap - INT"]),
        // A variable that nothing changes any more has its value when the text ends.
        ("x=a; trap 'rm $x' EXIT", &["x=a", "builtin trap rm $x EXIT", "rm a (any input)"]),
        ("x=a; trap 'rm $x' EXIT; x=b", &["x=a", "builtin trap rm $x EXIT", "rm ‹$x…› (any input)", "x=b"]),
        ("trap 'rm $x' EXIT; x=b", &["builtin trap rm $x EXIT", "rm ‹$x…› (any input)", "x=b"]),
        ("x=a; trap 'rm $x' INT", &["x=a", "builtin trap rm $x INT", "rm ‹$x…› (any input)"]),
        (
            "x=a; trap 'rm $x' EXIT; trap 'x=b' INT",
            &[
                "x=a",
                "builtin trap rm $x EXIT",
                "rm ‹$x…› (any input)",
                "builtin trap x=b INT",
                "x=b (any input)",
            ],
        ),
        ("trap 'rm $HOME' EXIT", &["builtin trap rm $HOME EXIT", "rm /home/agent (any input)"]),
        (
            "trap 'rm $HOME' EXIT; HOME=b",
            &["builtin trap rm $HOME EXIT", "rm ‹$HOME…› (any input)", "HOME=b"],
        ),
        ("trap 'rm $HOME' EXIT; IFS=/", &["builtin trap rm $HOME EXIT", "rm ‹$HOME…› (any input)", "IFS=/"]),
        (
            "x=$(a); trap 'rm \"$x\"' EXIT",
            &["a", "x=‹$(0..1)›", "builtin trap rm \"$x\" EXIT", "rm ‹$x of 0..1› (any input)"],
        ),
        (". ./x; p $HOME", &["builtin . ./x (SourcedFile)", "p ‹$HOME…› (anywhere)"]),
    ]);
    assert_read(
        ShellDialect::Sh,
        &[
            ("time -p a", &["time -p a", "a"]),
            // `printf` of bash may set any variable.
            (
                "x=a; trap 'rm $x' EXIT; printf \"$y\" p",
                &["x=a", "builtin trap rm $x EXIT", "rm ‹$x…› (any input)", "builtin printf ‹$y› p"],
            ),
        ],
    );
}

#[test]
fn redirections_and_heredocs_are_read() {
    assert_read_alike(&[
        ("2>/dev/null a <x >>y", &["a 2>/dev/null <x >>y (file)"]),
        ("> f", &[">f"]),
        ("a >&2 2>&1 <&-", &["a >&2 2>&1 >&- (any input)"]),
        ("a <<E\nhi $x $(b)\nE\nc", &["b", "a <<hi ‹$x› ‹$(0..1)›\\n (text)", "c"]),
        ("a <<'E'\n$(b)\nE\n", &["a <<$(b)\\n (text)"]),
        ("a <<-E\n\tx\n\tE\n", &["a <<x\\n (text)"]),
        ("a <<A <<B\n1\nA\n2\nB\n", &["a <<1\\n <<2\\n (text)"]),
        ("while read x; do sh; done <l", &["<l (file)", "builtin x=? read x (file)", "sh (file)"]),
        ("a <<E\n\\$x \\` \\\\ \\n\nE", &["a <<$x ` \\ \\n\\n (text)"]),
        ("{ a; } <<E | b\nx\nE\n", &["<<x\\n (text)", "a (text)", "b (input 0..2)"]),
    ]);
}

#[test]
fn a_redirection_may_fail_before_a_command_of_the_shell() {
    assert_read_alike(&[
        ("X=p; eval 'X=q' <l; $X", &["X=p", "builtin eval X=q <l (file)", "X=q (file)", "‹$X…›"]),
        ("X=p; { X=q; } >l; $X", &["X=p", ">l", "X=q", "‹$X…›"]),
        ("X=p; X=q >l; $X", &["X=p", "X=q >l", "‹$X…›"]),
        ("X=p; eval 'X=p' >l; $X", &["X=p", "builtin eval X=p >l", "X=p", "p"]),
        ("X=p; a >l; $X", &["X=p", "a >l", "p"]),
        ("cd sub >l && p", &["builtin cd sub >l", "p (in /w/sub)"]),
        ("{ cd sub && a; } >l; p", &[">l", "builtin cd sub", "a (in /w/sub)", "p (in /w/sub or /w)"]),
        ("cd sub || exit 1 >l; p", &["builtin cd sub", "builtin exit 1 >l", "p (in /w/sub or /w)"]),
    ]);
}

#[test]
fn directories_are_followed() {
    assert_read_alike(&[
        ("cd sub && p", &["builtin cd sub", "p (in /w/sub)"]),
        ("cd sub; p", &["builtin cd sub", "p (in /w/sub or /w)"]),
        ("cd sub || exit 1; p", &["builtin cd sub", "builtin exit 1", "p (in /w/sub)"]),
        ("cd sub || p", &["builtin cd sub", "p"]),
        ("set -e; cd sub; p", &["builtin set -e", "builtin cd sub", "p (in /w/sub)"]),
        ("(cd sub; p); q", &["builtin cd sub", "p (in /w/sub or /w)", "q"]),
        ("cd a && cd ../b && p", &["builtin cd a", "builtin cd ../b (in /w/a)", "p (in /w/b)"]),
        ("cd / && cd .. && p", &["builtin cd /", "builtin cd .. (in /)", "p (in /)"]),
        ("cd && p", &["builtin cd", "p (in /home/agent)"]),
        ("cd \"$x\" && p", &["builtin cd ‹$x›", "p (anywhere)"]),
        ("cd - && p", &["builtin cd -", "p (anywhere)"]),
        ("for d in */ a/b*/; do (cd \"$d\" && p); done", &["d=?", "builtin cd ‹$d›", "p (below /w or /w/a)"]),
        ("for d in a b; do (cd $d; p); done", &["d=?", "builtin cd ‹$d…›", "p (below /w/a or /w/b or /w)"]),
        ("for d in */; do (cd \"$d/..\" && p); done", &["d=?", "builtin cd ‹$d›/..", "p (anywhere)"]),
        (
            "for d in */; do (cd \"$d\" && cd .. && p); done",
            &["d=?", "builtin cd ‹$d›", "builtin cd .. (below /w)", "p (anywhere)"],
        ),
        ("for d in */; do (cd $d && p); done", &["d=?", "builtin cd ‹$d…›", "p (anywhere)"]),
        ("for d in *; do (cd \"$d\" && p); done", &["d=?", "builtin cd ‹$d›", "p (anywhere)"]),
        ("for d in */../; do (cd \"$d\" && p); done", &["d=?", "builtin cd ‹$d›", "p (anywhere)"]),
        ("while a; do cd x; p; done", &["a (anywhere)", "builtin cd x (anywhere)", "p (anywhere)"]),
        ("if cd x; then p; else q; fi", &["builtin cd x", "p (in /w/x)", "q"]),
        ("f() { cd x; }; f; p", &["builtin cd x (any input) (anywhere)", "function f", "p (anywhere)"]),
        (
            "q \"$(f() { cd x; }; f; p)\" `g() { cd x; }; g; p`; p",
            &[
                "builtin cd x (any input) (anywhere)",
                "function f",
                "p (anywhere)",
                "builtin cd x (any input) (anywhere)",
                "function g",
                "p (anywhere)",
                "q ‹$(0..3)› ‹$(3..6)…›",
                "p",
            ],
        ),
        ("cd x && p $PWD", &["builtin cd x", "p /w/x (in /w/x)"]),
        ("eval 'cd x' && p", &["builtin eval cd x", "builtin cd x", "p (in /w/x)"]),
        ("cd x | p; q", &["builtin cd x", "p (input 0..1)", "q"]),
        ("CDPATH=/; cd x && p", &["CDPATH=/", "builtin cd x", "p (anywhere)"]),
    ]);
}

#[test]
fn variables_are_followed() {
    assert_read_alike(&[
        ("X=rm; $X a", &["X=rm", "rm a"]),
        ("X=rm p; $X a", &["X=rm p", "‹$X…› a"]),
        ("X=1 :; p $X", &["builtin X=1 :", "p ‹$X…›"]),
        ("a && X=rm; $X b", &["a", "X=rm", "‹$X…› b"]),
        ("X=rm && $X b", &["X=rm", "rm b"]),
        ("X=a; if c; then X=b; fi; $X", &["X=a", "c", "X=b", "‹$X…›"]),
        (
            "X=a; for i in 1 2; do $X; X=b; done",
            &["X=a", "i=? (anywhere)", "‹$X…› (anywhere)", "X=b (anywhere)"],
        ),
        ("X=a; f() { X=b; }; f; p $X", &["X=a", "X=b (any input)", "function f", "p ‹$X…›"]),
        ("X=a; for i in 1 2; do p $X; X=b; done", &["X=a", "i=?", "p ‹$X…›", "X=b"]),
        ("X=a; (X=b); $X", &["X=a", "X=b", "a"]),
        ("X=a; read X; $X", &["X=a", "builtin X=? read X", "‹$X…›"]),
        (": \"${X:=rm}\"; $X a", &["builtin : ‹$X›", "‹$X…› a"]),
        ("unset X; $X a", &["builtin X=? unset X", "‹$X…› a"]),
        ("export X=$HOME/a; p $X", &["builtin X=/home/agent/a export X=/home/agent/a", "p /home/agent/a"]),
        ("X=a; export X; export Y", &["X=a", "builtin X=a export X", "builtin Y=? export Y"]),
        ("IFS=/; X=a/b; p $X", &["IFS=/", "X=a/b", "p ‹$X…›"]),
        ("IFS= read -r l; X=a; p $X", &["builtin IFS='' l=? read -r l", "X=a", "p a"]),
        (
            "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done",
            &["i=0", "builtin [ ‹number› -lt 3 ]", "i=‹number›"],
        ),
        ("p $((x + 1))", &["p ‹number› (Arithmetic)"]),
        ("x=1; p $((x + 1))", &["x=1", "p ‹number›"]),
        ("x='a[0]'; p $((x))", &["x=a[0]", "p ‹number› (Arithmetic)"]),
        // A value is an expression of its own, in whose subscripts bash runs commands.
        ("x='a[$(p)]'; q $((x))", &["x=a[$(p)]", "p", "q ‹number› (Arithmetic)"]),
        ("x='a[$(p)]'; q $(($x + 1))", &["x=a[$(p)]", "p", "q ‹number› (Arithmetic)"]),
        ("x='a[b=1]'; y=x; q $((y))", &["x=a[b=1]", "y=x", "q ‹number› (Arithmetic)"]),
        ("for i in 1 'a[$(p)]'; do q $((i)); done", &["i=?", "p", "q ‹number› (Arithmetic)"]),
        ("x='1 + 2'; y=x; q $((y))", &["x=1 + 2", "y=x", "q ‹number›"]),
        ("x=; q $((x))", &["x=''", "q ‹number›"]),
        ("x=3.5; q $((x))", &["x=3.5", "q ‹number› (Arithmetic)"]),
        // The output of commands that a variable holds.
        ("x=$(a); p \"$x\" $x", &["a", "x=‹$(0..1)›", "p ‹$x of 0..1› ‹$x of 0..1…›"]),
        ("x=$(a); p \"$x\"; eval \"$y\"", &["a", "x=‹$(0..1)›", "p ‹$x›", "builtin eval ‹$y› (Code)"]),
        ("a() { b; }; x=$(a); p \"$x\"", &["b (any input)", "function a", "x=‹$(1..2)›", "p ‹$x›"]),
        ("x=$(a); if b; then x=$(c); fi; p $x", &["a", "x=‹$(0..1)›", "b", "c", "x=‹$(3..4)›", "p ‹$x…›"]),
    ]);
}

/// Builtins that change a variable in ways that are not followed: it has no known value behind them.
#[test]
fn a_variable_that_a_builtin_may_change_is_not_known() {
    for change in [
        "mapfile c <<< p",
        "mapfile -t c <<< p",
        "readarray -t c <<< p",
        "builtin mapfile -t c <<< p",
        "command readarray -t c <<< p",
        "mapfile -n 1 c <<< p",
        "mapfile -n1 c <<< p",
        "mapfile -tn 1 c <<< p",
        "mapfile -tn1 c <<< p",
        "mapfile -O 0 c <<< p",
        "mapfile -O0 c <<< p",
        "mapfile -s 0 -t -u 0 c <<< p",
        "mapfile -d '' c <<< p",
        "mapfile -u 3 c 3<<< p",
        "mapfile -u3 c 3<<< p",
        "mapfile -t -- c <<< p",
        "mapfile -c 1 c <<< p",
        "mapfile -td: c <<< p:",
        "mapfile \"$o\" c <<< p",
        "mapfile -x c <<< p",
        "read c <<< p",
        "read -r c <<< p",
        "read -a c <<< p",
        "read -ra c <<< p",
        "read -rac <<< p",
        "read -rp x c <<< p",
        "read -rt1 c <<< p",
        "read -rd : c <<< p:",
        "read -en 1 c <<< p",
        "read -u 0 -N 1 c <<< p",
        "read -i x c <<< p",
        "declare -a 'c=(p)'",
        "declare -ag 'c=(p)'",
        "declare -A 'c=([0]=p)'",
        "declare 'c=(p)'",
        "declare -a 'c+=(p)'",
        "declare -a c'=(p)'",
        "declare -a \"c=(p)\"",
        "typeset -a 'c=(p)'",
        "readonly -a 'c=(p)'",
        "export 'c=(p)'",
        "export -a 'c=(p)'",
        "x='c=(p)'; declare -a \"$x\"",
        "declare -l c; c=P",
        "declare -l c=P",
        "declare +x -l c=P",
        "declare -gl c=P",
        "declare -u c; c=p",
        "declare -c c=p",
        "typeset -l c=P",
        "export -l c=P",
        "readonly -l c=P",
        "declare -l c; for c in P; do $c; done",
        "declare -l c; c=P; export c",
        "declare -i c=1+1",
        "f() { declare -l c=P; $c; }; f",
        "f() { local -l c=P; $c; }; f",
        "f() { local c=p; declare -g c=q; $c; }; f",
        "printf -v c p",
        "printf -vc p",
        "declare -n r=c; r=p",
        "let c=1",
        "wait -p c",
    ] {
        let text = format!("c=ls; {change}; $c");
        let context = ShellContext { directory: "/w", variables: Vec::new() };
        let Ok(reading) = read(&text, ShellDialect::Bash, &context, &mut ShellBudget::default()) else {
            continue;
        };
        let is_doubtful = reading.commands.iter().any(|command| !command.doubts.is_empty());
        let known = |command: &&ShellCommand| command.words.first().and_then(ShellWord::text).is_some();
        let named: Vec<String> = reading.commands.iter().filter(known).map(shown).collect();
        let last = reading.commands.last().map(shown);
        let is_unknown = reading.commands.last().is_some_and(|last| last.words[0].text().is_none());
        assert!(is_unknown || is_doubtful, "{text}: {named:?}, last {last:?}");
    }
}

/// Values that builtins give for certain, and those that they leave alone.
#[test]
fn values_that_builtins_set_are_followed() {
    assert_read(
        ShellDialect::Bash,
        &[
            ("declare c=p; $c", &["builtin c=p declare c=p", "p"]),
            ("declare -x c=p; $c", &["builtin c=p declare -x c=p", "p"]),
            ("c=p; declare -l d; $c", &["c=p", "builtin declare -l d", "p"]),
            ("c=p; mapfile -t d <l; $c", &["c=p", "builtin d=? mapfile -t d <l (file)", "p"]),
            ("mapfile -t <l", &["builtin MAPFILE=? mapfile -t <l (file)"]),
        ],
    );
    // bash expands the list that the quotes hide.
    for (text, part) in [
        ("declare -a 'c=($(p))'", "declare -a 'c=($(p))'"),
        ("declare -a 'c=(`p`)'", "declare -a 'c=(`p`)'"),
        ("export \"c=(\\$(p))\"", "\"c=(\\$(p))\""),
    ] {
        let found = reading(text, ShellDialect::Bash);
        assert!(found.iter().any(|found| found.starts_with("Unsupported")), "{text}: {found:?} {part}");
    }
}

/// Edits of known values, and of those that a loop takes from patterns.
#[test]
fn edits_of_values_are_followed() {
    assert_read_alike(&[
        ("x=a.tar.gz; p ${x%.gz} ${x%.*} ${x%%.*}", &["x=a.tar.gz", "p a.tar a.tar a"]),
        ("x=a.tar.gz; p ${x%.zip} ${x%'*'} ${x#a}", &["x=a.tar.gz", "p a.tar.gz a.tar.gz .tar.gz"]),
        ("x=/a/b/c.d; p ${x##*/} ${x#*/} ${x%/*} ${x%%/*}", &["x=/a/b/c.d", "p c.d a/b/c.d /a/b"]),
        ("x='a b'; p \"${x% b}\" ${x%c}", &["x=a b", "p a a b"]),
        ("e=.c; x=a.c; p ${x%$e} ${x%\"$e\"}", &["e=.c", "x=a.c", "p a a"]),
        // Patterns that are not followed.
        ("x=abc; p ${x%?} ${x%[c]} ${x#*a*} ${x%*} ${x%b*c}", &["x=abc", "p ‹$x…› ‹$x…› ‹$x…› ‹$x…› ‹$x…›"]),
        ("x=abc; p ${x%$y} ${y%c}", &["x=abc", "p ‹$x…› ‹$y…›"]),
        ("x=$(a); p \"${x%c}\"", &["a", "x=‹$(0..1)›", "p ‹$x›"]),
        ("x=a; if c; then x=b; fi; p ${x%c}", &["x=a", "c", "x=b", "p ‹$x…›"]),
    ]);
    assert_read(
        ShellDialect::Bash,
        &[
            ("x=a-b-c; p ${x//-/_} ${x/-/_} ${x//-} ${x/-}", &["x=a-b-c", "p a_b_c a_b-c abc ab-c"]),
            ("x=aBc; p ${x,,} ${x^^}", &["x=aBc", "p abc ABC"]),
            (
                "x=abc; p ${x^} ${x,} ${x/#a/b} ${x/%c/b} ${x//b/&} ${x//?/b}",
                &["x=abc", "p ‹$x…› ‹$x…› ‹$x…› ‹$x…› ‹$x…› ‹$x…›"],
            ),
            ("x=äB; p ${x,,}", &["x=äB", "p ‹$x…›"]),
            ("x=abc; p ${x^^[b]}", &["x=abc", "p ‹$x…›"]),
            (
                "shopt -s nocasematch; x=aBc; p ${x//b/_}",
                &["builtin shopt -s nocasematch", "x=aBc", "p ‹$x…›"],
            ),
        ],
    );
    let listed = |text: &str| {
        let text = format!("for f in {text}; done");
        let context = ShellContext { directory: "/w", variables: Vec::new() };
        let reading = read(&text, ShellDialect::Bash, &context, &mut ShellBudget::default()).expect("a text");
        let last = reading.commands.last().and_then(|command| command.words.get(1)).expect("a word");
        let values = last.pieces.iter().find_map(|piece| match piece {
            WordPiece::Unknown { origin: UnknownOrigin::Listed { words, .. }, .. } => Some(words),
            _ => None,
        });
        let shown = |words: &Arc<[ShellWord]>| words.iter().map(word).collect::<Vec<_>>().join(" ");
        values.map_or_else(|| "?".to_owned(), shown)
    };
    for (text, expected) in [
        ("*.txt; do p \"${f%.txt}\"", "{*}"),
        ("*.txt b.txt; do p \"${f%.txt}\"", "{*} b"),
        ("*.txt; do p \"${f%.*}\"", "{*}"),
        ("*.tar.gz; do p \"${f%.*}\"", "{*}.tar"),
        ("*.tar.gz; do p \"${f%%.gz}\"", "{*}.tar"),
        ("*.txt; do p \"${f%.md}\"", "{*}.txt"),
        ("src/*.c a/b/*/x; do p \"${f##*/}\"", "{*}.c x"),
        ("src/*.c; do p \"${f%/*}\"", "src"),
        ("src/**/*.c; do p \"${f%/*}\"", "src/{*}{*}"),
        ("*.JPG; do p \"${f,,}\"", "{*}.jpg"),
        ("a-*.x; do p \"${f//-/_}\"", "a_{*}.x"),
        // What a pattern matches may hold what the edit looks for.
        ("*.txt; do p \"${f%%.*}\"", "?"),
        ("*; do p \"${f%.txt}\"", "?"),
        ("*t; do p \"${f%.txt}\"", "?"),
        ("*.txt; do p \"${f#*.}\"", "?"),
        ("src/**; do p \"${f%/*}\"", "?"),
        ("[ab].c; do p \"${f,,}\"", "?"),
        // A name would become a path, or `..`.
        ("*; do p ${f//a/\\/}", "?"),
        ("*; do p \"${f//a/.}\"", "?"),
        ("*; do p \"${f//a/-}\"", "?"),
        ("*; do p \"${f//a}\"", "?"),
    ] {
        assert_eq!(listed(text), expected, "{text}");
    }
}

#[test]
fn texts_of_two_meanings_are_refused_for_sh() {
    for (text, part) in [
        ("echo hi &>/dev/null rm -r x", "&>"),
        ("[[ a || rm -r x ]]", "[["),
        ("((rm -r x))", "(("),
        ("alias ls='rm -r'\nls x", "alias ls='rm -r'"),
        (r"$'\x72m' x", "$'"),
        ("{rm,-r,x}", "{rm,-r,x}"),
        ("echo {1..3}", "{1..3}"),
        ("diff <(ls a) <(ls b)", "<("),
        ("ls |& cat", "|&"),
        ("cat <<< x", "<<<"),
        ("a=(1 2)", "("),
        ("echo ${a[0]}", "${a["),
        ("echo ${x/a/b}", "${x/"),
        ("echo >&out x", ">&out"),
        ("echo 12>x", "12"),
        ("f() echo", "f"),
        ("a-b() { x; }", "a-b"),
        ("function f { x; }", "function"),
        ("select x in a; do b; done", "select"),
        ("x+=1", "x+=1"),
        ("a[0]=x", "a[0]=x"),
        ("time { a; }", "time"),
        ("time -o x a", "time"),
        ("time cd /", "time"),
        ("source x", "source x"),
        ("printf -v a x", "printf -v a x"),
        ("read -r 'a[0]'", "'a[0]'"),
        ("echo $((x++))", "++"),
        ("echo $[1]", "$["),
        ("echo `a \\`b\\``", "`a \\`"),
        ("echo \"${x:-'a'}\"", "'"),
        ("echo x >*", ">*"),
        ("cat <<E\na\\\nE\nE", "E"),
        ("in x", "in"),
        ("echo {fd}>x", "{fd}"),
    ] {
        let found = reading(text, ShellDialect::Sh);
        let is_refused = |kind: &str| found == [format!("{kind}: {part}")];
        assert!(is_refused("Ambiguous") || is_refused("Syntax"), "{text}: {found:?}");
    }
}

#[test]
fn constructs_of_bash_are_read() {
    assert_read(
        ShellDialect::Bash,
        &[
            ("a &>/dev/null rm", &["a rm &>/dev/null"]),
            ("[[ -f a && $x == b* || ! -d $(c) ]]", &["c"]),
            ("[[ $x -eq 1 ]]", &["(Arithmetic)"]),
            ("[[ -v $x ]]", &["(VariableName)"]),
            ("(( x = 1 + 2 )); p $x", &["p ‹number›"]),
            ("((x++))", &["(Arithmetic)"]),
            ("$'\\x72m' x", &["rm x"]),
            ("{rm,-r,x}", &["rm -r x"]),
            ("p {1..3}", &["p ‹braces…›"]),
            // Braces come before variables, whose names they may lengthen.
            ("X=p0; $X{p0,a} then", &["X=p0", "‹braces…› then"]),
            ("X=p0; p {a,$X}b", &["X=p0", "p ‹braces…›"]),
            ("X=p0; p {$,a}X", &["X=p0", "p ‹braces…›"]),
            ("X=p0; p $X{/a,.b} ${X}{a,b} \"$X\"{a,b}", &["X=p0", "p p0/a p0.b p0a p0b p0a p0b"]),
            ("p x=~/{a,b} x=~/a {x=~/c,d}", &["p x=~/a x=~/b x=/home/agent/a x=~/c d"]),
            ("a <(b) >(c)", &["b", "c (any input)", "a ‹<(0..1)› ‹<(1..2)›"]),
            ("a <()", &["a ‹<(0..0)…›"]),
            ("cat <<< \"$x\"", &["cat <<<‹$x› (text)"]),
            ("a |& b", &["a", "b (input 0..1)"]),
            ("a=(rm x); \"${a[@]}\"", &["a=?", "‹$a…›"]),
            ("a[1]=x; p ${a[1]}", &["a=?", "p ‹$a…›"]),
            ("p ${a[$i]}", &["p ‹$a…› (Arithmetic)"]),
            ("p ${x@P}", &["p ‹$x…› (Code)"]),
            ("p ${!x}", &["p ‹$x…› (VariableName)"]),
            ("p ${x/a/$(b)} ${x:1:2} ${x^^}", &["b", "p ‹$x…› ‹$x…› ‹$x…›"]),
            ("for ((i = 0; i < 3; i++)); do a; done", &["a"]),
            ("for i in {1..3} 7; do p $((i)); done", &["i=?", "p ‹number›"]),
            ("for i in {1..3} a; do p $((i)); done", &["i=?", "p ‹number› (Arithmetic)"]),
            ("for i in {a..c}; do p $((i)); done", &["i=?", "p ‹number› (Arithmetic)"]),
            ("x='a[$(p)]'; [[ x -eq 1 ]]", &["x=a[$(p)]", "p", "(Arithmetic)"]),
            ("x=1; ((x++)); [[ $x -eq 2 ]]", &["x=1"]),
            ("select x in a; do b; done", &["x=a", "b"]),
            ("function f { a; }; f", &["a (any input)", "function f"]),
            (
                ":() { :|:& };:",
                &["function : (any input) (ForkBomb)", "function : (input 0..1) (ForkBomb)", "function :"],
            ),
            ("alias ls=rm", &["builtin alias ls=rm (Renamed)"]),
            ("hash -p /bin/rm ls", &["builtin hash -p /bin/rm ls (Renamed)"]),
            ("declare -n r=x", &["builtin r=? declare -n r=x (VariableName)"]),
            ("export -f f", &["builtin export -f f (ExportedFunction)"]),
            ("shopt -s expand_aliases", &["builtin shopt -s expand_aliases (ShellOption)"]),
            ("set -o posix", &["builtin set -o posix (ShellOption)"]),
            ("x+=1; p $x", &["x=?", "p ‹$x…›"]),
            ("a &>>x", &["a &>>x"]),
            ("echo >&out x", &["builtin echo x &>out"]),
            ("time a | b", &["a", "b (input 0..1)"]),
            ("pushd /x && p", &["builtin pushd /x", "p (in /x)"]),
            ("let x=1+2; p $x", &["builtin let x=1+2", "p ‹number›"]),
        ],
    );
    for text in [
        "echo $((a[$(b)]))",
        "printf -v 'a[$(b)]' x",
        "read -r 'a[$(b)]' <<< x",
        "coproc a",
        "[[ a =~ (b) ]]",
        "unset 'a[$(b)]'",
        "declare 'a=($(b))'",
    ] {
        let found = reading(text, ShellDialect::Bash);
        assert!(found[0].starts_with("Unsupported: "), "{text}: {found:?}");
    }
}

#[test]
fn incomplete_texts_are_errors_at_their_place() {
    for (text, kind, part) in [
        ("echo $(", "Syntax", "$("),
        ("echo 'a", "Syntax", "'"),
        ("echo \"a", "Syntax", "\""),
        ("a &&", "Syntax", ""),
        ("if a; then b", "Syntax", ""),
        ("fi", "Syntax", "fi"),
        ("a ;; b", "Syntax", ";;"),
        ("a | | b", "Syntax", "|"),
        ("a >", "Syntax", ">"),
        ("a )", "Syntax", ")"),
        ("( )", "Syntax", ")"),
        ("{ }", "Syntax", "}"),
        ("a (b)", "Syntax", "b"),
        ("a b (c)", "Syntax", "("),
        ("cat <<E$[\t\t", "Ambiguous", "$["),
        ("cat <<E\nx\n", "Unsupported", "<<"),
        ("${", "Unsupported", "${"),
        ("echo ${x", "Syntax", "${"),
        ("a \\", "Unsupported", "\\"),
        ("echo $((1", "Syntax", "$("),
    ] {
        assert_eq!(reading(text, ShellDialect::Sh), [format!("{kind}: {part}")], "{text}");
    }
}

#[test]
fn texts_that_bash_reads_as_something_else_are_refused() {
    for (text, part) in [
        // The assignment goes on behind its list.
        ("A=(b)1 c", "1"),
        // The `-` ends the redirection, and a word follows.
        ("a >& --", ">& --"),
        ("a >&-b", ">&-b"),
        ("a <&-b", "<&-b"),
        ("a >&2-", ">&2-"),
        // Bash writes down the commands of a substitution and reads them again, without the separator that follows the one
        // after a heredoc.
        ("$(a <<E\nE\nb; c)", "<<E\nE\nb; c"),
        ("$(a <<E\nE\nb)", "<<E\nE\nb"),
        ("\"$({ a <<E; b; }\nE\n c)\"", "<<E; b; }\nE\n c"),
        ("a <(a <<E\nE\nb; c)", "<<E\nE\nb; c"),
        // The first word of a substitution on its line is a program.
        ("a $(time (b))", "time"),
        ("a $( time -p { b; })", "time"),
        ("a \"$(time ! (b))\"", "time"),
        ("a <(time if b; then c; fi)", "time"),
        ("a $(time ((1)))", "time"),
        ("a $(time [[ b ]])", "time"),
    ] {
        assert_eq!(reading(text, ShellDialect::Bash), [format!("Ambiguous: {part}")], "{text}");
    }
    for (text, commands) in [
        ("a >&- b", ["a b >&- (any input)"].as_slice()),
        ("A=(b); c", &["A=?", "c"]),
        ("(A=(b)) | c", &["A=?", "c (input 0..1)"]),
        ("$(a <<E\nE\n \n) b\nc", &["a <<'' (text)", "‹$(0..1)…› b", "c (anywhere)"]),
        ("$(`a <<E\nE\nb; c`)", &[]),
        ("$(a $(b <<E\nE\n); c)", &[]),
        ("a $(\ntime (b))", &[]),
        ("a $(b; time (c))", &[]),
        ("a $(time b)", &[]),
        ("a `time (b)`", &[]),
        ("(time (a))", &[]),
    ] {
        let found = reading(text, ShellDialect::Bash);
        assert!(
            found == commands || commands.is_empty() && !found[0].starts_with("Ambiguous"),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn limits_hold() {
    let kind = |text: &str| {
        let context = ShellContext { directory: "/w", variables: Vec::new() };
        let budget = &mut ShellBudget::default();
        read(text, ShellDialect::Bash, &context, budget).map(|_| ()).map_err(|error| error.kind)
    };
    assert_eq!(kind(&"a".repeat(65_537)), Err(UnreadableKind::TooLong));
    assert_eq!(kind(&"a".repeat(65_536)), Ok(()));
    for deep in ["(", "$(", "{ ", "${x:-", "\"$(", "$((", "if ", "! ", "[[ ! ", "f() { "] {
        let found = kind(&deep.repeat(5_000));
        assert!(
            matches!(
                found,
                Err(UnreadableKind::TooComplex
                    | UnreadableKind::Syntax
                    | UnreadableKind::Unsupported
                    | UnreadableKind::Ambiguous)
            ),
            "{deep}: {found:?}"
        );
    }
    let nested = |depth: usize| format!("{}a{}", "( ".repeat(depth), ")".repeat(depth));
    assert_eq!(kind(&nested(60)), Ok(()));
    assert_eq!(kind(&nested(70)), Err(UnreadableKind::TooComplex));
    assert_eq!(kind(&"a;".repeat(2_000)), Ok(()));
    assert_eq!(kind(&"a b c;".repeat(10_000)), Err(UnreadableKind::TooComplex));
    // A text in a text, in a text.
    let mut text = "a".to_owned();
    for _ in 0..10 {
        text = format!("eval {}", text.replace('\\', "\\\\").replace(' ', "\\ "));
    }
    assert!(matches!(kind(&text), Ok(()) | Err(UnreadableKind::TooComplex | UnreadableKind::TooLong)));
}

#[test]
fn an_open_quote_at_the_end_of_a_text_is_located_within_the_text() {
    for text in ["ls $'a\\", "ls $'", "`ls $'a\\`"] {
        let error = check(text, ShellDialect::Bash).expect_err("an open quote");
        assert!(text.get(error.span.range()).is_some(), "{text}: {error:?}");
    }
}

#[test]
fn a_variable_that_doubles_itself_stays_small() {
    let text = format!("X=p; {}p0 \"$X\"", "X=\"$X$X\"; ".repeat(60));
    let reading = read(&text, ShellDialect::Sh, &ShellContext::default(), &mut ShellBudget::default());
    let reading = reading.expect("a text");
    let last = reading.commands.last().expect("a command");
    assert_eq!(last.words[1].text(), None);
}
