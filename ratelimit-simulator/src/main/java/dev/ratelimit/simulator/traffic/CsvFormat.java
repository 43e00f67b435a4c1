package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Values with commas, semicolons or tabs between them, perhaps in quotes, in which two quotes stand for one. The first
 * line has the names.
 */
final class CsvFormat implements LogFormat {

    private final FieldMapping mapping;
    private List<String> names = List.of();
    private List<Field> columns = List.of();
    private char separator = ',';

    CsvFormat(FieldMapping mapping) {
        this.mapping = mapping;
    }

    /** The first line of each file; another file may repeat it. */
    @Override
    public boolean isHeading(String line) {
        if (!names.isEmpty()) {
            return split(line).equals(names);
        }
        separator = line.indexOf('\t') >= 0 ? '\t' : line.indexOf(';') >= 0 && line.indexOf(',') < 0 ? ';' : ',';
        names = split(line);
        columns = names.stream().map(mapping::of).toList();
        if (columns.stream().noneMatch(column -> column.kind() == Kind.TIME)) {
            throw new IllegalArgumentException("no column of " + names
                    + " has a known name for times; name it, as in --field time=" + names.get(0));
        }
        return true;
    }

    @Override
    public void read(String line, RequestDraft draft) throws UnreadableLineException {
        List<String> values = split(line);
        if (values.size() != columns.size()) {
            throw new UnreadableLineException("it has " + values.size() + " values for " + columns.size() + " columns");
        }
        for (int i = 0; i < columns.size(); i++) {
            draft.set(columns.get(i), values.get(i).strip());
        }
    }

    private List<String> split(String line) {
        List<String> values = new ArrayList<>();
        StringBuilder value = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"') {
                boolean twice = quoted && i + 1 < line.length() && line.charAt(i + 1) == '"';
                if (twice) {
                    value.append(c);
                    i++;
                } else {
                    quoted = !quoted;
                }
            } else if (c == separator && !quoted) {
                values.add(value.toString());
                value.setLength(0);
            } else {
                value.append(c);
            }
        }
        values.add(value.toString());
        return values;
    }

    @Override
    public Set<Field> fields() {
        return new HashSet<>(columns);
    }

    @Override
    public Set<String> names() {
        return new TreeSet<>(names);
    }
}
