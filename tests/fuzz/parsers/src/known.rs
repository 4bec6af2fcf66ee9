//! Known disagreements, as data.

/// Lines of parser, dialect (`any` for both), the text that leads to the disagreement, and the reason.
const DATA: &str = include_str!("../disagreements.tsv");

struct Disagreement {
    parser: &'static str,
    dialect: &'static str,
    fragment: String,
    reason: &'static str,
}

/// Texts that a parser refuses though the shells accept them.
pub(crate) struct Disagreements(Vec<Disagreement>);

impl Disagreements {
    pub(crate) fn read() -> Self {
        let lines = DATA.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let one = |line: &'static str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [parser, dialect, fragment, reason] = fields[..] else { panic!("four fields: {line}") };
            Disagreement { parser, dialect, fragment: fragment.replace("\\n", "\n"), reason }
        };
        Self(lines.map(one).collect())
    }

    /// Returns the reason why a parser refuses a text, if it is a known one.
    pub(crate) fn reason(&self, parser: &str, dialect: &str, text: &str) -> Option<&'static str> {
        let is_it = |known: &&Disagreement| {
            known.parser == parser
                && (known.dialect == "any" || known.dialect == dialect)
                && text.contains(&known.fragment)
        };
        self.0.iter().find(is_it).map(|known| known.reason)
    }
}
