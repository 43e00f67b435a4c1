package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Values with commas, semicolons or tabs between them, perhaps in quotes, in which two quotes stand for one. The first
 * line has the names.
 */
final class CsvFormat implements LogFormat {

    private final FieldMapping mapping;
    private @Nullable List<Field> columns;
    private List<String> names = List.of();
    private char separator = ',';

    CsvFormat(FieldMapping mapping) {
        this.mapping = mapping;
    }

    /** The first line of each file; another file may repeat it. */
    @Override
    public boolean isHeading(byte[] line, int from, int to) {
        String text = new String(line, from, to - from, StandardCharsets.UTF_8);
        if (columns != null) {
            return split(text).equals(names);
        }
        separator = text.indexOf('\t') >= 0 ? '\t' : text.indexOf(';') >= 0 && text.indexOf(',') < 0 ? ';' : ',';
        names = split(text);
        columns = names.stream().map(mapping::of).toList();
        if (columns.stream().noneMatch(column -> column.kind() == Kind.TIME)) {
            throw new IllegalArgumentException("no column of " + names
                    + " has a known name for times; name it, as in --field time=" + names.get(0));
        }
        return true;
    }

    @Override
    public void read(byte[] line, int from, int to, RequestDraft draft) {
        List<Field> fields = columns == null ? List.of() : columns;
        List<String> values = split(new String(line, from, to - from, StandardCharsets.UTF_8));
        if (values.size() != fields.size()) {
            draft.fail("it has " + values.size() + " values for " + fields.size() + " columns");
            return;
        }
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).kind() != Kind.OTHER) {
                draft.set(fields.get(i), values.get(i).strip());
            }
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
        return columns == null ? Set.of() : new HashSet<>(columns);
    }

    @Override
    public Set<String> names() {
        return new TreeSet<>(names);
    }
}
