//! Variables that a loop sets and that something outside of the round reads.
//!
//! A `set` in a `for` ends with its round, in minijinja as in Jinja2: what reads the name after the loop, or in the
//! next round, gets the value of before the loop without a word.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::error::TemplateFault;
use super::operators::RefusedTag;
use super::scan::{Scan, TagToken, TagTokens, TemplateTag};

/// Maximum number of names that are followed through a template.
const MAX_NAMES: usize = 100;

/// What is known of names at one point of a block.
#[derive(Clone, Default)]
struct KnownNames<'text> {
    /// Parameters, targets of a loop, and names that were set.
    own: HashSet<&'text str>,
    /// Names that were set; their values end with the block.
    set: HashSet<&'text str>,
    /// Names that a loop within the block set.
    lost: HashSet<&'text str>,
    /// Names of outside, each with the first place that reads it.
    read: HashMap<&'text str, Range<usize>>,
}

impl KnownNames<'_> {
    /// Adds what another branch of an `if` knows.
    fn add(&mut self, other: Self) {
        self.own.extend(other.own);
        self.set.extend(other.set);
        self.lost.extend(other.lost);
        for (name, range) in other.read {
            self.read.entry(name).or_insert(range);
        }
    }
}

/// Open block with names of its own.
struct Block<'text> {
    keyword: &'text str,
    known: KnownNames<'text>,
    /// Open `if` tags: what was known before each, and the branches that ended.
    branches: Vec<(KnownNames<'text>, Vec<KnownNames<'text>>)>,
}

impl<'text> Block<'text> {
    fn new(keyword: &'text str, own: impl Iterator<Item = &'text str>) -> Self {
        let known = KnownNames { own: own.collect(), ..KnownNames::default() };
        Self { keyword, known, branches: Vec::new() }
    }
}

/// Reader of the tags of a template, in their order.
struct LoopVariables<'text> {
    /// Names that some loop sets.
    followed: HashSet<&'text str>,
    blocks: Vec<Block<'text>>,
}

/// Returns the first tag that reads a name as if the `set` of a loop had lasted.
pub(super) fn lost_variable(scan: &Scan<'_>) -> Option<RefusedTag> {
    let followed = set_in_loops(scan);
    if followed.is_empty() {
        return None;
    }
    let mut reader = LoopVariables { followed, blocks: vec![Block::new("", std::iter::empty())] };
    scan.tags().find_map(|tag| match tag {
        TemplateTag::Expression(tokens) => reader.reads(tokens, 0, &[]),
        TemplateTag::Statement(tokens) => reader.statement(tokens),
    })
}

/// Returns the names that a `set` in a `for` assigns to.
fn set_in_loops<'text>(scan: &Scan<'text>) -> HashSet<&'text str> {
    let (mut open, mut followed) = (0_usize, HashSet::new());
    for tag in scan.tags() {
        let TemplateTag::Statement(tokens) = tag else { continue };
        match tokens.first() {
            Some(TagToken::Name("for")) => open += 1,
            Some(TagToken::Name("endfor")) => open = open.saturating_sub(1),
            Some(TagToken::Name("set")) if open > 0 && followed.len() < MAX_NAMES => {
                followed.extend(targets(tokens).unwrap_or_default());
            }
            _ => {}
        }
    }
    followed
}

/// Returns the names that a `set` assigns to; `None` for the member of a namespace, which lasts.
fn targets<'text>(tokens: TagTokens<'_, 'text>) -> Option<Vec<&'text str>> {
    let written = match tokens.iter().position(|token| *token == TagToken::Symbol(b'=')) {
        Some(sign) => &tokens[1..sign],
        // The block form: `{% set name %}` or `{% set name | filter %}`.
        None => tokens.get(1..2)?,
    };
    (!written.contains(&TagToken::Symbol(b'.'))).then(|| names(written).collect())
}

fn names<'text>(tokens: &[TagToken<'text>]) -> impl Iterator<Item = &'text str> {
    tokens.iter().filter_map(|token| match token {
        TagToken::Name(name) => Some(*name),
        _ => None,
    })
}

/// Returns the variable that a token reads.
fn variable<'text>(tokens: &[TagToken<'text>], at: usize) -> Option<&'text str> {
    let TagToken::Name(name) = tokens[at] else { return None };
    let before = at.checked_sub(1).map(|before| tokens[before]);
    let is_sign = |at: usize| tokens.get(at) == Some(&TagToken::Symbol(b'='));
    let is_member = matches!(before, Some(TagToken::Symbol(b'.' | b'|') | TagToken::Name("is")));
    let is_argument_name = is_sign(at + 1) && !is_sign(at + 2);
    (!is_member && !is_argument_name).then_some(name)
}

impl<'text> LoopVariables<'text> {
    fn statement(&mut self, tokens: TagTokens<'_, 'text>) -> Option<RefusedTag> {
        let Some(TagToken::Name(keyword)) = tokens.first().copied() else { return None };
        match keyword {
            "set" => return self.assignment(tokens),
            "for" => {
                let list = tokens.iter().position(|token| *token == TagToken::Name("in"))?;
                let found = self.reads(tokens, list + 1, &[]);
                self.blocks.push(Block::new(keyword, names(&tokens[1..list])));
                return found;
            }
            "macro" => self.blocks.push(Block::new(keyword, names(&tokens[1..]))),
            "call" | "with" | "block" => {
                let found = self.reads(tokens, 1, &[]);
                self.blocks.push(Block::new(keyword, names(&tokens[1..])));
                return found;
            }
            "endfor" | "endmacro" | "endcall" | "endwith" | "endblock" => self.close(&keyword[3..]),
            "import" | "from" => {
                let known = &mut self.blocks.last_mut()?.known;
                for name in names(&tokens[1..]) {
                    known.own.insert(name);
                    known.lost.remove(name);
                }
            }
            "if" => {
                let found = self.reads(tokens, 1, &[]);
                let block = self.blocks.last_mut()?;
                block.branches.push((block.known.clone(), Vec::new()));
                return found;
            }
            "elif" | "else" => {
                let block = self.blocks.last_mut()?;
                if let Some((before, ended)) = block.branches.last_mut() {
                    ended.push(std::mem::replace(&mut block.known, before.clone()));
                }
                return self.reads(tokens, 1, &[]);
            }
            "endif" => {
                let block = self.blocks.last_mut()?;
                let (_, ended) = block.branches.pop()?;
                for branch in ended {
                    block.known.add(branch);
                }
            }
            _ => return self.reads(tokens, 1, &[]),
        }
        None
    }

    fn assignment(&mut self, tokens: TagTokens<'_, 'text>) -> Option<RefusedTag> {
        let targets = targets(tokens).unwrap_or_default();
        let sign = tokens.iter().position(|token| *token == TagToken::Symbol(b'=')).unwrap_or(1);
        if let Some(found) = self.reads(tokens, sign + 1, &targets) {
            return Some(found);
        }
        let block = self.blocks.last_mut()?;
        for name in targets.into_iter().filter(|name| self.followed.contains(name)) {
            let early = block.known.read.remove(name).filter(|_| block.keyword == "for");
            if let Some(range) = early {
                return Some(refused(name, range, "below"));
            }
            block.known.lost.remove(name);
            if block.known.own.insert(name) {
                block.known.set.insert(name);
            }
        }
        None
    }

    fn close(&mut self, opened: &str) {
        if self.blocks.len() < 2 || self.blocks.last().is_none_or(|block| block.keyword != opened) {
            return;
        }
        let (Some(Block { known, .. }), Some(outer)) = (self.blocks.pop(), self.blocks.last_mut()) else {
            return;
        };
        match opened {
            // Its text is written elsewhere.
            "macro" => return,
            "for" => outer.known.lost.extend(known.set),
            _ => {}
        }
        outer.known.lost.extend(known.lost.difference(&known.own));
    }

    /// Reads the variables of a tag. `x = x + 1` in a loop may mean the `x` of outside: names that the tag `assigns` are
    /// not kept.
    fn reads(&mut self, tokens: TagTokens<'_, 'text>, from: usize, assigned: &[&str]) -> Option<RefusedTag> {
        (from..tokens.len()).find_map(|at| {
            let name = variable(&tokens, at).filter(|name| self.followed.contains(name))?;
            self.read(name, &tokens.ranges[at], assigned.contains(&name))
        })
    }

    fn read(&mut self, name: &'text str, range: &Range<usize>, is_assigned: bool) -> Option<RefusedTag> {
        for block in self.blocks.iter_mut().rev() {
            if block.known.lost.contains(name) {
                return Some(refused(name, range.clone(), "above"));
            }
            if block.known.own.contains(name) || block.keyword == "macro" {
                return None;
            }
            if !is_assigned {
                block.known.read.entry(name).or_insert_with(|| range.clone());
            }
        }
        None
    }
}

fn refused(name: &str, range: Range<usize>, side: &str) -> RefusedTag {
    let message =
        format!("`{name}` is not what the loop {side} sets: a `set` in a `for` ends with each round");
    let hint = format!(
        "write `{{% set ns = namespace({name}=…) %}}` before the loop, then `{{% set ns.{name} = … %}}` and `ns.{name}`"
    );
    RefusedTag { range, fault: TemplateFault::Operation(message), hint: hint.into() }
}
