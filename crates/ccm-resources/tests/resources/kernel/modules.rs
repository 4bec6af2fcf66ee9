//! Kernel modules, with a fake of modprobe: this kernel may have none.

use std::path::Path;

use crate::build::resource;
use crate::kernel::machine::{assert_changes, assert_unchanged, content, on_own_machine, shell};
use crate::local_run::{applied, in_noop};

const BOOT: &str = "/etc/modules-load.d/ccm-dummy_a.conf";
const MODPROBE: &str = "/etc/modprobe.d/zz-ccm-dummy_a.conf";

#[test]
fn module_is_loaded_and_unloaded() {
    on_own_machine("", || {
        let module = |properties: &[(&str, &str)]| resource("kernel_module", "dummy-a", properties);
        assert_changes(&module(&[("boot", "true"), ("options", "n=2")]), "changed loaded, boot and options");
        assert!(Path::new("/sys/module/dummy_a/initstate").exists());
        assert_eq!(content(BOOT), "# Managed by ccm.\ndummy_a\n");
        assert_eq!(content(MODPROBE), "# Managed by ccm.\noptions dummy_a n=2\n");
        assert_unchanged(&module(&[]));
        shell("rm -r /sys/module/dummy_a");
        assert_changes(&module(&[]), "changed loaded");
        assert_changes(
            &module(&[("ensure", "absent"), ("blacklist", "true")]),
            "changed loaded, boot and blacklist",
        );
        assert!(!Path::new(BOOT).exists() && !Path::new("/sys/module/dummy_a").exists());
        let blacklist =
            "# Managed by ccm.\nblacklist dummy_a\ninstall dummy_a /bin/false\noptions dummy_a n=2\n";
        assert_eq!(content(MODPROBE), blacklist);
        assert_changes(&module(&[("ensure", "absent"), ("options", "")]), "changed options");
        assert_changes(&module(&[]), "changed loaded and blacklist");
        assert!(!Path::new(MODPROBE).exists());
    });
}

#[test]
fn obstacles_leave_the_files_as_they_are() {
    on_own_machine("", || {
        let module = |name, properties: &[(&str, &str)]| vec![resource("kernel_module", name, properties)];
        let part = || module("part_of_kernel", &[("ensure", "absent")]);
        let told = "`part_of_kernel` is built into the kernel";
        assert_eq!((in_noop(part()), applied(part())), (vec![told.to_owned()], vec![told.to_owned()]));
        assert_eq!(applied(module("part_of_kernel", &[])), ["unchanged"]);
        let told = applied(module("nothing", &[("boot", "true"), ("options", "a=1")])).remove(0);
        assert!(
            told.starts_with("modprobe failed with exit code 1: FATAL: Module nothing not found"),
            "{told}"
        );
        assert!(!told.contains("(changed)"), "{told}");
        assert!(!Path::new("/etc/modprobe.d/zz-ccm-nothing.conf").exists());
        assert!(!Path::new("/etc/modules-load.d/ccm-nothing.conf").exists());
        assert_eq!(applied(module("busy", &[])), ["changed"]);
        let told = applied(module("busy", &[("ensure", "absent"), ("blacklist", "true")])).remove(0);
        assert_eq!(told, "modprobe failed with exit code 1: FATAL: Module busy is in use");
        assert!(!Path::new("/etc/modprobe.d/zz-ccm-busy.conf").exists());
    });
}
