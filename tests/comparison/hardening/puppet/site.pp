file { '/etc/sysctl.d/90-team.conf':
  content => @(END),
    net.ipv4.tcp_syncookies = 2
    net.ipv4.conf.all.rp_filter = 1
    net.ipv4.conf.all.accept_redirects = 0
    | END
}
~> exec { '/usr/sbin/sysctl -p /etc/sysctl.d/90-team.conf': refreshonly => true }

file { '/etc/ssh/sshd_config.d/10-team.conf':
  content      => @(END),
    PasswordAuthentication no
    MaxAuthTries 3
    | END
  validate_cmd => '/usr/sbin/sshd -t -f %',
}
~> service { 'ssh': ensure => running, enable => true, restart => '/usr/bin/systemctl reload ssh' }
