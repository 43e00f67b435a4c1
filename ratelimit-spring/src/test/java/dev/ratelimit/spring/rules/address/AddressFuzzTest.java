package dev.ratelimit.spring.rules.address;

import static dev.ratelimit.Fuzz.refusing;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Fuzz;
import dev.ratelimit.Seeds;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Addresses and networks, compared with a slow and obvious model. */
class AddressFuzzTest {

    private static final BigInteger ONE = BigInteger.ONE;
    private static final long MAPPED = 0xffffL << 32;

    private final Fuzz addresses = Fuzz.of(AddressFuzzTest.class, "addresses.txt");
    private final Fuzz ranges = Fuzz.of(AddressFuzzTest.class, "ranges.txt");
    private final long seed = Seeds.next();
    private final Random random = new Random(seed);

    private static @Nullable IpAddress read(String text) {
        IpAddress address = new IpAddress();
        return address.read(text, 0, text.length()) ? address : null;
    }

    private static BigInteger bits(IpAddress address) {
        BigInteger high = new BigInteger(Long.toUnsignedString(address.high()));
        return high.shiftLeft(64).or(new BigInteger(Long.toUnsignedString(address.low())));
    }

    private static IpAddress address(BigInteger bits) {
        return IpAddress.of(bits.shiftRight(64).longValue(), bits.longValue());
    }

    private static String network(IpAddress address, int v4Prefix, int v6Prefix) {
        StringBuilder text = new StringBuilder();
        address.appendTo(text, v4Prefix, v6Prefix);
        return text.toString();
    }

    /** Half of them IPv4, and some with long runs of equal bits. */
    private IpAddress any() {
        BigInteger bits = new BigInteger(128, random);
        return switch (random.nextInt(4)) {
            case 0 -> address(bits);
            case 1 -> address(bits.shiftRight(random.nextInt(128)));
            default -> IpAddress.of(0, MAPPED | (random.nextInt() & 0xffffffffL));
        };
    }

    @Test
    void read_anyText_isWhatTheModelReads() {
        addresses.run(text -> {
            IpAddress read = read(text);

            assertThat(read == null ? null : bits(read)).isEqualTo(AddressModel.read(text));
        });
    }

    @Test
    void read_partOfAText_isReadAsIfItStoodAlone() {
        addresses.run(text -> {
            IpAddress alone = read(text);
            IpAddress among = new IpAddress();
            String line = "::1,[" + text + "]:1.2::";

            boolean read = among.read(line, 5, 5 + text.length());

            assertThat(read).isEqualTo(alone != null);
            assertThat(alone == null ? "" : among.toString()).isEqualTo(alone == null ? "" : alone.toString());
        });
    }

    @Test
    void toString_anyAddress_isWhatTheModelReadsBack() {
        addresses.run(text -> {
            IpAddress read = read(text);
            if (read != null) {
                assertThat(AddressModel.read(read.toString())).isEqualTo(bits(read));
            }
        });
    }

    @Test
    void appendTo_anyPrefix_isARangeOfTheAddressAndOfEveryOtherWithThePrefix() {
        for (int i = 0; i < 20_000; i++) {
            IpAddress address = any();
            int v4 = random.nextInt(33);
            int v6 = random.nextInt(129);

            String network = network(address, v4, v6);
            AddressRange range = AddressRange.parse(network);
            IpAddress first = IpAddress.of(range.high(), range.low());

            assertThat(range.contains(address))
                    .as("%s of %s, seed %s", network, address, seed)
                    .isTrue();
            assertThat(range).as("%s, seed %s", network, seed).hasToString(network);
            assertThat(network(first, v4, v6)).as("seed %s", seed).isEqualTo(network);
        }
    }

    @Test
    void contains_anyRange_areItsAddressesAndNoOthers() {
        for (int i = 0; i < 20_000; i++) {
            IpAddress address = any();
            int prefix = address.isV4() ? 96 + random.nextInt(33) : random.nextInt(129);
            AddressRange range = AddressRange.parse(network(address, prefix - 96, prefix));
            BigInteger size = ONE.shiftLeft(128 - prefix);
            BigInteger first = bits(address).divide(size).multiply(size);
            BigInteger next = first.add(size);

            for (BigInteger edge : List.of(first.subtract(ONE), first, next.subtract(ONE), next)) {
                IpAddress tried = address(edge);
                boolean within =
                        bits(tried).divide(size).equals(bits(address).divide(size)) && tried.isV4() == address.isV4();
                assertThat(range.contains(tried))
                        .as("%s in %s, seed %s", tried, range, seed)
                        .isEqualTo(within);
            }
        }
    }

    @Test
    void read_mappedIpv4_isTheIpv4() {
        for (int i = 0; i < 20_000; i++) {
            int bits = random.nextInt();
            IpAddress v4 = IpAddress.of(0, MAPPED | (bits & 0xffffffffL));
            String groups = String.format("::ffff:%x:%x", bits >>> 16, bits & 0xffff);

            assertThat(read(v4.toString())).as("seed %s", seed).hasToString(v4.toString());
            assertThat(read("::ffff:" + v4)).as("seed %s", seed).hasToString(v4.toString());
            assertThat(read("[" + groups + "]:443")).as("seed %s", seed).hasToString(v4.toString());
            assertThat(AddressRange.parse(groups)).as("seed %s", seed).isEqualTo(AddressRange.parse(v4.toString()));
        }
    }

    @Test
    void parse_anyRange_isReadBackOrIsRefused() {
        ranges.run(refusing(text -> {
            AddressRange range = AddressRange.parse(text);

            assertThat(AddressRange.parse(range.toString())).isEqualTo(range);
            assertThat(range.contains(IpAddress.of(range.high(), range.low()))).isTrue();
        }));
    }

    @Test
    @Tag("large")
    void read_largeText_takesAStepPerCharacter() {
        addresses.runLarge(4096, "", AddressFuzzTest::read);
        ranges.runLarge(4096, "", refusing(AddressRange::parse));
    }
}
