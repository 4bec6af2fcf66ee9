# A machine for the commands and manifests of the manual, in namespaces of its own: an apt with a repository of empty
# packages, a systemctl that only keeps states, and stand-ins for programs of these packages. Its state ends with it.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
hostname web1
mkdir -p /run/systemd/system /run/loaded /run/active /etc/systemd/system

# Every unit is below /etc, and is as it was when it was loaded. What is started stays active.
cat > /usr/local/sbin/systemctl <<'END'
#!/bin/sh
while case ${1-} in -*) true ;; *) false ;; esac; do shift; done
verb=$1
shift
now=
while case ${1-} in -*) true ;; *) false ;; esac; do [ "$1" != --now ] || now=yes; shift; done
units=/etc/systemd/system
wanted_by() { sed -n 's/^WantedBy=//p' "$units/$1" 2> /dev/null; }
case $verb in
    show)
        [ $# -gt 0 ] || { echo "UnitPath=$units"; exit 0; }
        for unit in "$@"; do
            load=not-found active=inactive sub=dead enabled=disabled reload=no
            [ ! -e "/run/loaded/$unit" ] || load=loaded
            [ ! -e "/run/active/$unit" ] || active=active sub=running
            [ ! -e "$units/$(wanted_by "$unit").wants/$unit" ] || enabled=enabled
            [ -e "$units/$unit" ] || enabled=
            if [ $load = loaded ]; then cmp -s "$units/$unit" "/run/loaded/$unit" || reload=yes; fi
            printf '%s\n' "Id=$unit" "Names=$unit" LoadState=$load ActiveState=$active SubState=$sub UnitFileState=$enabled \
                NeedDaemonReload=$reload CanReload=yes Type=notify Result=success "FragmentPath=$units/$unit" \
                "NextElapseUSecRealtime=Mon 2026-11-30 08:30:00 UTC" ''
        done ;;
    daemon-reload) rm -f /run/loaded/*; for unit in "$units"/*.*; do [ ! -f "$unit" ] || cp "$unit" /run/loaded; done ;;
    enable)
        for unit in "$@"; do
            mkdir -p "$units/$(wanted_by "$unit").wants"
            ln -sf "$units/$unit" "$units/$(wanted_by "$unit").wants/$unit"
            [ -z "$now" ] || touch "/run/active/$unit"
        done ;;
    disable) for unit in "$@"; do rm -f "$units"/*.wants/"$unit"; [ -z "$now" ] || rm -f "/run/active/$unit"; done ;;
    start | restart | reload | try-restart) for unit in "$@"; do touch "/run/active/$unit"; done ;;
    stop) for unit in "$@"; do rm -f "/run/active/$unit"; done ;;
esac
END
printf '#!/bin/sh\n' > /usr/local/sbin/systemd-analyze

# Programs that manifests name, of packages that are not really installed.
for name in nginx visudo postconf pg_isready sshd certbot chronyc; do
    printf '#!/bin/sh\n' > /usr/local/sbin/$name
done
chmod 755 /usr/local/sbin/*

package() { # name, what its installation does, and its version
    mkdir -p "build/$1/DEBIAN"
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a\n' "$1" "${3-1.0-1}" \
        > "build/$1/DEBIAN/control"
    printf '#!/bin/sh\n%s\n' "${2-}" > "build/$1/DEBIAN/postinst"
    chmod 755 "build/$1/DEBIAN/postinst"
    dpkg-deb --root-owner-group -Znone -b "build/$1" "repository/$1.deb" > /dev/null
}
service() { # package, unit, and the version of the package. Debian enables and starts services.
    package "$1" "printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' \
        > /etc/systemd/system/$2.service; mkdir -p /etc/$1 /etc/$1/conf.d
        /usr/local/sbin/systemctl daemon-reload; /usr/local/sbin/systemctl enable --now $2.service" "${3-1.0-1}"
}
mkdir -p /var/lib/machine /var/lib/apt/lists/partial /var/cache/apt/archives/partial /var/log/apt
cd /var/lib/machine
mkdir repository build
for name in ca-certificates cron curl git htop tmux sudo rsync unattended-upgrades telnet apt-transport-https; do package $name; done
for name in nginx postgresql fail2ban ufw; do service $name $name; done
service openssh-server ssh
# The directives of Debian, in as many lines.
mkdir -p build/chrony/etc/chrony
cat > build/chrony/etc/chrony/chrony.conf <<'END'
# What chronyd reads when it starts. Further files
# come first.

confdir /etc/chrony/conf.d

# Servers of Debian, of DHCP and of other files.

pool 2.debian.pool.ntp.org iburst

sourcedir /run/chrony-dhcp

sourcedir /etc/chrony/sources.d

# Keys for the authentication of servers, and what
# the daemon keeps between two starts: how fast the
# clock is, and the cookies of NTS.

keyfile /etc/chrony/chrony.keys

driftfile /var/lib/chrony/chrony.drift

ntsdumpdir /var/lib/chrony

# Logging, which is off.

#log tracking measurements statistics

logdir /var/log/chrony

# Limits for bad estimates of how fast the clock is.

maxupdateskew 100.0

# The clock of the hardware follows that of the system.

rtcsync

# A large difference is corrected at once, but only by
# the first three corrections after the start of the
# daemon.

makestep 1 3

# Leap seconds come from the files of the time zones,
# unless the servers smear them.

leapsectz right/UTC
END
service chrony chrony 4.3-2+deb12u3
for file in repository/*.deb; do
    dpkg-deb -f "$file"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${file#*/}" "$(stat -c %s "$file")" \
        "$(sha256sum "$file" | cut -d' ' -f1)"
done > repository/Packages
rm -rf /etc/apt
mkdir -p /etc/apt/apt.conf.d /etc/apt/preferences.d /etc/apt/sources.list.d /etc/apt/trusted.gpg.d
echo "deb [trusted=yes] file:$PWD/repository ./" > /etc/apt/sources.list
printf 'APT::Sandbox::User "root";\nAcquire::Languages "none";\n' > /etc/apt/apt.conf.d/machine

# What a fresh Debian has.
mkdir -p /etc/sudoers.d /etc/modprobe.d /etc/cron.d /etc/ccm/facts.d /etc/ssh/sshd_config.d /var/lib/dpkg/info
cat > /etc/motd <<'END'

The programs included with the Debian GNU/Linux system are free software;
the exact distribution terms for each program are described in the
individual files in /usr/share/doc/*/copyright.

Debian GNU/Linux comes with ABSOLUTELY NO WARRANTY, to the extent
permitted by applicable law.
END
rm -rf /etc/chrony /etc/nginx /etc/systemd/system/* /etc/cron.d/* /etc/sysctl.d/*
printf 'root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33:www:/var/www:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' > /etc/passwd
printf 'root:x:0:\nadm:x:4:\nsudo:x:27:\nwww-data:x:33:\nusers:x:100:\nnogroup:x:65534:\n' > /etc/group
printf 'root:*:20000:0:99999:7:::\n' > /etc/shadow
rm -f /etc/gshadow /etc/*- /etc/subuid /etc/subgid
mkdir -p /var/lib/dpkg/updates /var/lib/dpkg/parts /var/lib/dpkg/triggers
printf 'Package: dpkg\nStatus: install ok installed\nArchitecture: %s\nMaintainer: a\nVersion: 1\nDescription: a\n\n' \
    "$(dpkg --print-architecture)" > /var/lib/dpkg/status
: > /var/lib/dpkg/available
: > /var/lib/dpkg/diversions
: > /var/lib/dpkg/statoverride
: > /var/lib/dpkg/info/dpkg.list
apt-get update -qq
cp -a /etc /var/lib/machine/etc
cp -a /var/lib/dpkg /var/lib/machine/dpkg

# Makes another machine of this one.
cat > /usr/local/sbin/another-machine <<'END'
#!/bin/sh
set -e
hostname "$1"
rm -rf /etc/systemd/system/* /run/active /run/loaded /var/lib/ccm /var/lib/dpkg /etc/motd /etc/ccm /home/* /opt/*
mkdir -p /run/active /run/loaded
for path in /etc/*; do [ -e "/var/lib/machine/etc/${path##*/}" ] || rm -rf "$path"; done
cp -a /var/lib/machine/etc/. /etc
cp -a /var/lib/machine/dpkg /var/lib/dpkg
END
chmod 755 /usr/local/sbin/another-machine
mkdir /root/site
cd /root/site
