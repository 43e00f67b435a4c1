package dev.ratelimit.spring.rules.address;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** An obvious implementation of addresses and networks: as numbers of 128 bits, with regular expressions. */
final class AddressModel {

    private static final Pattern BRACKETS = Pattern.compile("\\[([^]]*)](:[0-9]{1,5})?", Pattern.DOTALL);
    private static final Pattern V4_AND_PORT = Pattern.compile("([0-9.]*):[0-9]{1,5}");
    private static final Pattern OCTET = Pattern.compile("0|[1-9][0-9]{0,2}");
    private static final Pattern GROUP = Pattern.compile("[0-9a-fA-F]{1,4}");
    private static final BigInteger MAPPED = BigInteger.valueOf(0xffff).shiftLeft(32);

    private AddressModel() {}

    /** The bits of an address as headers write it, or {@code null}. */
    static @Nullable BigInteger read(String text) {
        Matcher brackets = BRACKETS.matcher(text);
        if (brackets.matches()) {
            return v6(brackets.group(1));
        }
        Matcher v4 = V4_AND_PORT.matcher(text);
        if (v4.matches()) {
            return mapped(v4.group(1));
        }
        return text.startsWith("[") ? null : text.contains(":") ? v6(text) : mapped(text);
    }

    private static @Nullable BigInteger mapped(String text) {
        BigInteger bits = v4(text);
        return bits == null ? null : MAPPED.or(bits);
    }

    private static @Nullable BigInteger v4(String text) {
        List<String> octets = List.of(text.split("\\.", -1));
        boolean whole = octets.size() == 4
                && octets.stream().allMatch(octet -> OCTET.matcher(octet).matches() && Integer.parseInt(octet) < 256);
        return whole ? join(octets, 10, 8) : null;
    }

    private static @Nullable BigInteger v6(String text) {
        String address = text.replaceFirst("(?s)%.*", "");
        int gap = address.indexOf("::");
        if (gap < 0) {
            List<String> groups = groups(address);
            return groups != null && groups.size() == 8 ? join(groups, 16, 16) : null;
        }
        List<String> head = groups(address.substring(0, gap));
        List<String> tail = groups(address.substring(gap + 2));
        // dotted numbers are the last 32 bits, so they cannot precede a gap
        if (head == null
                || tail == null
                || head.size() + tail.size() > 7
                || address.substring(0, gap).contains(".")) {
            return null;
        }
        List<String> groups = new ArrayList<>(head);
        groups.addAll(Collections.nCopies(8 - head.size() - tail.size(), "0"));
        groups.addAll(tail);
        return join(groups, 16, 16);
    }

    /** Groups of 16 bits, of which the last two may be written as an IPv4 address. */
    private static @Nullable List<String> groups(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        List<String> groups = new ArrayList<>(Arrays.asList(text.split(":", -1)));
        BigInteger v4 = v4(groups.get(groups.size() - 1));
        if (v4 != null) {
            groups.remove(groups.size() - 1);
            groups.add(v4.shiftRight(16).toString(16));
            groups.add(v4.and(BigInteger.valueOf(0xffff)).toString(16));
        }
        return groups.stream().allMatch(group -> GROUP.matcher(group).matches()) ? groups : null;
    }

    private static BigInteger join(List<String> numbers, int radix, int bits) {
        BigInteger joined = BigInteger.ZERO;
        for (String number : numbers) {
            joined = joined.shiftLeft(bits).or(new BigInteger(number, radix));
        }
        return joined;
    }
}
