# Fills the column of Puppet in a table of comparisons with the results of the real types after two runs, and prints the table.
#
#   ruby -I STDLIB/lib -I INIFILE/lib puppet_results.rb file_line < file_line_table.txt
#
# A difference whose reason is not in the table gets the reason `?`, with which the test fails.

require 'puppet'
require 'fileutils'
require 'tmpdir'

COMPARED = ARGV.fetch(0).to_sym

def plain(text)
  return ''.b if text == '-'
  escapes = { 'n' => "\n", 'r' => "\r", 't' => "\t", 'x' => "\xff".b, '_' => ' ', 's' => ';', 'b' => '\\' }
  text.b.gsub(/\\(.)/n) { escapes.fetch($1).b }
end

def escaped(bytes)
  return '-' if bytes.empty?
  text = bytes.b.gsub('\\'.b) { '\\b' }.gsub(/^ +| +$/) { |blanks| '\\_' * blanks.length }
  text.gsub("\n", '\\n').gsub("\r", '\\r').gsub("\t", '\\t').gsub("\xff".b, '\\x')
end

# The parameters with which a user of Puppet asks for what the row asks ccm for.
def parameters(properties, path)
  given = properties.to_h { |name, value| [name.to_sym, value] }
  if COMPARED == :file_line
    given[:match_for_absence] = true if given[:absent] && given[:match]
    given[:multiple] = true if given[:multiple]
  else
    given[:setting] = given.delete(:key) if given.key?(:key)
    given[:key_val_separator] = given.delete(:separator) if given.key?(:separator)
  end
  given[:ensure] = given.delete(:absent) ? :absent : :present
  given.merge(name: 'row', path: path)
end

def apply(given)
  catalog = Puppet::Resource::Catalog.new
  catalog.add_resource(Puppet::Type.type(COMPARED).new(given))
  catalog.apply.report.resource_statuses.values.flat_map(&:events).find { |event| event.status == 'failure' }
end

def result(properties, before)
  Dir.mktmpdir do |directory|
    path = File.join(directory, 'f')
    File.binwrite(path, before)
    begin
      failed = apply(parameters(properties, path))
      return "error: #{failed.message.gsub(path, '/f').lines.first.strip}" if failed
    rescue StandardError => error
      return "error: #{error.message.gsub(path, '/f').lines.first.strip}"
    end
    apply(parameters(properties, path))
    File.binread(path)
  end
end

own = Dir.mktmpdir
at_exit { FileUtils.remove_entry(own) }
directories = %w[vardir confdir codedir logdir rundir ssldir publicdir statedir]
Puppet.initialize_settings(directories.flat_map { |name| ["--#{name}", "#{own}/#{name}"] })
Puppet::Util::Log.level = :crit
STDIN.each_line do |line|
  columns = line.chomp.split(' | ')
  if columns.length < 3 || line.start_with?('# ')
    puts line
    next
  end
  columns = columns.map(&:strip)
  properties = columns[0].split('; ').map { |one| one.split('=', 2) }
  properties = properties.map { |name, value| [name, value.nil? ? 'true' : plain(value).force_encoding('UTF-8')] }
  before = plain(columns[1])
  expected = columns[2] == '=' ? before : plain(columns[2])
  found = result(properties, before)
  is_error = found.start_with?('error: ')
  is_same = columns[2].start_with?('error: ') ? is_error : !is_error && found == expected
  shown = is_error ? found.gsub('|', '/') : (found == before ? '=' : escaped(found))
  reason = is_same ? '-' : (columns[4].nil? || columns[4] == '-' ? '?' : columns[4])
  puts [columns[0], columns[1], columns[2], is_same ? 'same' : shown, reason].join(' | ')
end
