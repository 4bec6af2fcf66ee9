$version = '1.0'
$checksum = '0000000000000000000000000000000000000000000000000000000000000000'

user { 'exporter': ensure => present, system => true, home => '/nonexistent', shell => '/usr/sbin/nologin' }

file { ['/opt/exporter', "/opt/exporter/${version}"]: ensure => directory }

-> file { "/opt/exporter/${version}.tar.gz":
  ensure         => file,
  source         => "http://127.0.0.1:8099/exporter-${version}.tar.gz",
  checksum       => 'sha256',
  checksum_value => $checksum,
}

-> exec { "/usr/bin/tar -xf /opt/exporter/${version}.tar.gz -C /opt/exporter/${version} --strip-components=1":
  creates => "/opt/exporter/${version}/exporter",
}

-> file { '/etc/systemd/system/exporter.service':
  content => @("END"),
    [Service]
    User=exporter
    ExecStart=/opt/exporter/${version}/exporter 9100

    [Install]
    WantedBy=multi-user.target
    | END
}

~> service { 'exporter': ensure => running, enable => true }

-> exec { 'exporter answers':
  command   => '/usr/bin/curl -fsS http://127.0.0.1:9100/metrics',
  unless    => '/usr/bin/curl -fsS http://127.0.0.1:9100/metrics',
  tries     => 5,
  try_sleep => 1,
}
