$domain = lookup('domain')
$port = lookup('port')

package { 'nginx': ensure => installed }

user { 'app': ensure => present, system => true, home => '/srv/app', shell => '/usr/sbin/nologin' }

file { '/srv/app': ensure => directory, owner => 'app', group => 'app', mode => '0750' }

file { '/srv/app/settings':
  content => "DOMAIN=${domain}\n",
  group   => 'app',
  mode    => '0640',
  notify  => Service['app'],
}

file { '/etc/systemd/system/app.service':
  content => @(END),
    [Service]
    User=app
    EnvironmentFile=/srv/app/settings
    ExecStart=/usr/bin/sleep infinity

    [Install]
    WantedBy=multi-user.target
    | END
  notify  => Service['app'],
}

file { '/etc/nginx/conf.d/app.conf':
  content => @("END"),
    server {
        listen ${port};
        server_name ${domain};
        location / { proxy_pass http://127.0.0.1:9000; }
    }
    | END
  require => Package['nginx'],
  notify  => Service['nginx'],
}

service { 'app': ensure => running, enable => true }

service { 'nginx': ensure => running, enable => true, restart => '/usr/bin/systemctl reload nginx' }
