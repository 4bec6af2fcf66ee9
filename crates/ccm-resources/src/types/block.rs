//! The block resource: lines of a text file between two marker lines.

mod desired;
mod plan;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, Diagnostic, DiagnosticKind, Resource};
use ccm_properties::{
    CheckInput, CommandsView, PropertyError, Providers, TextPart, TextView, TypeSpec, TypedResource,
};

use crate::parts::text::{PartEditor, PartKind, detached, path_claim, path_of, unread_path};
use crate::parts::validator::VALIDATE;
use crate::support::export::without_state;
use desired::DesiredBlock;
use properties::BlockProperties;

#[derive(Debug)]
pub(crate) struct BlockType;

without_state!(
    BlockType,
    "a `block` is a part of a file, which can't be told from the other lines",
    "export the file: `ccm resource file PATH`"
);

impl TypedResource for BlockType {
    type Written = BlockProperties;
    type Desired = DesiredBlock;
    type Provider = dyn DynProvider<PartKind<DesiredBlock>>;

    const NAME: &'static str = "block";
    const SUMMARY: &'static str = "Manages lines of a text file between two marker lines.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PartEditor::<DesiredBlock>::NEW)];

    fn build(resource: &Resource, written: BlockProperties) -> Result<DesiredBlock, Vec<PropertyError>> {
        DesiredBlock::build(resource, written)
    }

    fn warnings(_: &DesiredBlock, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        unread_path(resource).into_iter().chain(foreign_comment(resource)).collect()
    }
}

/// Beginnings and ends of comments in files where `#` begins none, by the ending of the name. An empty one has no
/// comments at all.
const COMMENTS: [(&[&str], &str, &str); 5] = [
    (&["json"], "", ""),
    (&["xml", "html", "htm", "svg", "plist", "xsl"], "<!--", "-->"),
    (&["css"], "/*", "*/"),
    (&["js", "ts", "c", "h", "java", "go", "rs", "scss"], "//", ""),
    (&["sql", "lua", "hs"], "--", ""),
];

/// Returns the warning about a block whose markers are no comments in this file.
fn foreign_comment(resource: &Resource) -> Option<Diagnostic> {
    let path = path_of(resource).filter(|_| !resource.is_absent())?;
    if resource.properties.get("comment").is_some() {
        return None;
    }
    let ending = path.rsplit_once('.')?.1;
    let (_, comment, end) = match path.rsplit('/').next()? {
        // Since PHP 7.
        "php.ini" => (&[][..], ";", ""),
        _ => *COMMENTS.iter().find(|(endings, _, _)| endings.contains(&ending))?,
    };
    let span = resource.properties.get("path").map_or(resource.span, |node| node.span);
    let message = "`#` begins no comment in this file, and the markers of a block are comments";
    let hint = match (comment, end) {
        ("", _) => "write the whole file with a `file`: it has no comments".to_owned(),
        (comment, "") => format!("write `comment: \"{comment}\"`"),
        (comment, end) => format!("write `comment: \"{comment}\"` and `comment_end: \"{end}\"`"),
    };
    Some(Diagnostic::warning(DiagnosticKind::InvalidValue, span, message).with_hint(hint))
}

impl TypeSpec for BlockType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        path_claim(resource).into_iter().collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }

    fn text(&self) -> Option<&dyn TextView> {
        Some(self)
    }
}

impl TextView for BlockType {
    fn changes_other_lines(&self, _: &Resource) -> bool {
        false
    }

    fn part(&self, resource: &Resource) -> Option<Box<dyn TextPart>> {
        detached::<Self>(resource)
    }
}
