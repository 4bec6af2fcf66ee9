file { '/var/backups/dump': ensure => directory, mode => '0700' }

file { '/usr/local/sbin/dump':
  mode    => '0755',
  content => @(END),
    #!/bin/sh
    set -eu
    umask 077
    cd /var/backups/dump
    trap 'rm -f unfinished' EXIT
    cat /srv/database > unfinished
    mv unfinished "$(date +%s%N).sql"
    ls -r ./*.sql | tail -n +8 | xargs -r rm
    | END
}

file { '/etc/systemd/system/dump.timer':
  content => @(END),
    [Timer]
    OnCalendar=*-*-* 02:30
    Persistent=true

    [Install]
    WantedBy=timers.target
    | END
  notify  => Service['dump.timer'],
}

file { '/etc/systemd/system/dump.service':
  content => @(END),
    [Unit]
    OnFailure=notice@%n.service

    [Service]
    Type=oneshot
    ExecStart=/usr/local/sbin/dump
    | END
}

file { '/etc/systemd/system/notice@.service':
  content => @(END),
    [Service]
    Type=oneshot
    ExecStart=/bin/sh -c "systemctl status --lines 40 %i | logger -t notice"
    | END
}

service { 'dump.timer': ensure => running, enable => true }
