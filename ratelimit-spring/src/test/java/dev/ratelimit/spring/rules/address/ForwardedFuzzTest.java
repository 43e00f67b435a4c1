package dev.ratelimit.spring.rules.address;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Fuzz;
import dev.ratelimit.Seeds;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Values of {@code Forwarded} and {@code X-Forwarded-For} from clients and proxies. */
class ForwardedFuzzTest {

    private static final List<AddressRange> PROXIES = List.of(AddressRange.parse("10.0.0.0/8"));
    private static final Pattern PROXY = Pattern.compile("10\\..*");
    private static final String PEER = "10.0.0.1";
    private static final String CLIENT = "203.0.113.9";

    private final Fuzz forwarded = Fuzz.of(ForwardedFuzzTest.class, "forwarded.txt");
    private final Fuzz forwardedFor = Fuzz.of(ForwardedFuzzTest.class, "x-forwarded-for.txt");
    private final long seed = Seeds.next();
    private final Random random = new Random(seed);

    private static String find(String header, String... lines) {
        RecordedRequest request = new RecordedRequest().from(PEER);
        for (String line : lines) {
            request.with(header, line);
        }
        IpAddress address = new IpAddress();
        assertThat(new ClientAddress(PROXIES, ForwardedHeader.ANY).find(request, address))
                .isTrue();
        return address.toString();
    }

    /** The rightmost address that is not a proxy, unless something unreadable follows it. */
    private static String modelOfForwardedFor(String line) {
        String[] items = line.split(",", -1);
        for (int i = items.length - 1; i >= 0; i--) {
            String item = items[i].replaceAll("^[ \t]+|[ \t]+$", "");
            BigInteger bits = AddressModel.read(item);
            if (!item.isEmpty() && bits == null) {
                return PEER;
            }
            String address = bits == null
                    ? PEER
                    : IpAddress.of(bits.shiftRight(64).longValue(), bits.longValue())
                            .toString();
            if (!PROXY.matcher(address).matches()) {
                return address;
            }
        }
        return PEER;
    }

    @Test
    void find_anyForwardedFor_isWhatTheModelFinds() {
        forwardedFor.run(line -> assertThat(find("X-Forwarded-For", line)).isEqualTo(modelOfForwardedFor(line)));
    }

    @Test
    void find_anyForwarded_isThePeerOrNoProxy() {
        forwarded.run(line -> {
            String found = find("Forwarded", line);

            assertThat(found.equals(PEER) || !PROXY.matcher(found).matches()).isTrue();
        });
    }

    @Test
    void find_anythingBeforeWhatTheProxyWrote_changesNothing() {
        forwarded.run(line -> {
            assertThat(find("Forwarded", line + ", for=" + CLIENT)).isEqualTo(CLIENT);
            assertThat(find("Forwarded", line + ",for=\"" + CLIENT + ":443\";proto=https, for=10.9.9.9"))
                    .isEqualTo(CLIENT);
            assertThat(find("Forwarded", line, "by=10.0.0.2;host=\"a,b\";For=" + CLIENT))
                    .isEqualTo(CLIENT);
        });
        forwardedFor.run(line -> {
            assertThat(find("X-Forwarded-For", line + ", " + CLIENT)).isEqualTo(CLIENT);
            assertThat(find("X-Forwarded-For", line + "," + CLIENT + ":443,10.9.9.9"))
                    .isEqualTo(CLIENT);
            assertThat(find("X-Forwarded-For", line, CLIENT)).isEqualTo(CLIENT);
        });
    }

    /** An element of RFC 7239, section 4, for this address, with parameters in any order. */
    private String element(String address) {
        String quoted = "\"" + address + (random.nextBoolean() ? ":" + random.nextInt(65_536) : "") + "\"";
        List<String> names = List.of("for", "For", "FOR");
        String pair = names.get(random.nextInt(3)) + "=" + (random.nextBoolean() ? quoted : address);
        List<String> others = List.of("proto=https", "by=_x", "host=\"a,b;for=1.1.1.1\"", "x=\"\\\"for=1.1.1.1\\\\\"");
        String before = random.nextBoolean() ? others.get(random.nextInt(others.size())) + ";" : "";
        String after = random.nextBoolean() ? ";" + others.get(random.nextInt(others.size())) : "";
        return before + pair + after;
    }

    @Test
    void find_wellFormedForwarded_isTheFirstUntrustedFromTheRight() {
        for (int i = 0; i < 20_000; i++) {
            String client = "192.0.2." + random.nextInt(256);
            String line = element("198.51.100.66") + "," + element(client)
                    + IntStream.range(0, random.nextInt(4))
                            .mapToObj(proxy -> (random.nextBoolean() ? ", " : ",") + element("10.1.1." + proxy))
                            .reduce("", String::concat);

            assertThat(find("Forwarded", line)).as("%s, seed %s", line, seed).isEqualTo(client);
        }
    }

    @Test
    @Tag("large")
    void find_largeLine_takesAStepPerCharacter() {
        forwarded.runLarge(4096, ",", line -> find("Forwarded", line));
        forwardedFor.runLarge(4096, ",", line -> find("X-Forwarded-For", line));
    }
}
