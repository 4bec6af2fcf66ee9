//! Facts of the host: its name, distribution and kernel.

mod names;
mod platform;
mod virtualization;

use std::time::UNIX_EPOCH;

use ccm_host::Clock;
use serde_json::{Value, json};

use crate::Warning;
use crate::reader::FactReader;
use platform::Platform;
use virtualization::Virtualization;

const MACHINE_ID: &str = "/etc/machine-id";
const PRODUCT_ID: &str = "/sys/class/dmi/id/product_uuid";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

pub(crate) fn info(reader: &mut FactReader<'_>, clock: &dyn Clock) -> Value {
    let kernel = reader.machine.kernel();
    let platform = Platform::detect(reader);
    let major_version = platform.major_version().to_owned();
    let Platform { name, family, version, codename } = platform;
    let package_architecture = names::package_architecture(reader, &family, &kernel);
    let virtualization = Virtualization::detect(reader, &kernel.release);
    let since_boot = reader.machine.since_boot();
    let now = clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let booted = now.saturating_sub(since_boot).as_secs();
    // Some containers have their own uptime, which only `/proc/uptime` holds. A difference of a second is the
    // time between the two reads.
    let own = virtualization.is_container().then(|| container_uptime(reader)).flatten();
    let own = own.filter(|seconds| seconds.abs_diff(since_boot.as_secs()) > 1);
    let uptime = own.unwrap_or(since_boot.as_secs());
    let booted = own.map_or(booted, |seconds| now.as_secs().saturating_sub(seconds));
    let processes = match reader.machine.processes() {
        Ok(count) => json!(count),
        Err(source) => {
            reader.warnings.push(Warning::QueryFailed { what: "the number of processes", source });
            Value::Null
        }
    };
    json!({
        "hostname": kernel.hostname,
        "fqdn": names::full_name(reader, &kernel.hostname),
        "uptime": uptime,
        "bootTime": booted,
        "procs": processes,
        "os": "linux",
        "platform": name,
        "platformFamily": family,
        "platformVersion": version,
        "platformMajorVersion": major_version,
        "platformCodename": codename,
        "kernelVersion": kernel.release,
        "kernelArch": kernel.architecture,
        "packageArch": package_architecture,
        "initSystem": names::init_system(reader),
        "virtualizationSystem": virtualization.system,
        "virtualizationRole": virtualization.role,
        "hostId": host_id(reader),
    })
}

/// Returns the first field of `/proc/uptime`, in whole seconds.
fn container_uptime(reader: &mut FactReader<'_>) -> Option<u64> {
    let line = reader.line("/proc/uptime")?;
    line.split(['.', ' ']).next()?.parse().ok()
}

/// Returns the identifier of the hardware, which only root may read, or else of the installation or boot.
fn host_id(reader: &mut FactReader<'_>) -> String {
    if let Some(id) = reader.line(PRODUCT_ID) {
        return id.to_lowercase();
    }
    if let Some(id) = reader.line(MACHINE_ID)
        && id.len() == 32
        && id.is_ascii()
    {
        return [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
    }
    reader.line(BOOT_ID).unwrap_or_default().to_lowercase()
}
