//! Comparison of `ccm-shell` with two other parsers of shell text.
//!
//! `shell-parsers [TEXTS [SEED]]` generates texts, and compares which of them ccm and the parsers accept. It fails if a
//! parser refuses a text that ccm accepts and `disagreements.tsv` does not name the reason. The opposite is only
//! counted: ccm refuses whatever it can't follow.
//!
//! Both parsers die of hostile input, so that each runs in a process of its own with limits of memory and time.

mod child;
mod known;
// The generator alone: the whole of `ccm-fuzz` would bring all of ccm.
#[allow(dead_code, reason = "only the numbers are used")]
#[path = "../../../../crates/ccm-fuzz/src/mutation.rs"]
mod mutation;
#[allow(dead_code, reason = "no program is started here")]
#[path = "../../../../crates/ccm-fuzz/src/shell_texts.rs"]
mod shell_texts;

use std::collections::BTreeMap;
use std::process::ExitCode;

use ccm_shell::{ShellDialect, check};

use child::{Oracle, Verdict};
use known::Disagreements;
use shell_texts::shell_text;

/// Number of unexplained texts that are printed of each parser, the shortest first.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, parser, dialect] = &arguments[..]
        && flag == child::FLAG
    {
        child::serve(parser, dialect);
        return ExitCode::SUCCESS;
    }
    let number = |position: usize, usual| {
        arguments.get(position).map_or(usual, |text| text.parse::<u64>().expect("a number"))
    };
    let (count, seed) = (number(0, 20_000), number(1, 20));
    let texts: Vec<String> = corpus().chain((0..count).map(|number| shell_text(seed, number))).collect();

    let known = Disagreements::read();
    let mut is_explained = true;
    for parser in child::PARSERS {
        for (dialect, name) in [(ShellDialect::Sh, "sh"), (ShellDialect::Bash, "bash")] {
            let mut oracle = Oracle::new(parser, name);
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            let mut unexplained = Vec::new();
            for text in &texts {
                let accepts = check(text, dialect).is_ok();
                let verdict = oracle.ask(text);
                let key = match (accepts, verdict) {
                    (true, Verdict::Accepted) => "both accept".to_owned(),
                    (false, Verdict::Refused) => "both refuse".to_owned(),
                    (false, Verdict::Accepted) => "only the parser accepts".to_owned(),
                    (_, Verdict::Died) => "the parser dies".to_owned(),
                    (true, Verdict::Refused) => match known.reason(parser, name, text) {
                        Some(reason) => format!("only ccm accepts: {reason}"),
                        None => {
                            unexplained.push(text);
                            "only ccm accepts, unexplained".to_owned()
                        }
                    },
                };
                *counts.entry(key).or_default() += 1;
            }
            is_explained &= unexplained.is_empty();
            unexplained.sort_by_key(|text| text.len());
            for text in unexplained.iter().take(SHOWN) {
                println!("{parser} refuses for {name}:\n{text}\n--");
            }
            println!("{parser}, {name}, {} texts of seed {seed}:", texts.len());
            for (key, count) in counts {
                println!("  {count:>7} {key}");
            }
        }
    }
    if is_explained { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the texts of the corpus.
fn corpus() -> impl Iterator<Item = String> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/shell");
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .expect("the corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    paths.into_iter().filter_map(|path| std::fs::read_to_string(path).ok())
}
