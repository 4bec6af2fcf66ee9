//! The sysctl resource: a parameter of the kernel, now and after a boot.

mod boot_files;
mod decide;
mod export;
mod parameter_file;
mod procfs;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, Resource};
use ccm_properties::{CheckInput, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::parameter_key::ParameterKey;
use crate::support::object_plan::Object;
use crate::support::values::canonical_path::is_canonical;
use boot_files::is_left_out;
use decide::{DEFAULT_FILE, DesiredParameter};
use procfs::Procfs;
use properties::{SysctlProperties, octal};

#[derive(Debug)]
pub(crate) struct SysctlType;

impl TypedResource for SysctlType {
    type Written = SysctlProperties;
    type Desired = DesiredParameter;
    type Provider = dyn DynProvider<Object<DesiredParameter>>;

    const NAME: &'static str = "sysctl";
    const SUMMARY: &'static str = "Manages a parameter of the kernel, now and after a boot.";
    const PROVIDERS: Providers<Self::Provider> = &[("procfs", &Procfs)];

    fn build(resource: &Resource, written: SysctlProperties) -> Result<DesiredParameter, Vec<PropertyError>> {
        DesiredParameter::build(resource, written)
    }

    fn warnings(parameter: &DesiredParameter, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let warning = |property, message: String, hint: &str| {
            let span = resource.properties.get(property).map_or(resource.span, |node| node.span);
            Diagnostic::warning(DiagnosticKind::NoEffect, span, message).with_hint(hint)
        };
        let octal = octal(&parameter.value).map(|(text, number)| {
            let message = format!("the kernel reads `{text}` as an octal number, which is {number}");
            warning("value", message, "write the number without a zero in front")
        });
        let word = ["yes", "no", "on", "off", "true", "false"]
            .into_iter()
            .position(|word| parameter.value.eq_ignore_ascii_case(word));
        let word = word.map(|at| {
            let message = format!("the kernel takes no `{}` for a parameter", parameter.value);
            warning("value", message, if at % 2 == 0 { "write `1`" } else { "write `0`" })
        });
        let unread = is_left_out(&parameter.file).then(|| {
            let message = format!("\"{}\" is not read at boot", parameter.file.display());
            warning("file", message, "give the file a name that ends with `.conf`")
        });
        octal.into_iter().chain(word).chain(unread).collect()
    }
}

impl TypeSpec for SysctlType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let key = ParameterKey::parse(&resource.id.name);
        let key = key.map(|key| Claim::exclusive(ClaimKind::KernelParameter, key.to_string()));
        let file = resource.properties.get("file").and_then(Node::as_text).unwrap_or(DEFAULT_FILE);
        let file = Some(file).filter(|file| is_canonical(file)).map(Claim::part_of_file);
        key.into_iter().chain(file).collect()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let module = ParameterKey::parse(&resource.id.name).and_then(|key| key.module());
        module.map(|module| (ClaimKind::KernelModule, module.into())).into_iter().collect()
    }
}
