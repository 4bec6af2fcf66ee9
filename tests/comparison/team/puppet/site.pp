$team = {
  'ada'   => 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAbLmuMIVT/jf24lgRRDjCBFZWm9GBlBgxHGGCvm3kG ada@laptop',
  'grace' => 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f grace@laptop',
}

group { 'ops': ensure => present }

$team.each |$person, $key| {
  user { $person: ensure => present, groups => ['ops'], managehome => true, shell => '/bin/bash' }
  file { "/home/${person}/.ssh":
    ensure => directory,
    owner  => $person,
    group  => $person,
    mode   => '0700',
  }
  file { "/home/${person}/.ssh/authorized_keys":
    content => "${key}\n",
    owner   => $person,
    group   => $person,
    mode    => '0600',
  }
}

file { '/etc/sudoers.d/ops':
  content      => "%ops ALL=(ALL) NOPASSWD: ALL\n",
  mode         => '0440',
  validate_cmd => '/usr/sbin/visudo -cf %',
}
