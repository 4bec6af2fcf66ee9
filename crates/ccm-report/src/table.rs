//! Tables that fit their receiver.

use crate::screen::{Screen, columns};

/// Number of blanks between two columns.
const GAP: usize = 2;
/// Number of blanks before the further lines of a row that takes several.
const INDENT: usize = 2;

/// Column of a table: its head, and what may be done to make a table fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    head: &'static str,
    /// Width to which its cells may be cut. `None` if a part of a cell is of no use.
    cut_to: Option<usize>,
    is_optional: bool,
}

impl Column {
    /// Builds a column whose cells are shown in full.
    pub const fn new(head: &'static str) -> Self {
        Self { head, cut_to: None, is_optional: false }
    }

    /// Allows to cut long cells in the middle, but not below a width.
    #[must_use]
    pub const fn cut_to(self, width: usize) -> Self {
        Self { cut_to: Some(width), ..self }
    }

    /// Allows to leave the column out if each row then fits on a line. The first of such columns is left out first.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}

/// Returns aligned columns below their heads. If they are wider than the receiver, long cells are cut, then optional
/// columns are left out; if that is not enough, a row takes several lines.
pub fn table<const N: usize>(table: [Column; N], rows: &[[String; N]], screen: Screen) -> String {
    let natural: Vec<usize> = (0..N)
        .map(|at| {
            let cells = rows.iter().map(|row| columns(&row[at]));
            cells.chain([columns(table[at].head)]).max().unwrap_or_default()
        })
        .collect();
    let lines = match screen.width {
        None => vec![(0..N).map(|at| (at, natural[at])).collect()],
        Some(width) => fitting(&table, &natural, width),
    };
    let heads = table.map(|column| column.head.to_owned());
    let mut text = String::new();
    for row in [&heads].into_iter().chain(rows) {
        for (number, line) in lines.iter().enumerate() {
            text += &" ".repeat(if number == 0 { 0 } else { INDENT });
            let start = text.len();
            for (at, width) in line {
                let cell = screen.cut(&row[*at], *width);
                text += &cell;
                text += &" ".repeat(width - columns(&cell) + GAP);
            }
            text.truncate(start + text[start..].trim_end().len());
            text.push('\n');
        }
    }
    text
}

/// Columns on one line, each with its position and its width.
type Line = Vec<(usize, usize)>;

/// Returns the lines of a row that fit a width.
fn fitting(table: &[Column], natural: &[usize], width: usize) -> Vec<Line> {
    let minimum = |at: usize| {
        let cut_to = table[at].cut_to.map(|cut_to| cut_to.max(columns(table[at].head)));
        cut_to.map_or(natural[at], |cut_to| cut_to.min(natural[at]))
    };
    let minima: Line = (0..table.len()).map(|at| (at, minimum(at))).collect();
    let mut line = minima.clone();
    while total(&line) > width {
        let Some(least) = line.iter().position(|(at, _)| table[*at].is_optional) else { break };
        line.remove(least);
    }
    if total(&line) <= width {
        return vec![widened(line, natural, width)];
    }
    let mut lines: Vec<Line> = vec![Vec::new()];
    for (at, wanted) in minima {
        let is_first = lines.len() == 1;
        let room = if is_first { width } else { width.saturating_sub(INDENT) };
        if let Some(last) = lines.last_mut()
            && (last.is_empty() || total(last) + GAP + wanted <= room)
        {
            last.push((at, wanted.min(room)));
        } else {
            lines.push(vec![(at, wanted.min(width.saturating_sub(INDENT)))]);
        }
    }
    let room = |number: usize| if number == 0 { width } else { width.saturating_sub(INDENT) };
    lines.into_iter().enumerate().map(|(number, line)| widened(line, natural, room(number))).collect()
}

/// Returns the number of columns of a terminal that a line takes.
fn total(line: &Line) -> usize {
    line.iter().map(|(_, width)| width).sum::<usize>() + GAP * line.len().saturating_sub(1)
}

/// Gives the room that a line leaves to the narrowest of the columns that are cut.
fn widened(mut line: Line, natural: &[usize], room: usize) -> Line {
    for _ in total(&line)..room {
        let cut = line.iter_mut().filter(|(at, width)| *width < natural[*at]);
        let Some((_, width)) = cut.min_by_key(|(_, width)| *width) else { break };
        *width += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 5] = [
        Column::new("AGE"),
        Column::new("TOOK").optional(),
        Column::new("RUN"),
        Column::new("BY").cut_to(8),
        Column::new("MANIFEST").cut_to(14),
    ];

    fn shown(width: Option<usize>, is_unicode: bool) -> String {
        let row = |cells: [&str; 5]| cells.map(str::to_owned);
        let rows = [
            row(["3h", "12ms", "01a200c1-277e", "ccm-apply@site", "/srv/manifests/of/the/team/web.yaml"]),
            row(["12m", "1.2s", "01a200c1-277f", "ada", "/srv/日本語/日本語/日本語/日本語.yaml"]),
        ];
        table(COLUMNS, &rows, Screen { width, is_unicode })
    }

    #[test]
    fn a_table_fits_its_receiver() {
        let wide = "\
AGE  TOOK  RUN            BY              MANIFEST
3h   12ms  01a200c1-277e  ccm-apply@site  /srv/manifests/of/the/team/web.yaml
12m  1.2s  01a200c1-277f  ada             /srv/日本語/日本語/日本語/日本語.yaml
";
        for (width, is_unicode, expected) in [
            (None, true, wide),
            (Some(200), true, wide),
            (Some(80), true, wide),
            (
                Some(72),
                true,
                "\
AGE  TOOK  RUN            BY              MANIFEST
3h   12ms  01a200c1-277e  ccm-apply@site  /srv/manifests/of/th…/web.yaml
12m  1.2s  01a200c1-277f  ada             /srv/日本語/日本…/日本語.yaml
",
            ),
            (
                Some(46),
                true,
                "\
AGE  RUN            BY          MANIFEST
3h   01a200c1-277e  ccm-a…site  /srv…/web.yaml
12m  01a200c1-277f  ada         /srv/日….yaml
",
            ),
            (
                Some(40),
                true,
                "\
AGE  TOOK  RUN            BY
  MANIFEST
3h   12ms  01a200c1-277e  ccm-apply@site
  /srv/manifests/of/the/team/web.yaml
12m  1.2s  01a200c1-277f  ada
  /srv/日本語/日本語/日本語/日本語.yaml
",
            ),
            (
                Some(38),
                false,
                "\
AGE  TOOK  RUN            BY
  MANIFEST
3h   12ms  01a200c1-277e  ccm-a...site
  /srv/manifests/of/the/team/web.yaml
12m  1.2s  01a200c1-277f  ada
  /srv/日本語/日本語/日.../日本語.yaml
",
            ),
            (
                Some(10),
                true,
                "\
AGE  TOOK
  RUN
  BY
  MANIFEST
3h   12ms
  01a2…77e
  ccm-…ite
  /srv…aml
12m  1.2s
  01a2…77f
  ada
  /srv…aml
",
            ),
        ] {
            let found = shown(width, is_unicode);
            assert_eq!(found, expected, "{width:?}");
            let widest = found.lines().map(columns).max().unwrap_or_default();
            assert!(width.is_none_or(|width| widest <= width), "{widest} of {width:?}\n{found}");
        }
    }
}
