//! Random templates, compared with what Jinja2 makes of them: ccm writes the same text, or refuses.

use ccm_testkit::{Random, Scratch, shell, skipped, usual_or_long};

use super::*;
use crate::printed::to_json;

/// Number of templates; `CCM_TEST_LONG` selects the greater one.
const TEMPLATES: (usize, usize) = (300, 20_000);

/// Maker of templates.
struct Templates(Random);

const ATOMS: [&str; 40] = [
    "0",
    "1",
    "2",
    "7",
    "0.5",
    "2.0",
    "1e3",
    "''",
    "'a'",
    "'b c'",
    "'10'",
    "'2.5'",
    "'no'",
    "'A,b'",
    "'x\\n y\\n'",
    "'/etc/a b.conf'",
    "\"it's\"",
    "true",
    "false",
    "none",
    "data.count",
    "data.ratio",
    "data.name",
    "data.flag",
    "data.nothing",
    "data.port_text",
    "data.one_text",
    "data.no_text",
    "data.lines",
    "data.list",
    "data.words",
    "data.mixed",
    "data.map",
    "data.maps",
    "data.empty",
    "data['name']",
    "[]",
    "[1, 2]",
    "['b', 'a']",
    "{'k': 1, 'j': 'x'}",
];

const OPERATORS: [&str; 20] = [
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or",
    "<", "==",
];

/// Filters, tests, members and methods, after an expression; `@` is another expression.
const SUFFIXES: [&str; 88] = [
    "|upper",
    "|lower",
    "|title",
    "|capitalize",
    "|trim",
    "|length",
    "|first",
    "|last",
    "|sort",
    "|sort(reverse=true)",
    "|sort(attribute='k')",
    "|min",
    "|max",
    "|sum",
    "|unique|list",
    "|reverse|list",
    "|join(',')",
    "|join",
    "|int",
    "|int(1)",
    "|float",
    "|abs",
    "|round",
    "|round(1)",
    "|list",
    "|default(@)",
    "|default(@, true)",
    "|replace('a', @)",
    "|replace('a', 'b', 1)",
    "|indent(2)",
    "|indent(3, true)",
    "|indent(2, blank=true)",
    "|center(7)",
    "|truncate(5)",
    "|truncate(3, true, '')",
    "|wordcount",
    "|urlencode",
    "|filesizeformat",
    "|dictsort",
    "|map('upper')|list",
    "|map(attribute='k')|list",
    "|select|list",
    "|select('gt', @)|list",
    "|reject('eq', @)|list",
    "|selectattr('k')|list",
    "|selectattr('k', 'gt', 1)|list",
    "|batch(2)|list",
    "|slice(2)|list",
    "|bool",
    "|ternary(@, 2)",
    "|split(',')",
    "|b64encode",
    "|b64decode",
    "|basename",
    "|dirname",
    "|quote",
    "|union(@)",
    "|difference(@)",
    "|intersect(@)",
    "|symmetric_difference(@)",
    "|flatten",
    "|combine(@)",
    "|dict2items",
    "|product(@)",
    "|zip(@)|list",
    "|regex_replace('[ab]', '<\\\\g<0>>')",
    "|regex_replace('x*', '-')",
    "|regex_search('b(.)')",
    "|regex_search('(a)', '\\\\1')",
    "|regex_findall('[a-z]')",
    " is defined",
    " is none",
    " is string",
    " is number",
    " is mapping",
    " is eq(@)",
    " is lt(@)",
    " is divisibleby 2",
    "[0]",
    "[-1]",
    "[1:]",
    ".split(',')",
    ".split()",
    ".rsplit('b', 1)",
    ".strip()",
    ".startswith('a')",
    ".replace('a', 'x', 1)",
    ".items()|list",
];

impl Templates {
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.0.one_of(&ATOMS).to_owned();
        }
        let depth = depth - 1;
        match self.0.below(12) {
            0..=3 => {
                let (left, right) = (self.expression(depth), self.expression(depth));
                format!("{left} {} {right}", self.0.one_of(&OPERATORS))
            }
            4 => format!("({})", self.expression(depth)),
            5 => format!("{}{}", self.0.one_of(&["not ", "-"]), self.expression(depth)),
            6 => format!(
                "{} if {} else {}",
                self.expression(depth),
                self.expression(depth),
                self.expression(depth)
            ),
            7 => {
                let (one, two, three) =
                    (self.expression(depth), self.0.one_of(&ATOMS), self.0.one_of(&ATOMS));
                format!(
                    "{one} {} {two} {} {three}",
                    self.0.one_of(&["<", "==", "<="]),
                    self.0.one_of(&["<", ">=", "!="])
                )
            }
            _ => {
                let suffix = self.0.one_of(&SUFFIXES).replace('@', self.0.one_of(&ATOMS));
                let operand = match self.0.below(3) {
                    0 => format!("({})", self.expression(depth)),
                    _ => self.0.one_of(&ATOMS).to_owned(),
                };
                format!("{operand}{suffix}")
            }
        }
    }

    fn piece(&mut self) -> String {
        let depth = self.0.below(4);
        let expression = self.expression(depth);
        let (open, close) =
            (self.0.one_of(&["{%", "{%-", "{%", "  {%"]), self.0.one_of(&["%}", "-%}", "%}\n", "%}"]));
        match self.0.below(8) {
            0 => format!("{open} if {expression} {close}yes{open} else {close}no{open} endif {close}"),
            1 => {
                let other = self.expression(1);
                format!("{open} if {expression} {close}a{open} elif {other} {close}b{open} endif {close}")
            }
            2 => {
                let condition =
                    if self.0.below(2) == 0 { format!(" if {}", self.expression(1)) } else { String::new() };
                format!(
                    "{open} for x in {expression}{condition} {close}{{{{ loop.index }}}}{{{{ x }}}}{open} else \
                     {close}none{open} endfor {close}"
                )
            }
            3 => format!("{open} set v = {expression} {close}{{{{ v }}}}"),
            4 => format!(
                "{open} with a = {expression}, b = 2 {close}{{{{ a }}}}{{{{ b }}}}{open} endwith {close}"
            ),
            5 => format!(
                "{open} macro m(p, q={expression}) {close}{{{{ q }}}}{open} endmacro {close}{{{{ m(1) }}}}"
            ),
            _ => format!("{{{{ {expression} }}}}"),
        }
    }

    fn template(&mut self) -> String {
        let mut text = match self.0.below(5) {
            0 => "#jinja2: trim_blocks: true, lstrip_blocks: true\n".to_owned(),
            1 => "#jinja2: trim_blocks: true\n".to_owned(),
            _ => String::new(),
        };
        for _ in 0..=self.0.below(2) {
            text += self.0.one_of(&["", "a", "a\n", " \n  ", "# c\n"]);
            text += &self.piece();
            text += self.0.one_of(&["", "\n", " \n", "z"]);
        }
        text
    }
}

fn data() -> Value {
    Value::map([
        ("count", Value::Int(3)),
        ("ratio", Value::Float(0.5)),
        ("name", Value::text("web")),
        ("flag", Value::Bool(true)),
        ("nothing", Value::Null),
        ("port_text", Value::text("8080")),
        ("one_text", Value::text("1.0")),
        ("no_text", Value::text("no")),
        ("lines", Value::text("a\nb\n\nc\n")),
        ("list", Value::list([Value::Int(3), Value::Int(1), Value::Int(2)])),
        ("words", Value::list(["b", "a", "C"].map(Value::text))),
        ("mixed", Value::list([Value::Int(1), Value::text("1"), Value::Bool(true), Value::Null])),
        ("map", Value::map([("b", Value::Int(1)), ("a", Value::text("x"))])),
        (
            "maps",
            Value::list([
                Value::map([("k", Value::Int(2)), ("v", Value::text("y"))]),
                Value::map([("k", Value::Int(1)), ("v", Value::text("x"))]),
            ]),
        ),
        ("empty", Value::list([])),
    ])
}

struct DataScope(Value, Cell<usize>);

impl TemplateScope for DataScope {
    fn renders(&self) -> &Cell<usize> {
        &self.1
    }

    fn name(&self, name: &str) -> Option<Value> {
        (name == "Data").then(|| self.0.clone())
    }

    fn call(&self, _: &str, _: &[Value]) -> Result<Value, ScopeError> {
        Err(ScopeError::new(DiagnosticKind::EvaluationFailed, "no function"))
    }

    fn include(&self, _: &str) -> Result<Option<String>, ScopeError> {
        Ok(None)
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the test wants to know how many were compared")]
fn templates_are_those_of_jinja2_or_errors() {
    let scratch = Scratch::new();
    if shell("python3 -c 'import jinja2; print(jinja2.__version__ >= \"3.1\")'", scratch.path()).trim()
        != "True"
    {
        return skipped("Jinja2 3.1 is not installed");
    }
    let count = usual_or_long(TEMPLATES.0, TEMPLATES.1);
    let mut random = Templates(Random::new(0x2545_f491_4f6c_dd1d));
    let templates: Vec<String> = (0..count).map(|_| random.template()).collect();
    scratch.write("templates", serde_json::to_string(&templates).expect("JSON"));
    scratch.write("data", to_json(&data()).to_string());
    scratch.write("jinja2.py", include_str!("jinja2.py"));
    let printed = shell("PYTHONSAFEPATH=1 python3 -W ignore jinja2.py", scratch.path());
    let theirs: Vec<Option<String>> =
        printed.lines().map(|line| serde_json::from_str(line).expect("a text or null")).collect();
    assert_eq!(theirs.len(), count);
    let scope = DataScope(data(), Cell::default());
    let mut counts = [0; 3];
    let mut different = String::new();
    for (template, theirs) in templates.iter().zip(theirs) {
        match (render("t.j2", template, &scope), theirs) {
            (Ok(ours), Some(theirs)) if ours == theirs => counts[0] += 1,
            (Err(_), Some(_)) => counts[1] += 1,
            (Err(_), None) => counts[2] += 1,
            (Ok(ours), theirs) => {
                writeln!(different, "{template:?}\n    ccm {ours:?}\n    Jinja2 {theirs:?}")
                    .expect("written");
            }
        }
    }
    eprintln!("{count} templates; same, error in ccm alone, error in both: {counts:?}");
    assert!(different.is_empty(), "{different}");
}
