//! Groups against catalogs in which every edge of a group is written out.

use std::collections::HashSet;

use ccm_graph::{Graph, RenderFormat, render};
use ccm_model::{Catalog, Dependency, Group, GroupIndex, Resource, ResourceId, ResourceIndex, Span};
use proptest::prelude::*;

fn dependency(on: usize) -> Dependency {
    Dependency { on: ResourceIndex::from_usize(on), span: Span::default() }
}

/// Builds catalogs with groups in groups, each with its members and then its node, as the loader writes them.
/// Edges point anywhere.
fn any_catalog() -> impl Strategy<Value = Catalog> {
    let resource = (0_u8..8, prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..3));
    prop::collection::vec(resource, 1..14).prop_map(|described| {
        let mut catalog = Catalog::default();
        let mut open: Vec<GroupIndex> = Vec::new();
        let count = described.len();
        for (number, (action, edges)) in described.into_iter().enumerate() {
            if action < 2 {
                open.push(GroupIndex::from_usize(catalog.groups.len()));
                let parent = open.iter().rev().nth(1).copied();
                catalog.groups.push(Group { parent, ..Group::default() });
            }
            let node_of = if action == 7 { open.pop() } else { None };
            let mut resource = Resource {
                id: ResourceId::new("exec", format!("r{number}")),
                group: open.last().copied(),
                node_of,
                ..Resource::default()
            };
            for (on, is_subscription) in edges {
                let edge = dependency(on.index(count));
                if is_subscription { &mut resource.subscribe } else { &mut resource.require }.push(edge);
            }
            catalog.resources.push(resource);
        }
        while let Some(group) = open.pop() {
            let id = ResourceId::new("exec", format!("node{}", group.0));
            let (group, node_of) = (open.last().copied(), Some(group));
            catalog.resources.push(Resource { id, group, node_of, ..Resource::default() });
        }
        catalog
    })
}

/// Writes the edges of the groups into the resources, outermost group first.
fn written_out(catalog: &Catalog) -> Catalog {
    let mut catalog = catalog.clone();
    let nodes = catalog.group_nodes();
    let members = |catalog: &Catalog, group: usize| -> Vec<usize> {
        let is_member = |resource: &Resource| resource.group == Some(GroupIndex::from_usize(group));
        (0..catalog.resources.len()).filter(|index| is_member(&catalog.resources[*index])).collect()
    };
    let require = |resource: &mut Resource, on: &[usize]| {
        let mut known: HashSet<usize> =
            resource.require.iter().chain(&resource.subscribe).map(|edge| edge.on.get()).collect();
        resource.require.extend(on.iter().filter(|on| known.insert(**on)).map(|on| dependency(*on)));
    };
    for (group, node) in nodes.iter().enumerate() {
        let Some(node) = node else { continue };
        let node = catalog.resource(*node);
        let before: Vec<usize> =
            node.require.iter().chain(&node.subscribe).map(|edge| edge.on.get()).collect();
        for member in members(&catalog, group) {
            require(&mut catalog.resources[member], &before);
        }
    }
    for (group, node) in nodes.iter().enumerate() {
        let Some(node) = node else { continue };
        let members = members(&catalog, group);
        require(&mut catalog.resources[node.get()], &members);
    }
    for resource in &mut catalog.resources {
        (resource.group, resource.node_of) = (None, None);
    }
    catalog.groups.clear();
    catalog
}

proptest! {
    #[test]
    fn a_group_is_its_edges_written_out(catalog in any_catalog()) {
        let (graph, oracle) = (Graph::of(&catalog), Graph::of(&written_out(&catalog)));
        prop_assert_eq!(graph.order(), oracle.order());
        prop_assert_eq!(graph.cycles(), oracle.cycles());
        for index in catalog.indices() {
            let of = |graph: &Graph| graph.dependencies(index).collect::<Vec<_>>();
            prop_assert_eq!(of(&graph), of(&oracle));
            prop_assert_eq!(graph.with_requirements(&[index]), oracle.with_requirements(&[index]));
        }
        for format in [RenderFormat::Dot, RenderFormat::Mermaid, RenderFormat::Text] {
            prop_assert_eq!(render(&catalog, format, &str::to_owned), render(&written_out(&catalog), format, &str::to_owned));
        }
    }
}

#[test]
fn members_come_between_what_the_node_depends_on_and_the_node() {
    let resource = |name: &str, group: Option<u32>, node_of: Option<u32>, require: &[usize]| Resource {
        id: ResourceId::new("exec", name),
        group: group.map(GroupIndex),
        node_of: node_of.map(GroupIndex),
        require: require.iter().map(|on| dependency(*on)).collect(),
        ..Resource::default()
    };
    let group = |parent: Option<u32>| Group { parent: parent.map(GroupIndex), ..Group::default() };
    let catalog = Catalog {
        resources: vec![
            resource("member", Some(0), None, &[]),
            resource("inner", Some(1), None, &[]),
            resource("node of the inner", Some(0), Some(1), &[5]),
            resource("node", None, Some(0), &[6]),
            resource("after", None, None, &[3]),
            resource("before the inner", None, None, &[]),
            resource("before", None, None, &[]),
        ],
        groups: vec![group(None), group(Some(0))],
        ..Catalog::default()
    };
    let expected = "\
1  exec#before the inner
2  exec#before
3  exec#member              requires exec#before
4  exec#inner               requires exec#before the inner, exec#before
5  exec#node of the inner   requires exec#inner, exec#before the inner, exec#before
6  exec#node                requires exec#member, exec#node of the inner, exec#before
7  exec#after               requires exec#node
";
    assert_eq!(render(&catalog, RenderFormat::Text, &str::to_owned), expected);
}
